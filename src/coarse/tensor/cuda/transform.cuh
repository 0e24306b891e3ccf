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
enum { WARPS = 2, THREADS = WARPS * WARPS * WARP, STAGES = 5 };
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

/* DEPTH inputs in shared memory. With two blocks of modes there are two inputs: a value and its mirror image, or on the way back the
   coefficients of an even and an odd mode. along: the axis is the first one, so neighbouring threads copy along lines. */
template <class tile, int blocks, int along> struct stage {
  real modes[blocks][DEPTH * tile::OUTPUT_PITCH], values[blocks][along ? tile::LINES * tile::DEPTH_PITCH : DEPTH * tile::LINE_PITCH];

  static __device__ __forceinline__ unsigned at_mode(unsigned i, unsigned o) { return i * tile::OUTPUT_PITCH + o; }
  static __device__ __forceinline__ unsigned at_value(unsigned i, unsigned line)
  {
    return along ? line * tile::DEPTH_PITCH + i : i * tile::LINE_PITCH + line;
  }
};

/* What a thread copies in each step. */
template <class tile, int blocks, int back, int along> struct copier {
  enum {
    VALUES = DEPTH * tile::LINES / THREADS,
    PIECES_ACROSS = tile::OUTPUTS / PIECE,
    PIECES = DEPTH * PIECES_ACROSS,
    LINES_AT_ONCE = along ? THREADS / DEPTH : tile::LINES, /* by all threads */
    INPUTS_AT_ONCE = along ? DEPTH : THREADS / tile::LINES
  };
  lines l;
  const scalar *from;  /* its first line */
  unsigned line, first_line, input; /* the line in the tile */
  matrices m;
  unsigned first_output;

  __device__ __forceinline__ copier(const lines &all, const matrices &modes, const scalar *x, unsigned tile_line, unsigned tile_output)
      : l(all), first_line(tile_line), m(modes), first_output(tile_output)
  {
    const unsigned me = threadIdx.x;
    line = along ? me / DEPTH : me % tile::LINES, input = along ? me % DEPTH : me / tile::LINES;
    from = x + start_of(l, first_line + line);
  }

  static __device__ __forceinline__ void copy(real *to, const real *x, int exists)
  {
    if (exists) __pipeline_memcpy_async(to, x, sizeof *to);
    else *to = 0;
  }

  __device__ __forceinline__ void copy_values(stage<tile, blocks, along> &to, unsigned first) const
  {
    typedef stage<tile, blocks, along> at;
#pragma unroll
    for (int b = 0; b < blocks; b++)
#pragma unroll
      for (int e = 0; e < VALUES; e++) {
        const unsigned k = input + (along ? 0 : e * INPUTS_AT_ONCE), i = first + k, other = line + (along ? e * LINES_AT_ONCE : 0);
        const unsigned which = input_of<back>(b, i, l.n, m.block[0].count);
        copy(&to.values[b][at::at_value(k, other)], from + (along ? (size_t)e * LINES_AT_ONCE * l.n + which : (size_t)which * l.pitch),
             i < m.block[b].count && first_line + other < l.count);
      }
  }

  __device__ __forceinline__ void copy_modes(stage<tile, blocks, along> &to, unsigned first) const
  {
    typedef stage<tile, blocks, along> at;
#pragma unroll
    for (int b = 0; b < blocks; b++)
#pragma unroll
      for (unsigned p = threadIdx.x; p < PIECES; p += THREADS) {
        const unsigned k = p / PIECES_ACROSS, o = p % PIECES_ACROSS * PIECE;
        copy_piece(&to.modes[b][at::at_mode(k, o)], m.block[b], first + k, first_output + o);
      }
  }
};

template <class tile, int blocks, int along> static constexpr size_t shared_bytes() { return STAGES * sizeof(stage<tile, blocks, along>); }

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
  const unsigned count = m.block[0].count, tiles_down = (count + tile::OUTPUTS - 1) / tile::OUTPUTS, steps = (count + DEPTH - 1) / DEPTH;
  const unsigned first_output = blockIdx.x % tiles_down * tile::OUTPUTS, first_line = blockIdx.x / tiles_down * tile::LINES;
  const copier<tile, blocks, back, along> copies(l, m, from, first_line, first_output);
  warp_sums<blocks, tile::DOWN, tile::ACROSS> sums = {};
  for (unsigned s = 0; s < STAGES - 1 && s < steps; s++) copies.copy_modes(stages[s], s * DEPTH);
  gmg_wait_for_predecessor();
  for (unsigned s = 0; s < STAGES - 1; s++) {
    if (s < steps) copies.copy_values(stages[s], s * DEPTH);
    __pipeline_commit();
  }
  for (unsigned s = 0; s < steps; s++) {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads(); /* the stage is here, and the one that is filled next is no longer read */
    const unsigned ahead = s + STAGES - 1;
    if (ahead < steps) {
      copies.copy_modes(stages[ahead % STAGES], ahead * DEPTH);
      copies.copy_values(stages[ahead % STAGES], ahead * DEPTH);
    }
    __pipeline_commit();
    const stage_of &now = stages[s % STAGES];
    add_products<back>(lane, sums, [&](int b, int o, int k) { return now.modes[b][stage_of::at_mode(k, output_of_warp + o)]; },
                       [&](int b, int k, int line) { return now.values[b][stage_of::at_value(k, line_of_warp + line)]; });
  }
  put_outputs<back>(lane, sums, l, first_output + output_of_warp, first_line + line_of_warp, [&](unsigned line) {
    scalar *y = to + start_of(l, line);
    return [=](unsigned o, real x) { y[(size_t)o * l.pitch] = divided(d, x, o, line); };
  });
}

} // namespace

#endif
