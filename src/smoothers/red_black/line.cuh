/* Red-black relaxation in 1D, both colours in one pass over memory. In double it moves 24 bytes per unknown, or 16 from zero; one
   pass per colour moves 48. A level of one thread block takes one launch. Included by red_black/cuda.cu.

   A thread has one unknown of the first colour, and the next one, of the second. The other neighbour of the second unknown belongs
   to the next thread. It is relaxed here once more, from values before the sweep, so the result is that of one colour after the
   other. A thread block writes in place what no other block reads. Its first two unknowns and its last one are written to the
   level's scratch field, from which a second kernel copies them. */
#ifndef GMG_SMOOTHERS_RED_BLACK_LINE_H
#define GMG_SMOOTHERS_RED_BLACK_LINE_H

#include "stencil/operator/cuda/row.cuh"

enum { LINE_THREADS = 256 };

typedef struct {
  gmg_operator A;
  long n, pairs, before; /* the first pair begins this many unknowns before the axis; with wrapping, this may be -1 */
  int wraps, alike;      /* 1: all inner rows are equal */
  real omega;
} line_sweep;

static int line_suits(const gmg_operator *A) { return A->dim == 1 && A->n[0] >= 4 && !(A->wraps[0] && A->n[0] % 2); }

static line_sweep line_sweep_of(const gmg_operator *A, int reversed, real omega)
{
  line_sweep s = {*A, (long)A->n[0], 0, A->wraps[0] ? -reversed : reversed, A->wraps[0], 0, omega};
  s.pairs = A->wraps[0] ? s.n / 2 : (s.n + s.before + 1) / 2;
  s.alike = gmg_coefficients_of(A) == GMG_CONSTANT && A->uniform[0] > 0;
  return s;
}

static unsigned line_blocks(const line_sweep &s) { return (unsigned)((s.pairs + LINE_THREADS - 1) / LINE_THREADS); }

/* Index of unknown i, wrapped; -1: beyond a wall. */
static __device__ __forceinline__ long index_in_line(const line_sweep &s, long i)
{
  if (i >= 0 && i < s.n) return i;
  return s.wraps ? (i < 0 ? i + s.n : i - s.n) : -1;
}

static __device__ __forceinline__ size_t offset_in_line(const line_sweep &s, long i)
{
  return gmg_offset(gmg_layout_of(&s.A), (size_t)i, 0, 0);
}

static __device__ __forceinline__ scalar value_in_line(const line_sweep &s, const scalar *u, long i)
{
  const long at = index_in_line(s, i);
  return u && at >= 0 ? u[offset_in_line(s, at)] : (scalar)0;
}

template <int kind>
static __device__ __forceinline__ scalar relaxed_in_line(const line_sweep &s, const scalar *f, long i, scalar left, scalar here,
                                                         scalar right)
{
  const long at = index_in_line(s, i);
  if (at < 0) return 0;
  const gmg_neighbours near = {{left, 0, 0}, {right, 0, 0}};
  return gmg_row_relaxed(3, kind, gmg_row_at<kind>(s.A, s.alike && at > 0 && at < s.n - 1 ? 1 : (size_t)at, 0, 0), near,
                         f[offset_in_line(s, at)], here, s.omega);
}

/* from = NULL: u is 0. If interface_copy = to, everything is written there. */
template <int kind>
static __global__ void __launch_bounds__(LINE_THREADS)
    two_colour_line_kernel(line_sweep s, const scalar *f, const scalar *from, scalar *to, scalar *interface_copy)
{
  const long pair = (long)blockIdx.x * LINE_THREADS + threadIdx.x, i = 2 * pair - s.before;
  scalar first = 0, second = 0;
  if (pair < s.pairs) {
    scalar u[5];
#pragma unroll
    for (int m = 0; m < 5; m++) u[m] = value_in_line(s, from, i - 1 + m);
    first = relaxed_in_line<kind>(s, f, i, u[0], u[1], u[2]);
    second = relaxed_in_line<kind>(s, f, i + 1, first, u[2], relaxed_in_line<kind>(s, f, i + 2, u[2], u[3], u[4]));
  }
  __syncthreads(); /* `to` may be `from` */
  if (pair >= s.pairs) return;
  const int begins = threadIdx.x == 0, ends = threadIdx.x == LINE_THREADS - 1 || pair == s.pairs - 1;
  const long at[2] = {index_in_line(s, i), index_in_line(s, i + 1)};
  if (at[0] >= 0) (begins ? interface_copy : to)[offset_in_line(s, at[0])] = first;
  if (at[1] >= 0) (begins || ends ? interface_copy : to)[offset_in_line(s, at[1])] = second;
}

/* Copies interface_copy back to u, with one thread per block. */
static __global__ void line_interface_kernel(line_sweep s, unsigned blocks, const scalar *copy, scalar *u)
{
  const unsigned b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b >= blocks) return;
  const long begin = 2 * ((long)b * LINE_THREADS) - s.before, last = min((long)(b + 1) * LINE_THREADS, s.pairs) - 1;
  const long seen[3] = {begin, begin + 1, 2 * last - s.before + 1};
#pragma unroll
  for (int m = 0; m < 3; m++) {
    const long at = index_in_line(s, seen[m]);
    if (at >= 0) u[offset_in_line(s, at)] = copy[offset_in_line(s, at)];
  }
}

static void relax_line(const gmg_smoother_level *l, const line_sweep &s, const void *f, const void *from, void *to,
                       void *interface_copy)
{
  const gmg_launch_shape grid = {dim3(line_blocks(s)), dim3(LINE_THREADS), 0};
  gmg_launch(l->exec, "red_black", GMG_BY_KIND(l->A, two_colour_line_kernel), grid, s, f, from, to, interface_copy);
}

static void sweep_line(const gmg_smoother_level *l, const void *f, void *u, int steps, gmg_leg leg, int from_zero)
{
  const line_sweep s = line_sweep_of(l->A, leg == GMG_LEG_UP_REVERSED, (real)gmg_weight_red_black(l->A, l->params));
  const unsigned blocks = line_blocks(s);
  if (from_zero && steps > 0) relax_line(l, s, f, NULL, u, u), steps--;
  for (; steps >= 2 && blocks > 1; steps -= 2)
    relax_line(l, s, f, u, l->scratch, l->scratch), relax_line(l, s, f, l->scratch, u, u);
  for (; steps > 0; steps--) {
    relax_line(l, s, f, u, u, blocks > 1 ? l->scratch : u);
    if (blocks == 1) continue;
    gmg_launch(l->exec, "red_black", line_interface_kernel, gmg_flat_shape(blocks), s, blocks, l->scratch, u);
  }
}

#endif
