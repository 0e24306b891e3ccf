/* Gauss-Seidel for box stencils on a CUDA device, one colour after the other, a launch each (host/box.c). Called through
   gmg_smoother_ops. */
extern "C" {
#include "smoothers/weight.h"
}

#include "core/cuda/device.h"
#include "stencil/box/box.h"
#include "stencil/box/colours.h"
#include "stencil/box_arrays/rows.h"

/* The unknowns of a colour. */
typedef struct {
  gmg_colour_range range[3];
} colour;

/* Relaxes the unknowns of a colour, for constant entries. */
template <int dim>
static __global__ void __launch_bounds__(GMG_THREADS)
    colour_kernel(gmg_box_rows A, colour of, gmg_points p, const scalar *f, scalar *u, real omega)
{
  gmg_for_points(p, [&](size_t x, size_t y, size_t z, size_t) {
    const size_t i = of.range[0].first + 2 * x, j = of.range[1].first + 2 * y, k = of.range[2].first + 2 * z;
    const size_t c = gmg_offset(A.layout, i, j, k);
    const gmg_box_steps near[3] = {gmg_box_steps_at(&A, 0, i), gmg_box_steps_at(&A, 1, j), gmg_box_steps_at(&A, 2, k)};
    const scalar image = gmg_box_image(dim, &A, near[0], near[1], near[2], u + c);
    u[c] += omega * ((f[c] - image) / A.diag);
  });
}

/* Relaxes the unknowns of a colour, for entries that vary. */
template <int dim>
static __global__ void __launch_bounds__(GMG_THREADS)
    array_colour_kernel(gmg_box_array_rows A, colour of, gmg_points p, const scalar *f, scalar *u, real omega)
{
  gmg_for_points(p, [&](size_t x, size_t y, size_t z, size_t) {
    const size_t i = of.range[0].first + 2 * x, j = of.range[1].first + 2 * y, k = of.range[2].first + 2 * z;
    const size_t c = gmg_offset(A.layout, i, j, k);
    const gmg_box_steps near[3] = {gmg_box_array_steps_at(&A, 0, i), gmg_box_array_steps_at(&A, 1, j),
                                   gmg_box_array_steps_at(&A, 2, k)};
    const scalar image = gmg_box_array_image(dim, &A, near[0], near[1], near[2], c, u + c);
    u[c] += omega * ((f[c] - image) / A.entry[13][c]);
  });
}

static void relax_arrays(const gmg_smoother_level *l, colour of, gmg_points p, const void *f, void *u, double omega)
{
  const gmg_box_array_rows rows = gmg_box_array_rows_of(l->A);
  const auto kernel = l->A->dim == 3 ? array_colour_kernel<3> : l->A->dim == 2 ? array_colour_kernel<2> : array_colour_kernel<1>;
  gmg_launch(l->exec, "gauss_seidel", kernel, gmg_shape_of(p), rows, of, p, f, u, omega);
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state;
  const gmg_operator *A = l->A;
  const gmg_box_rows rows = gmg_box_rows_of(A);
  const double omega = gmg_weight_gauss_seidel(A, l->params);
  int colours[3];
  for (int a = 0; a < 3; a++) colours[a] = gmg_colours_along(A->n[a], A->wraps[a]);
  const int all = colours[0] * colours[1] * colours[2];
  for (int t = 0; t < steps * all; t++) {
    const int number = leg == GMG_LEG_UP_REVERSED ? all - 1 - t % all : t % all;
    const int c[3] = {number % colours[0], number / colours[0] % colours[1], number / (colours[0] * colours[1])};
    colour of;
    size_t n[3];
    for (int a = 0; a < 3; a++) of.range[a] = gmg_colour_range_of(c[a], A->n[a], A->wraps[a]), n[a] = of.range[a].count;
    const gmg_points p = gmg_points_of(n);
    if (A->box->array[13]) relax_arrays(l, of, p, f, u, omega);
    else if (A->dim == 3) gmg_launch(l->exec, "gauss_seidel", colour_kernel<3>, gmg_shape_of(p), rows, of, p, f, u, omega);
    else gmg_launch(l->exec, "gauss_seidel", colour_kernel<2>, gmg_shape_of(p), rows, of, p, f, u, omega);
  }
}

extern "C" const gmg_smoother_ops R(gmg_gauss_seidel_box_cuda) = {.sweep = sweep};
