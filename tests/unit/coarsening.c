/* Which axes are coarsened, and to how many unknowns. */
#include "sample.h"

#include "internals.h"

/* Mesh widths 1 : 10 : 100 coarsen one axis at a time, equal ones all axes. An axis with one unknown is never coarsened. */
static void coarsening_follows_the_couplings(void **state)
{
  (void)state;
  gmg_problem p = make_problem(3, 64, 64, 64, GMG_CELL, "dddddd");
  gmg_axis_spec fine[3], coarse[3];
  int which[3];
  p.h[0] = 1, p.h[1] = 10, p.h[2] = 100;
  for (int a = 0; a < 3; a++) fine[a] = gmg_axis_spec_of(&p, a);
  assert_int_equal(gmg_coarsen(fine, 0.6, -1, coarse, which), 1);
  assert_int_equal(which[0], 1);
  assert_int_equal(coarse[0].n, 32);
  p.h[0] = p.h[1] = p.h[2] = 1;
  p.n[2] = 1;
  for (int a = 0; a < 3; a++) fine[a] = gmg_axis_spec_of(&p, a);
  assert_int_equal(gmg_coarsen(fine, 0.6, -1, coarse, which), 2);
  p.n[0] = p.n[1] = 1;
  for (int a = 0; a < 3; a++) fine[a] = gmg_axis_spec_of(&p, a);
  assert_int_equal(gmg_coarsen(fine, 0.6, -1, coarse, which), 0);
}

/* The numbers of unknowns of an axis on all its levels. */
static void sizes_are(size_t n, gmg_centering centering, const char *bc, int nested, const size_t *coarse, int count)
{
  const gmg_problem p = make_problem(1, n, 1, 1, centering, bc);
  gmg_axis_spec s = gmg_axis_spec_of(&p, 0);
  s.nested = nested;
  for (int l = 0; l < count; l++) {
    s = gmg_axis_spec_coarsened(&s);
    if (s.n != coarse[l]) fail_msg("%zu unknowns, %s, level %d: %zu unknowns, expected %zu", n, bc, l + 1, s.n, coarse[l]);
  }
}
#define SIZES_ARE(n, centering, bc, nested, ...)                                                                  \
  sizes_are(n, centering, bc, nested, (const size_t[]){__VA_ARGS__}, sizeof(size_t[]){__VA_ARGS__} / sizeof(size_t))

/* From 33 unknowns on, an odd number of intervals becomes the even one of its two nearest halves. */
static void long_odd_axes_become_even(void **state)
{
  (void)state;
  SIZES_ARE(513, GMG_CELL, "dd", 0, 256, 128, 64, 32, 16, 8, 4, 2, 1);
  SIZES_ARE(511, GMG_CELL, "nn", 0, 256, 128);
  SIZES_ARE(101, GMG_CELL, "pp", 0, 50, 25, 13, 7, 4, 2, 1);
  SIZES_ARE(33, GMG_CELL, "rr", 0, 16, 8);
  SIZES_ARE(31, GMG_CELL, "dd", 0, 16, 8);
  SIZES_ARE(29, GMG_CELL, "dd", 0, 15, 8);
  SIZES_ARE(64, GMG_VERTEX, "dd", 0, 31, 15, 7);
  SIZES_ARE(32, GMG_VERTEX, "dd", 0, 16, 8);
  SIZES_ARE(65, GMG_VERTEX, "nn", 0, 33, 17, 9);
  SIZES_ARE(66, GMG_VERTEX, "nn", 0, 33, 17, 9);
  SIZES_ARE(65, GMG_VERTEX, "pp", 0, 32, 16);
  SIZES_ARE(69, GMG_VERTEX, "dn", 0, 34, 17, 9);
  SIZES_ARE(65, GMG_CELL, "dd", 1, 33, 17, 9);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(coarsening_follows_the_couplings), cmocka_unit_test(long_odd_axes_become_even)};
  return run_selected(tests);
}
