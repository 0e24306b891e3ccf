/* The kernel that transforms one axis of a separable problem to its modes, or back. Called by tensor.cu. Calls product.cuh.
   A block of threads computes a tile of outputs x lines. It walks over the inputs, DEPTH at a time, and copies them and the matrix
   into shared memory STAGES - 1 steps ahead. */
#ifndef GMG_COARSE_TENSOR_TRANSFORM_CUH
#define GMG_COARSE_TENSOR_TRANSFORM_CUH

#include "core/cuda/pdl.cuh"
#include "product.cuh"

#include <cuda_pipeline.h>

namespace {

/* The lines along the axis that is transformed. Values of a line have the distance `pitch`, which is also the number of lines that
   lie beside each other. */
struct lines {
  unsigned n, pitch, count;
};

static __device__ __forceinline__ size_t start_of(const lines &l, unsigned line)
{
  return line % l.pitch + (size_t)(line / l.pitch) * l.n * l.pitch;
}

/* A block of modes of the axis, as gmg_mode_block has them: [panel of outputs][input][output]. */
struct matrix {
  const real *at;
  unsigned count;
};

/* What coefficients are divided by after the last transform to modes: eigenvalue of the output + those of the line + shift.
   output NULL: they are not divided. */
struct divisors {
  const real *output, *line[2]; /* line[1] NULL: no second axis */
  unsigned along;               /* modes of the first axis */
  real shift;
  int singular; /* the divisor 0 of the constant mode stands for infinity */
};

static __device__ __forceinline__ real divided(const divisors &d, real x, unsigned o, unsigned line)
{
  if (!d.output) return x;
  real by = d.output[o] + d.shift + d.line[0][d.line[1] ? line % d.along : line];
  if (d.line[1]) by += d.line[1][line / d.along];
  return d.singular && by == 0 ? 0 : x / by;
}

/* Tiles of 64 x 64 for many lines, of 32 x 32 for few. WARPS x WARPS warps share a tile. Each has `down` x `across` pieces for each
   block of modes. */
enum { WARPS = 2, WARP = 32, THREADS = WARPS * WARPS * WARP, STAGES = 4 };
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
    PANELS = tile::OUTPUTS / GMG_PANEL,
    LINES_AT_ONCE = along ? THREADS / DEPTH : tile::LINES, /* by all threads */
    INPUTS_AT_ONCE = along ? DEPTH : THREADS / tile::LINES
  };
  lines l;
  const scalar *from;  /* its first line */
  unsigned line, first_line, input; /* the line in the tile */
  const real *mode[blocks];
  unsigned count[blocks], mode_input, mode_output;
  int panels[blocks]; /* from the tile's first output on */

  __device__ __forceinline__ copier(const lines &all, const matrix *m, const scalar *x, unsigned tile_line, unsigned tile_output)
      : l(all), first_line(tile_line)
  {
    const unsigned me = threadIdx.x;
    line = along ? me / DEPTH : me % tile::LINES, input = along ? me % DEPTH : me / tile::LINES;
    from = x + start_of(l, first_line + line);
    mode_input = me / GMG_PANEL, mode_output = me % GMG_PANEL;
#pragma unroll
    for (int b = 0; b < blocks; b++) {
      count[b] = m[b].count;
      panels[b] = (int)((count[b] + GMG_PANEL - 1) / GMG_PANEL) - (int)(tile_output / GMG_PANEL);
      mode[b] = m[b].at + (tile_output / GMG_PANEL * count[b] + mode_input) * GMG_PANEL + mode_output;
    }
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
        const unsigned which = b == 0 ? i : back ? count[0] + i : l.n - 1 - i;
        copy(&to.values[b][at::at_value(k, other)], from + (along ? (size_t)e * LINES_AT_ONCE * l.n + which : (size_t)which * l.pitch),
             i < count[b] && first_line + other < l.count);
      }
  }

  __device__ __forceinline__ void copy_modes(stage<tile, blocks, along> &to, unsigned first) const
  {
    typedef stage<tile, blocks, along> at;
#pragma unroll
    for (int b = 0; b < blocks; b++)
#pragma unroll
      for (int p = 0; p < PANELS; p++)
        copy(&to.modes[b][at::at_mode(mode_input, p * GMG_PANEL + mode_output)], mode[b] + ((size_t)p * count[b] + first) * GMG_PANEL,
             first + mode_input < count[b] && p < panels[b]);
  }
};

/* Adds the products of a stage to the sums of a warp, whose part of the tile starts at output o and line l. */
template <class tile, int blocks, int back, int along>
static __device__ __forceinline__ void multiply(const stage<tile, blocks, along> &s, int lane, unsigned o, unsigned l,
                                                piece (&sums)[blocks][tile::DOWN][tile::ACROSS])
{
  typedef stage<tile, blocks, along> at;
  factors_of_columns column[blocks][tile::ACROSS];
#pragma unroll
  for (int j = 0; j < tile::ACROSS; j++) {
#pragma unroll
    for (int b = 0; b < blocks; b++)
      column[b][j] = load_columns(lane, [&](int k, int c) { return s.values[b][at::at_value(k, l + j * COLUMNS + c)]; });
    if (blocks > 1 && !back) { /* even modes see the sum of a value and its mirror image, odd ones the difference */
#pragma unroll
      for (int k = 0; k < factors_of_columns::COUNT; k++) {
        const real a = column[0][j].x[k], mirrored = column[blocks - 1][j].x[k];
        column[0][j].x[k] = a + mirrored, column[blocks - 1][j].x[k] = a - mirrored;
      }
    }
  }
#pragma unroll
  for (int b = 0; b < blocks; b++)
#pragma unroll
    for (int i = 0; i < tile::DOWN; i++) {
      const factors_of_rows row = load_rows(lane, [&](int r, int k) { return s.modes[b][at::at_mode(k, o + i * ROWS + r)]; });
#pragma unroll
      for (int j = 0; j < tile::ACROSS; j++) multiply_add(sums[b][i][j], row, column[b][j]);
    }
}

/* Writes output o of both blocks. On the way back these are the sums of the even and of the odd modes. */
template <int blocks, int back>
static __device__ __forceinline__ void output(const lines &l, const divisors &d, scalar *y, unsigned line, unsigned o, real even_sum,
                                              real odd_sum)
{
  const unsigned even = blocks == 1 ? l.n : (l.n + 1) / 2, mirrored = l.n - 1 - o;
  if (o >= even) return;
  if (blocks == 1) {
    y[(size_t)o * l.pitch] = divided(d, even_sum, o, line);
  } else if (!back) {
    y[(size_t)o * l.pitch] = divided(d, even_sum, o, line);
    if (even + o < l.n) y[(size_t)(even + o) * l.pitch] = divided(d, odd_sum, even + o, line);
  } else {
    y[(size_t)o * l.pitch] = even_sum + odd_sum;
    if (mirrored != o) y[(size_t)mirrored * l.pitch] = even_sum - odd_sum;
  }
}

template <class tile, int blocks, int along> static constexpr size_t shared_bytes() { return STAGES * sizeof(stage<tile, blocks, along>); }

/* One axis. Thread blocks that read the same lines follow each other. */
template <class tile, int blocks, int back, int along>
static __global__ void __launch_bounds__(THREADS)
    transform_kernel(lines l, matrix even, matrix odd, divisors d, const scalar *from, scalar *to)
{
  extern __shared__ double room[];
  stage<tile, blocks, along> *const stages = (stage<tile, blocks, along> *)room;
  const matrix m[2] = {even, odd};
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const unsigned output_of_warp = warp / WARPS * tile::DOWN * ROWS, line_of_warp = warp % WARPS * tile::ACROSS * COLUMNS;
  const unsigned tiles_down = (even.count + tile::OUTPUTS - 1) / tile::OUTPUTS, steps = (even.count + DEPTH - 1) / DEPTH;
  const unsigned first_output = blockIdx.x % tiles_down * tile::OUTPUTS, first_line = blockIdx.x / tiles_down * tile::LINES;
  const copier<tile, blocks, back, along> copies(l, m, from, first_line, first_output);
  piece sums[blocks][tile::DOWN][tile::ACROSS] = {};
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
    multiply<tile, blocks, back, along>(stages[s % STAGES], lane, output_of_warp, line_of_warp, sums);
  }
#pragma unroll
  for (int j = 0; j < tile::ACROSS * 2; j++) {
    const unsigned line = first_line + line_of_warp + j / 2 * COLUMNS + column_of(lane, j % 2);
    if (line >= l.count) continue;
    scalar *y = to + start_of(l, line);
#pragma unroll
    for (int i = 0; i < tile::DOWN * 2; i++) {
      const unsigned o = first_output + output_of_warp + i / 2 * ROWS + row_of(lane, i % 2);
      output<blocks, back>(l, d, y, line, o, sums[0][i / 2][j / 2].sum[i % 2][j % 2],
                           blocks > 1 ? sums[blocks - 1][i / 2][j / 2].sum[i % 2][j % 2] : 0);
    }
  }
}

} // namespace

#endif
