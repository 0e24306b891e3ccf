/* Whole legs of the cycle as passes of streamed planes (async_stream_cuda.cuh): where they apply, and their kernels. The downward leg
   restricts the residual that it leaves (async_sums_cuda.cuh); the upward one takes the coarse correction in and goes onto a field in
   double (async_onto_cuda.cuh). At 512^3 on an H200 the former takes 1.57 ms in double instead of 2.0, from zero in float 0.59
   instead of 0.88; the latter 1.24 instead of 1.80. Included by
   async_stream_launch_cuda.cuh. */
#ifndef GMG_ASYNC_LEGS_CUDA_H
#define GMG_ASYNC_LEGS_CUDA_H

#include "async_stream_cuda.cuh"

static __global__ void __launch_bounds__(shape_of<3, 4>::threads, shape_of<3, 4>::blocks)
    stream_kernel_zero(stream s, const real *f, real *to)
{
  relax_stream<3, 4, STREAM_ZERO>(s, blockIdx.x, f, NULL, to, NULL, onto{}, sums{});
}

template <int KIND>
static __global__ void __launch_bounds__(shape_of<3, 4>::threads, shape_of<3, 4>::blocks)
    stream_kernel_sums(stream s, const real *f, const real *from, real *to, sums r)
{
  relax_stream<3, 4, KIND | STREAM_SUMS>(s, blockIdx.x, f, from, to, NULL, onto{}, r);
}

template <int dim, int KIND>
static __global__ void __launch_bounds__(shape_of<dim, 4>::threads, shape_of<dim, 4>::blocks)
    stream_kernel_onto(stream s, const real *f, const real *from, onto o)
{
  relax_stream<dim, 4, KIND>(s, blockIdx.x, f, from, NULL, NULL, o, sums{});
}

/* Room for a coarse level's planes, and what the kernel is told of it. 0 where that does not apply: everything by pairs, blocks
   beginning with a pair, and a thread for every coarse value around the tile. */
template <int dim> static constexpr size_t onto_bytes(void)
{
  typedef shape_of<dim, 4> shape;
  return lift<dim, shape::lanes, shape::rows>::SLOTS * lift<dim, shape::lanes, shape::rows>::CELLS * sizeof(real);
}

#if GMG_REAL_F32 /* as corrections in mixed precision are */
static int onto_correction(onto *o, const gmg_onto *to, const gmg_operator *A, const gmg_blocks *b)
{
  enum { FEW_ROWS = 5, FEW = 16, PLAIN_FROM = 8 };
  const int axis[3] = {0, A->dim == 3 ? 1 : 2, A->dim - 1};
  for (int a = 0; a < A->dim; a++)
    if (to->prolong[a].pairs != GMG_PAIRS_LINEAR || (b->count[a] > 1 && b->shape[a] % 2 && !(A->dim == 3 && a == 0))) return 0;
  for (int a = 0; a < 3; a++) o->map[a] = to->prolong[axis[a]], o->n[a] = o->map[a].cols;
  const gmg_map *along = &o->map[2];
  if (o->n[2] < FEW || along->begin > PLAIN_FROM || along->end < along->rows - 1 || along->out != 2) return 0;
  if (A->dim == 3 && stream_rows(3, b) < FEW_ROWS) return 0;
  for (int m = 0; m < 2; m++) {
    const int row = along->begin + m, odd = row % 2, own = row / 2 - along->at[m], side = own - 1 + 2 * odd;
    o->own[odd] = own >= 0 && own < along->width ? (real)along->repeat[m][own] : (real)0;
    o->side[odd] = side >= 0 && side < along->width ? (real)along->repeat[m][side] : (real)0;
  }
  o->coarse = (const real *)to->coarse;
  return 1;
}
#endif

#endif
