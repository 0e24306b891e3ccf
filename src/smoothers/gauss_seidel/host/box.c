/* Gauss-Seidel for box stencils on host threads, one colour after the other (stencil/box/colours.h): 2^dim colours, 3 along
   periodic axes with an odd number of unknowns. The result does not depend on the number of threads. Called through
   gmg_smoother_ops. */
#include "smoothers/weight.h"

#include "stencil/box/box.h"
#include "stencil/box/colours.h"
#include "stencil/box_arrays/rows.h"

/* A box stencil on a level. varies: whether its entries do. */
typedef struct {
  int varies;
  gmg_box_rows constant;
  gmg_box_array_rows arrays;
} box_rows;

/* Relaxes the unknowns x of a line. dim and varies are constants after inlining. */
GMG_INLINE void relax_line(const int dim, const int varies, const box_rows *s, gmg_colour_range x, size_t j, size_t k,
                           const scalar *f, scalar *u, real omega)
{
  const gmg_box_rows *const c = &s->constant;
  const gmg_box_array_rows *const v = &s->arrays;
  const size_t start = gmg_offset(c->layout, 0, j, k);
  const gmg_box_steps y = varies ? gmg_box_array_steps_at(v, 1, j) : gmg_box_steps_at(c, 1, j);
  const gmg_box_steps z = varies ? gmg_box_array_steps_at(v, 2, k) : gmg_box_steps_at(c, 2, k);
  for (size_t m = 0; m < x.count; m++) {
    const size_t i = x.first + 2 * m;
    scalar *const here = u + start + i;
    const gmg_box_steps at = varies ? gmg_box_array_steps_at(v, 0, i) : gmg_box_steps_at(c, 0, i);
    const scalar image = varies ? gmg_box_array_image(dim, v, at, y, z, start + i, here) : gmg_box_image(dim, c, at, y, z, here);
    *here += omega * ((f[start + i] - image) / (varies ? v->entry[13][start + i] : c->diag));
  }
}

/* Relaxes all unknowns of colour c[axis]. */
static void relax_colour(const gmg_smoother_level *l, const box_rows *s, const int c[3], const scalar *f, scalar *u, real omega)
{
  const gmg_operator *A = l->A;
  gmg_colour_range r[3];
  for (int a = 0; a < 3; a++) r[a] = gmg_colour_range_of(c[a], A->n[a], A->wraps[a]);
  const size_t lines = r[1].count * r[2].count;
#pragma omp parallel for schedule(static) num_threads(l->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL_SWEEP)
  for (size_t t = 0; t < lines; t++) {
    const size_t j = r[1].first + 2 * (t % r[1].count), k = r[2].first + 2 * (t / r[1].count);
    switch (2 * A->dim + s->varies) {
#define CASE(dim, varies) \
  case 2 * dim + varies: relax_line(dim, varies, s, r[0], j, k, f, u, omega); break;
      CASE(1, 0) CASE(1, 1) CASE(2, 0) CASE(2, 1) CASE(3, 0) CASE(3, 1)
#undef CASE
    }
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state;
  const box_rows s = {l->A->box->array[13] != NULL, gmg_box_rows_of(l->A), gmg_box_array_rows_of(l->A)};
  const real omega = (real)gmg_weight_gauss_seidel(l->A, l->params);
  int colours[3];
  for (int a = 0; a < 3; a++) colours[a] = gmg_colours_along(l->A->n[a], l->A->wraps[a]);
  const int all = colours[0] * colours[1] * colours[2];
  for (int t = 0; t < steps * all; t++) {
    const int colour = leg == GMG_LEG_UP_REVERSED ? all - 1 - t % all : t % all;
    const int c[3] = {colour % colours[0], colour / colours[0] % colours[1], colour / (colours[0] * colours[1])};
    relax_colour(l, &s, c, f, u, omega);
  }
}

const gmg_smoother_ops R(gmg_gauss_seidel_box_host) = {.sweep = sweep};
