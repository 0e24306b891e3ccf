/* The kernel that transforms one axis of a separable problem to its modes, or back, for axes of any length. Called by tensor.cu.
   A block of threads computes a tile of outputs x lines. It walks over the inputs, DEPTH at a time, and copies them and the matrix
   into shared memory STAGES - 1 steps ahead. */
#ifndef GMG_COARSE_TENSOR_TRANSFORM_CUH
#define GMG_COARSE_TENSOR_TRANSFORM_CUH

#include "axis.cuh"
#include "core/cuda/pdl.cuh"

namespace {

/* Tiles of 64 x 64 for many lines, of 32 x 32 for few. WARPS x WARPS warps share a tile. Each has `down` x `across` pieces for each
   block of modes. */
enum { WARPS = 2, THREADS = WARPS * WARPS * WARP, STAGES = 4 };
template <int down, int across> struct tile {
  enum {
    DOWN = down,
    ACROSS = across,
    OUTPUTS = WARPS * down * ROWS,
    LINES = WARPS * across * COLUMNS,
    /* pitches in shared memory with which the threads of a warp read different banks */
    OUTPUT_PITCH = OUTPUTS + 4,
    LINE_PITCH = LINES + 4,
    DEPTH_PITCH = DEPTH + 4
  };
};
typedef tile<2, 4> large_tile;
typedef tile<1, 2> small_tile;

/* DEPTH inputs in shared memory. With two blocks of modes there are two inputs: a value and its mirror image, or on the way back
   the coefficients of an even and an odd mode. along: the axis is the first one, so neighbouring threads copy along lines. */
template <class tile, int blocks, int along> struct stage {
  real modes[blocks][DEPTH * tile::OUTPUT_PITCH];
  real values[blocks][along ? tile::LINES * tile::DEPTH_PITCH : DEPTH * tile::LINE_PITCH];

  static __device__ __forceinline__ unsigned at_mode(unsigned i, unsigned o) { return i * tile::OUTPUT_PITCH + o; }
  static __device__ __forceinline__ unsigned at_value(unsigned i, unsigned line)
  {
    return along ? line * tile::DEPTH_PITCH + i : i * tile::LINE_PITCH + line;
  }
};

/* What a thread copies in each step: values, and pieces of the matrices. */
template <class tile, int blocks, int back, int along> struct copier {
  enum {
    VALUES = DEPTH * tile::LINES / THREADS,
    LINES_AT_ONCE = along ? THREADS / DEPTH : 0, /* from one value to the next */
    INPUTS_AT_ONCE = along ? 0 : THREADS / tile::LINES,
    PIECES_ACROSS = tile::OUTPUTS / PIECE,
    PIECES = DEPTH * PIECES_ACROSS,
    ROWS_AT_ONCE = THREADS / PIECES_ACROSS
  };
  const scalar *value[blocks]; /* the first one of a thread, and the distance to the next input */
  int step[blocks];
  const real *mode[blocks];
  unsigned n, lines_left, input, mode_input, count[blocks], has_mode[blocks];
  unsigned to_value, to_mode; /* in shared memory */

  __device__ __forceinline__ copier(const lines &l, const matrices &m, const scalar *x, unsigned first_line, unsigned first_output)
  {
    const unsigned me = threadIdx.x, line = along ? me / DEPTH : me % tile::LINES, o = me % PIECES_ACROSS * PIECE;
    input = along ? me % DEPTH : me / tile::LINES;
    n = l.n, lines_left = first_line + line < l.count ? l.count - first_line - line : 0;
    to_value = stage<tile, blocks, along>::at_value(input, line);
    mode_input = me / PIECES_ACROSS;
    to_mode = stage<tile, blocks, along>::at_mode(mode_input, o);
#pragma unroll
    for (int b = 0; b < blocks; b++) {
      const unsigned output = first_output + o;
      count[b] = m.block[b].count;
      has_mode[b] = output < padded_count(m.block[b]) && me < PIECES;
      mode[b] = m.block[b].at + (output / GMG_PANEL * count[b] + mode_input) * GMG_PANEL + output % GMG_PANEL;
      step[b] = b == 1 && !back ? -(int)l.pitch : (int)l.pitch;
      value[b] = x + start_of(l, first_line + line) + (size_t)input_of<back>(b, input, l.n, count[0]) * l.pitch;
    }
  }

  /* Whether the tile has all its lines and outputs. */
  __device__ __forceinline__ int is_whole(const lines &l, unsigned first_line, unsigned first_output, const matrices &m) const
  {
    return first_line + tile::LINES <= l.count && first_output + tile::OUTPUTS <= padded_count(m.block[blocks - 1]) &&
           PIECES % THREADS == 0;
  }

  template <int whole> __device__ __forceinline__ void copy_values(stage<tile, blocks, along> &to, unsigned first) const
  {
    typedef stage<tile, blocks, along> at;
#pragma unroll
    for (int b = 0; b < blocks; b++)
#pragma unroll
      for (int e = 0; e < VALUES; e++) {
        real *target = &to.values[b][to_value + at::at_value(e * INPUTS_AT_ONCE, e * LINES_AT_ONCE)];
        if (whole || (first + input + e * INPUTS_AT_ONCE < count[b] && e * LINES_AT_ONCE < (int)lines_left))
          __pipeline_memcpy_async(
              target, value[b] + (int)(first + e * INPUTS_AT_ONCE) * (long)step[b] + e * LINES_AT_ONCE * (size_t)n, sizeof *target);
        else *target = 0;
      }
  }

  template <int whole> __device__ __forceinline__ void copy_modes(stage<tile, blocks, along> &to, unsigned first) const
  {
    typedef stage<tile, blocks, along> at;
#pragma unroll
    for (int b = 0; b < blocks; b++)
#pragma unroll
      for (int e = 0; e < (PIECES + THREADS - 1) / THREADS; e++) {
        real *target = &to.modes[b][to_mode + at::at_mode(e * ROWS_AT_ONCE, 0)];
        if (whole || (first + mode_input + e * ROWS_AT_ONCE < count[b] && has_mode[b]))
          __pipeline_memcpy_async(target, mode[b] + (first + e * ROWS_AT_ONCE) * GMG_PANEL, PIECE * sizeof *target);
        else if (PIECES % THREADS == 0 || threadIdx.x < PIECES) clear_piece(target);
      }
  }
};

template <class tile, int blocks, int along> static constexpr size_t shared_bytes()
{
  return STAGES * sizeof(stage<tile, blocks, along>);
}

/* One axis. Thread blocks that read the same lines follow each other. */
template <class tile, int blocks, int back, int along>
static __global__ void __launch_bounds__(THREADS)
    transform_kernel(lines l, matrices m, divisors d, const scalar *from, scalar *to)
{
  typedef stage<tile, blocks, along> stage_of;
  extern __shared__ double room[];
  stage_of *const stages = (stage_of *)room;
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const unsigned output_of_warp = warp / WARPS * tile::DOWN * ROWS, line_of_warp = warp % WARPS * tile::ACROSS * COLUMNS;
  const unsigned count = m.block[0].count, steps = (count + DEPTH - 1) / DEPTH;
  const unsigned tiles_down = (count + tile::OUTPUTS - 1) / tile::OUTPUTS;
  const unsigned first_output = blockIdx.x % tiles_down * tile::OUTPUTS, first_line = blockIdx.x / tiles_down * tile::LINES;
  const copier<tile, blocks, back, along> copies(l, m, from, first_line, first_output);
  const unsigned whole_until = copies.is_whole(l, first_line, first_output, m) ? m.block[blocks - 1].count / DEPTH : 0;
  warp_sums<blocks, tile::DOWN, tile::ACROSS> sums = {};
  for (unsigned s = 0; s < STAGES - 1 && s < steps; s++) copies.template copy_modes<0>(stages[s], s * DEPTH);
  gmg_wait_for_predecessor();
  for (unsigned s = 0; s < STAGES - 1; s++) {
    if (s < steps) copies.template copy_values<0>(stages[s], s * DEPTH);
    __pipeline_commit();
  }
  for (unsigned s = 0; s < steps; s++) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads(); /* the stage is here, and the one that is filled next is no longer read */
    const unsigned ahead = s + STAGES - 1;
    stage_of &next = stages[ahead % STAGES];
    if (ahead < whole_until) {
      copies.template copy_modes<1>(next, ahead * DEPTH);
      copies.template copy_values<1>(next, ahead * DEPTH);
    } else if (ahead < steps) {
      copies.template copy_modes<0>(next, ahead * DEPTH);
      copies.template copy_values<0>(next, ahead * DEPTH);
    }
    __pipeline_commit();
    const stage_of &now = stages[s % STAGES];
    add_products<back>(lane, sums, [&](int b, int o, int k) { return now.modes[b][stage_of::at_mode(k, output_of_warp + o)]; },
                       [&](int b, int k, int line) { return now.values[b][stage_of::at_value(k, line_of_warp + line)]; });
  }
  put_outputs<back>(lane, sums, l, first_output + output_of_warp, first_line + line_of_warp, [&](unsigned line) {
    scalar *y = to + start_of(l, line);
    const gmg_mode_operator of_line = d.output ? operator_of_line(d, line) : gmg_mode_operator{};
    return [=](unsigned o, real x) { y[(size_t)o * l.pitch] = d.output ? x * inverse_divisor(d, o, of_line) : x; };
  });
}

} // namespace

#endif
