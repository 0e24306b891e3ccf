/* Black box multigrid on a CUDA device. Called through gmg_black_box_ops. A thread computes the weights of fine unknowns, a coarse
   row, or a value. */
extern "C" {
#include "core/exec.h"
}

#include "core/cuda/pdl.cuh"
#include "product.cuh"
#include "stencil/black_box/rows.h"

/* masks: those of the unknowns with as many odd indices, 3 bits each. */
static __global__ void weigh_rows(gmg_black_box_levels x, gmg_points p, int count, unsigned masks)
{
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t) {
    const size_t J[3] = {i, j, k};
    for (int m = 0; m < count; m++) {
      const int odd = (int)(masks >> 3 * m & 7);
      if (gmg_black_box_exists(&x, odd, J)) gmg_black_box_weigh(&x, odd, J);
      else gmg_black_box_clear(&x, odd, J);
    }
  });
}

static void weigh(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *w, int odd)
{
  const gmg_points p = gmg_points_of(C->n);
  unsigned masks = 0;
  int count = 0;
  for (int mask = 1; mask < 8; mask++)
    if (gmg_black_box_has(A, mask, odd)) masks |= (unsigned)mask << 3 * count++;
  if (count == 0) return;
  gmg_launch(e, "weights of transfers", weigh_rows, gmg_shape_of(p), gmg_black_box_levels_of(A, C, w), p, count, masks);
}

static void product(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *w)
{
  const size_t lines = C->n[1] * C->n[2];
  unsigned across = 8;
  while (across < PRODUCT_THREADS && across < C->n[0]) across *= 2;
  const size_t in_block = PRODUCT_THREADS / across, blocks = (lines + in_block - 1) / in_block;
  const dim3 grid((unsigned)((C->n[0] + across - 1) / across), (unsigned)(blocks < 65535 ? blocks : 65535));
  const gmg_launch_shape shape = {grid, dim3(PRODUCT_THREADS), 0};
  gmg_launch(e, "Galerkin product", product_rows, shape, gmg_black_box_levels_of(A, C, w), lines, across);
}

template <int dim> static __global__ void restrict_values(gmg_black_box_levels l, gmg_points p, const scalar *r, scalar *f)
{
  gmg_wait_for_predecessor();
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t c) {
    gmg_black_box_axis x, y, z;
    gmg_black_box_column(&l, 0, i, &x), gmg_black_box_column(&l, 1, j, &y), gmg_black_box_column(&l, 2, k, &z);
    f[c] = gmg_black_box_restricted(dim, &l, &x, &y, &z, r);
  });
}

static void restrict_field(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *w, const void *r,
                           void *f)
{
  const gmg_points p = gmg_points_of(C->n);
  const auto kernel = A->dim > 2 ? restrict_values<3> : A->dim > 1 ? restrict_values<2> : restrict_values<1>;
  gmg_launch_early(e, "restriction", kernel, gmg_shape_of(p), gmg_black_box_levels_of(A, C, w), p, (const scalar *)r,
                   (scalar *)f);
}

template <int dim> static __global__ void prolong_values(gmg_black_box_levels x, gmg_points p, const scalar *c, scalar *u)
{
  gmg_wait_for_predecessor();
  gmg_for_points(p, [&](size_t i, size_t j, size_t k, size_t) {
    const size_t J[3] = {i, j, k};
    gmg_black_box_interpolate(dim, &x, J, c, u);
  });
}

static void prolong(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *w, const void *c, void *u)
{
  const gmg_points p = gmg_points_of(C->n);
  const auto kernel = A->dim > 2 ? prolong_values<3> : A->dim > 1 ? prolong_values<2> : prolong_values<1>;
  gmg_launch_early(e, "prolongation", kernel, gmg_shape_of(p), gmg_black_box_levels_of(A, C, w), p, (const scalar *)c,
                   (scalar *)u);
}

extern "C" const gmg_black_box_ops R(gmg_black_box_cuda) = {
    .weigh = weigh, .product = product, .restrict_ = restrict_field, .prolong = prolong};
