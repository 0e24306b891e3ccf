/* Transforms of short axes in shared memory. They need fewer launches and less traffic than transform.cuh. Called by tensor.cu.
   - A plane: axes 0 and 1 of one plane, there or back.
   - Lines of the last axis: there, division by the sums of eigenvalues, and back.
   The values of a plane or of some lines are in shared memory, and so are the modes. The warps share the outputs, keep their sums
   in registers, and write them over the inputs when all warps have read those. */
#ifndef GMG_COARSE_TENSOR_SHARED_CUH
#define GMG_COARSE_TENSOR_SHARED_CUH

#include "axis.cuh"
#include "core/cuda/pdl.cuh"

namespace {

/* warps_down x warps_across warps share a block of values. Each has ROWS x LINES outputs for each of two blocks of modes, or twice
   as many of a single block. rooms: 2 if there is room for the modes of both transforms; 1: the second ones replace the first. */
template <int across, int warps_down, int warps_across, int rooms> struct part {
  enum {
    ACROSS = across,
    WARPS_DOWN = warps_down,
    WARPS_ACROSS = warps_across,
    ROOMS = rooms,
    LINES = across * COLUMNS, /* of a warp */
    LONGEST = 2 * warps_down * ROWS,
    WARPS_OF_PART = warps_down * warps_across,
    THREADS_OF_PART = WARPS_OF_PART * WARP,
    LINES_OF_BLOCK = warps_across * LINES,
    LINE_PITCH = LINES_OF_BLOCK + 4
  };
};
typedef part<2, 2, 4, 2> small_part;  /* up to 64 unknowns */
typedef part<2, 3, 6, 2> medium_part; /* 96 */
typedef part<4, 4, 4, 1> large_part;  /* 128 */

/* The pitch of n values in shared memory with which the threads of a warp read different banks along both axes. */
static inline unsigned pitch_of(unsigned n) { return (n + 3) / 8 * 8 + 4; }

/* Modes in shared memory: [block][input][output]. The number of inputs is a multiple of DEPTH. */
template <class part, int blocks> struct mode_room {
  enum { DOWN = 2 / blocks, OUTPUTS = part::WARPS_DOWN * DOWN * ROWS, PITCH = OUTPUTS + 4 };
};
GMG_INLINE unsigned inputs_of(unsigned count) { return (count + DEPTH - 1) / DEPTH * DEPTH; }

template <class part, int blocks> static __device__ __forceinline__ void load_modes(real *room, const matrices &m)
{
  typedef mode_room<part, blocks> shape;
  enum { PIECES_ACROSS = shape::OUTPUTS / PIECE };
  const unsigned inputs = inputs_of(m.block[0].count);
#pragma unroll
  for (int b = 0; b < blocks; b++)
    for (unsigned p = threadIdx.x; p < inputs * PIECES_ACROSS; p += part::THREADS_OF_PART) {
      const unsigned i = p / PIECES_ACROSS, o = p % PIECES_ACROSS * PIECE;
      copy_piece(room + (b * inputs + i) * shape::PITCH + o, m.block[b], i, o);
    }
}

/* Waits for all copies to shared memory. */
static __device__ __forceinline__ void wait_for_copies()
{
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}

/* An axis of values in shared memory: value i of line l is at x[i step + l across]. */
struct axis_view {
  real *x;
  unsigned step, across;
};

/* Transforms an axis, with its modes in `room`. The outputs are put to to_line(line)(output, value). loads_next() loads the modes
   of the next transform when those of this one are no longer needed. */
template <class part, int blocks, int back, class Next, class ToLine>
static __device__ __forceinline__ void transform_in_shared(const axis_view &v, const lines &all, const matrices &m,
                                                           const real *room, Next loads_next, ToLine to_line)
{
  typedef mode_room<part, blocks> shape;
  const unsigned warp = threadIdx.x / WARP, line = warp % part::WARPS_ACROSS * part::LINES,
                 o = warp / part::WARPS_ACROSS * shape::DOWN * ROWS, count = m.block[0].count, inputs = inputs_of(count);
  const int lane = threadIdx.x % WARP;
  warp_sums<blocks, shape::DOWN, part::ACROSS> sums = {};
  for (unsigned first = 0; first < count && o < count && line < all.count; first += DEPTH)
    add_products<back>(lane, sums, [&](int b, int row, int k) { return room[(b * inputs + first + k) * shape::PITCH + o + row]; },
                       [&](int b, int k, int l) {
                         const unsigned i = first + k;
                         return i < m.block[b].count ? v.x[input_of<back>(b, i, all.n, count) * v.step + (line + l) * v.across] : 0;
                       });
  __syncthreads();
  loads_next();
  put_outputs<back>(lane, sums, all, o, line, to_line);
  wait_for_copies();
}

/* Outputs that replace the inputs. */
static __device__ __forceinline__ auto in_place(const axis_view &v)
{
  return [=](unsigned line) { return [=](unsigned o, real x) { v.x[o * v.step + line * v.across] = x; }; };
}

/* Both axes of a plane with n[0] x n[1] values: first axis 0, or on the way back first axis 1. */
struct plane {
  unsigned n[2], pitch;
  matrices m[2];
  unsigned rooms[2]; /* where the modes of the first and the second transform are in shared memory */
};

template <class part, int blocks_0, int blocks_1, int back>
static __global__ void __launch_bounds__(part::THREADS_OF_PART) plane_kernel(plane p, const scalar *from, scalar *to)
{
  extern __shared__ double memory[];
  real *const x = (real *)memory, *const room[2] = {x + p.rooms[0], x + p.rooms[1]};
  const size_t start = (size_t)blockIdx.x * p.n[0] * p.n[1];
  const unsigned warp = threadIdx.x / WARP;
  const axis_view along[2] = {{x, 1, p.pitch}, {x, p.pitch, 1}};
  const lines all[2] = {{p.n[0], 1, p.n[1]}, {p.n[1], p.n[0], p.n[0]}};
  const auto load_first = [&]() {
    if (back) load_modes<part, blocks_1>(room[0], p.m[1]);
    else load_modes<part, blocks_0>(room[0], p.m[0]);
  };
  const auto load_second = [&]() {
    if (back) load_modes<part, blocks_0>(room[1], p.m[0]);
    else load_modes<part, blocks_1>(room[1], p.m[1]);
  };
  const auto load_second_late = [&]() { if (part::ROOMS == 1) load_second(); };
  const auto done = []() {};
  load_first();
  if (part::ROOMS == 2) load_second();
  gmg_wait_for_predecessor();
  for (unsigned j = warp; j < p.n[1]; j += part::WARPS_OF_PART)
    for (unsigned i = threadIdx.x % WARP; i < p.n[0]; i += WARP)
      __pipeline_memcpy_async(x + j * p.pitch + i, from + start + (size_t)j * p.n[0] + i, sizeof(real));
  wait_for_copies();
  if (!back) {
    transform_in_shared<part, blocks_0, 0>(along[0], all[0], p.m[0], room[0], load_second_late, in_place(along[0]));
    transform_in_shared<part, blocks_1, 0>(along[1], all[1], p.m[1], room[1], done, [&](unsigned l) {
      scalar *y = to + start + l;
      return [=](unsigned out, real value) { y[(size_t)out * p.n[0]] = value; };
    });
  } else {
    transform_in_shared<part, blocks_1, 1>(along[1], all[1], p.m[1], room[0], load_second_late, in_place(along[1]));
    transform_in_shared<part, blocks_0, 1>(along[0], all[0], p.m[0], room[1], done, [&](unsigned l) {
      scalar *y = to + start + (size_t)l * p.n[0];
      return [=](unsigned out, real value) { y[out] = value; };
    });
  }
}

/* Divides the coefficients of a thread's line. */
template <class part>
static __device__ __forceinline__ void divide(const divisors &d, real *x, unsigned n, unsigned begin, unsigned here)
{
  const unsigned line = threadIdx.x % part::LINES_OF_BLOCK, first = threadIdx.x / part::LINES_OF_BLOCK,
                 step = part::THREADS_OF_PART / part::LINES_OF_BLOCK;
  static_assert(part::THREADS_OF_PART % part::LINES_OF_BLOCK == 0, "threads share lines");
  if (line < here) {
    const gmg_mode_operator of_line = operator_of_line(d, begin + line);
#pragma unroll 4
    for (unsigned i = first; i < n; i += step) x[i * part::LINE_PITCH + line] *= inverse_divisor(d, i, of_line);
  }
  __syncthreads();
}

/* The last axis: the lines lie beside each other. from may be to. */
struct last_axis {
  lines l;
  matrices m[2]; /* forward (to modes), inverse (from modes) */
  unsigned rooms[2];
  divisors d;
};

template <class part, int blocks>
static __global__ void __launch_bounds__(part::THREADS_OF_PART) last_axis_kernel(last_axis a, const scalar *from, scalar *to)
{
  extern __shared__ double memory[];
  real *const x = (real *)memory, *const room[2] = {x + a.rooms[0], x + a.rooms[1]};
  const unsigned begin = blockIdx.x * part::LINES_OF_BLOCK, left = a.l.count - begin,
                 here = left < part::LINES_OF_BLOCK ? left : part::LINES_OF_BLOCK;
  const axis_view v = {x, part::LINE_PITCH, 1};
  const lines all = {a.l.n, here, here};
  const auto load_second = [&]() { load_modes<part, blocks>(room[1], a.m[1]); };
  const auto load_second_late = [&]() { if (part::ROOMS == 1) load_second(); };
  load_modes<part, blocks>(room[0], a.m[0]);
  if (part::ROOMS == 2) load_second();
  gmg_wait_for_predecessor();
  for (unsigned at = threadIdx.x; at < a.l.n * part::LINES_OF_BLOCK; at += part::THREADS_OF_PART) {
    const unsigned i = at / part::LINES_OF_BLOCK, l = at % part::LINES_OF_BLOCK;
    if (l < here) __pipeline_memcpy_async(x + i * part::LINE_PITCH + l, from + (size_t)i * a.l.pitch + begin + l, sizeof(real));
  }
  wait_for_copies();
  transform_in_shared<part, blocks, 0>(v, all, a.m[0], room[0], load_second_late, in_place(v));
  divide<part>(a.d, x, a.l.n, begin, here);
  transform_in_shared<part, blocks, 1>(v, all, a.m[1], room[1], []() {}, [&](unsigned l) {
    scalar *y = to + begin + l;
    return [=](unsigned out, real value) { y[(size_t)out * a.l.pitch] = value; };
  });
}

} // namespace

#endif
