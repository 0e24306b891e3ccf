/* Transforms of axes to modes and back: what the kernels share. A warp computes outputs x lines from blocks of modes and of values,
   wherever those are. Included by transform.cuh and shared.cuh. */
#ifndef GMG_COARSE_TENSOR_AXIS_CUH
#define GMG_COARSE_TENSOR_AXIS_CUH

#include "product.cuh"

#include <cuda_pipeline.h>

namespace {

enum { WARP = 32 };

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

/* Outputs up to here are in panels. */
static __device__ __forceinline__ unsigned padded_count(const matrix &m)
{
  return (m.count + GMG_PANEL - 1) / GMG_PANEL * GMG_PANEL;
}

/* Matrices are copied in pieces of 16 bytes. */
enum { PIECE = 16 / sizeof(real) };

static __device__ __forceinline__ void clear_piece(real *to)
{
#pragma unroll
  for (int i = 0; i < PIECE; i++) to[i] = 0;
}

/* Copies the piece with outputs o and up of an input to shared memory, asynchronously. Beyond the matrix there are zeros. */
static __device__ __forceinline__ void copy_piece(real *to, const matrix &m, unsigned input, unsigned o)
{
  if (input < m.count && o < padded_count(m)) {
    __pipeline_memcpy_async(to, m.at + (o / GMG_PANEL * m.count + input) * GMG_PANEL + o % GMG_PANEL, PIECE * sizeof *to);
  } else clear_piece(to);
}

/* The modes of an axis: all of them, or the even and the odd ones. */
struct matrices {
  matrix block[2];
};

/* What coefficients are divided by after the last transform to modes: the operator of the line, for the eigenvalue of the output.
   output NULL: they are not divided. */
struct divisors {
  const real *output, *line[2]; /* eigenvalues; line[1] NULL: no second axis */
  unsigned along;               /* modes of the first axis */
  gmg_mode_factors factors;
  int singular; /* the divisor 0 of the constant mode stands for infinity */
};

/* 1 / x for a normal x, to rounding accuracy: an approximation and two steps of Newton's method. With divisions instead, the
   transform of 256^3 that divides takes 353 us instead of 226 on an H200. */
static __device__ __forceinline__ real inverse_of(real x)
{
#if GMG_ON_DEVICE && !GMG_REAL_F32
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  for (int i = 0; i < 2; i++) y = fma(fma(-x, y, 1.0), y, y);
  return y;
#else
  return 1 / x;
#endif
}

static __device__ __forceinline__ gmg_mode_operator operator_of_line(const divisors &d, unsigned line)
{
  return d.line[1] ? gmg_mode_operator_of(&d.factors, d.line[0][line % d.along], d.line[1][line / d.along])
                   : gmg_mode_operator_of(&d.factors, d.line[0][line], 0);
}

static __device__ __forceinline__ real inverse_divisor(const divisors &d, unsigned o, gmg_mode_operator of_line)
{
  const real by = of_line.slope * d.output[o] + of_line.constant;
  return d.singular && by == 0 ? 0 : inverse_of(by);
}

/* The sums of a warp: `down` x `across` pieces for each block of modes. */
template <int blocks, int down, int across> struct warp_sums {
  enum { OUTPUTS = down * ROWS, LINES = across * COLUMNS };
  piece of[blocks][down][across];
};

/* The input of block b that belongs to input i. With two blocks it is a value or its mirror image, or in the inverse
   transform the coefficient of an even or an odd mode. */
template <int back> static __device__ __forceinline__ unsigned input_of(int b, unsigned i, unsigned n, unsigned count_of_even)
{
  return b == 0 ? i : back ? count_of_even + i : n - 1 - i;
}

/* Adds the products of DEPTH inputs. modes(b, output, k) and values(b, k, line): of block b, counted from the warp's first. */
template <int back, int blocks, int down, int across, class Modes, class Values>
static __device__ __forceinline__ void add_products(int lane, warp_sums<blocks, down, across> &sums, Modes modes, Values values)
{
  factors_of_columns column[blocks][across];
#pragma unroll
  for (int j = 0; j < across; j++) {
#pragma unroll
    for (int b = 0; b < blocks; b++)
      column[b][j] = load_columns(lane, [&](int k, int c) { return values(b, k, j * COLUMNS + c); });
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
    for (int i = 0; i < down; i++) {
      const factors_of_rows row = load_rows(lane, [&](int r, int k) { return modes(b, i * ROWS + r, k); });
#pragma unroll
      for (int j = 0; j < across; j++) multiply_add(sums.of[b][i][j], row, column[b][j]);
    }
}

/* Gives the outputs of a warp whose part starts at output o and line l to to_line(line)(output, value). */
template <int back, int blocks, int down, int across, class ToLine>
static __device__ __forceinline__ void put_outputs(int lane, const warp_sums<blocks, down, across> &sums, const lines &all,
                                                   unsigned o, unsigned l, ToLine to_line)
{
  const unsigned even = blocks == 1 ? all.n : (all.n + 1) / 2;
#pragma unroll
  for (int j = 0; j < across * 2; j++) {
    const unsigned line = l + j / 2 * COLUMNS + column_of(lane, j % 2);
    if (line >= all.count) continue;
    const auto put = to_line(line);
#pragma unroll
    for (int i = 0; i < down * 2; i++) {
      const unsigned output = o + i / 2 * ROWS + row_of(lane, i % 2), mirrored = all.n - 1 - output;
      const real a = sums.of[0][i / 2][j / 2].sum[i % 2][j % 2], b = sums.of[blocks - 1][i / 2][j / 2].sum[i % 2][j % 2];
      if (output >= even) continue;
      if (blocks == 1) {
        put(output, a);
      } else if (!back) {
        put(output, a);
        if (even + output < all.n) put(even + output, b);
      } else { /* a and b are the sums of the even and of the odd modes */
        put(output, a + b);
        if (mirrored != output) put(mirrored, a - b);
      }
    }
  }
}

} // namespace

#endif
