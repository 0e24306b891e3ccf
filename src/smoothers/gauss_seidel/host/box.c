/* Gauss-Seidel for box stencils on host threads, one colour after the other (stencil/box/colours.h): 2^dim colours, 3 along
   periodic axes with an odd number of unknowns. The result does not depend on the number of threads. Called through
   gmg_smoother_ops. */
#include "smoothers/weight.h"

#include "stencil/box/box.h"
#include "stencil/box/colours.h"
#include "stencil/box_arrays/rows.h"

/* Entries that vary: relaxes all unknowns of colour c[axis]. dim is a constant after inlining. */
GMG_INLINE void relax_colour_of_arrays(const int dim, const gmg_smoother_level *l, const gmg_box_array_rows *s, const int c[3],
                                       const scalar *f, scalar *u, real omega)
{
  const gmg_operator *A = l->A;
  gmg_colour_range r[3];
  for (int a = 0; a < 3; a++) r[a] = gmg_colour_range_of(c[a], A->n[a], A->wraps[a]);
  const size_t lines = r[1].count * r[2].count;
#pragma omp parallel for schedule(static) num_threads(l->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL_SWEEP)
  for (size_t t = 0; t < lines; t++) {
    const size_t j = r[1].first + 2 * (t % r[1].count), k = r[2].first + 2 * (t / r[1].count);
    const size_t start = gmg_offset(s->layout, 0, j, k);
    const gmg_box_steps y = gmg_box_array_steps_at(s, 1, j), z = gmg_box_array_steps_at(s, 2, k);
    for (size_t m = 0; m < r[0].count; m++) {
      const size_t i = r[0].first + 2 * m, n = start + i;
      const scalar image = gmg_box_array_image(dim, s, gmg_box_array_steps_at(s, 0, i), y, z, n, u + n);
      u[n] += omega * ((f[n] - image) / s->entry[13][n]);
    }
  }
}

/* Constant entries: relaxes all unknowns of colour c[axis]. */
static void relax_colour(const gmg_smoother_level *l, const gmg_box_rows *s, const int c[3], const scalar *f, scalar *u, real omega)
{
  const gmg_operator *A = l->A;
  gmg_colour_range r[3];
  for (int a = 0; a < 3; a++) r[a] = gmg_colour_range_of(c[a], A->n[a], A->wraps[a]);
  const size_t lines = r[1].count * r[2].count;
#pragma omp parallel for schedule(static) num_threads(l->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL_SWEEP)
  for (size_t t = 0; t < lines; t++) {
    const size_t j = r[1].first + 2 * (t % r[1].count), k = r[2].first + 2 * (t / r[1].count);
    const size_t start = gmg_offset(s->layout, 0, j, k);
    const gmg_box_steps y = gmg_box_steps_at(s, 1, j), z = gmg_box_steps_at(s, 2, k);
    for (size_t m = 0; m < r[0].count; m++) {
      const size_t i = r[0].first + 2 * m;
      scalar *const here = u + start + i;
      const gmg_box_steps x = gmg_box_steps_at(s, 0, i);
      const scalar image = s->dim == 3 ? gmg_box_image(3, s, x, y, z, here) : gmg_box_image(2, s, x, y, z, here);
      *here += omega * ((f[start + i] - image) / s->diag);
    }
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state;
  const int varies = l->A->box->array[13] != NULL;
  const gmg_box_rows s = gmg_box_rows_of(l->A);
  const gmg_box_array_rows v = gmg_box_array_rows_of(l->A);
  const real omega = (real)gmg_weight_gauss_seidel(l->A, l->params);
  int colours[3];
  for (int a = 0; a < 3; a++) colours[a] = gmg_colours_along(l->A->n[a], l->A->wraps[a]);
  const int all = colours[0] * colours[1] * colours[2];
  for (int t = 0; t < steps * all; t++) {
    const int colour = leg == GMG_LEG_UP_REVERSED ? all - 1 - t % all : t % all;
    const int c[3] = {colour % colours[0], colour / colours[0] % colours[1], colour / (colours[0] * colours[1])};
    if (!varies) relax_colour(l, &s, c, f, u, omega);
    else if (v.dim == 3) relax_colour_of_arrays(3, l, &v, c, f, u, omega);
    else if (v.dim == 2) relax_colour_of_arrays(2, l, &v, c, f, u, omega);
    else relax_colour_of_arrays(1, l, &v, c, f, u, omega);
  }
}

const gmg_smoother_ops R(gmg_gauss_seidel_box_host) = {.sweep = sweep};
