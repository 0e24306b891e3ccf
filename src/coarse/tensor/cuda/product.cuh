/* The product of two blocks in shared memory, added to the sums that a warp keeps in registers. Called by tensor.cu.
   Doubles are multiplied by the tensor cores where the device has them (compute capability 8.0 and up), with the rounding of fused
   multiply-adds in double. Floats are multiplied by ordinary instructions, because the tensor cores would round them to 10 bits. */
#ifndef GMG_COARSE_TENSOR_PRODUCT_CUH
#define GMG_COARSE_TENSOR_PRODUCT_CUH

#include "core/real.h"

namespace {

/* A warp computes pieces of ROWS x COLUMNS sums, from DEPTH products each. Of a piece, thread t of the warp has the sums of rows
   t / 4 and t / 4 + 8, each in columns 2 (t % 4) and 2 (t % 4) + 1. */
enum { ROWS = 16, COLUMNS = 8, DEPTH = 8, HALF = DEPTH / 2 };

struct piece {
  real sum[2][2];
};

static __device__ __forceinline__ int row_of(int lane, int half) { return lane / 4 + 8 * half; }
static __device__ __forceinline__ int column_of(int lane, int which) { return lane % 4 * 2 + which; }

/* Whether this is compiled for a device. An emulator of CUDA sets it to 0. */
#ifndef GMG_ON_DEVICE
#ifdef __CUDA_ARCH__
#define GMG_ON_DEVICE 1
#else
#define GMG_ON_DEVICE 0
#endif
#endif

#if GMG_ON_DEVICE && __CUDA_ARCH__ >= 800 && !GMG_REAL_F32
enum { TENSOR_CORES = 1 };
#else
enum { TENSOR_CORES = 0 };
#endif

/* The numbers of a block of rows that a thread multiplies, and those of a block of columns. */
struct factors_of_rows {
  enum { COUNT = TENSOR_CORES ? 4 : 2 * DEPTH };
  real x[COUNT];
};
struct factors_of_columns {
  enum { COUNT = TENSOR_CORES ? 2 : 2 * DEPTH };
  real x[COUNT];
};

/* at(row, k): entry of the block. */
template <class At> static __device__ __forceinline__ factors_of_rows load_rows(int lane, At at)
{
  factors_of_rows f;
  if (TENSOR_CORES)
    for (int i = 0; i < 4; i++) f.x[i] = at(row_of(lane, i % 2), lane % 4 + i / 2 * HALF);
  else
    for (int i = 0; i < 2 * DEPTH; i++) f.x[i] = at(row_of(lane, i % 2), i / 2);
  return f;
}

/* at(k, column): entry of the block. */
template <class At> static __device__ __forceinline__ factors_of_columns load_columns(int lane, At at)
{
  factors_of_columns f;
  if (TENSOR_CORES)
    for (int i = 0; i < 2; i++) f.x[i] = at(lane % 4 + i * HALF, lane / 4);
  else
    for (int i = 0; i < 2 * DEPTH; i++) f.x[i] = at(i / 2, column_of(lane, i % 2));
  return f;
}

static __device__ __forceinline__ void multiply_add(piece &p, const factors_of_rows &a, const factors_of_columns &b)
{
#if GMG_ON_DEVICE && __CUDA_ARCH__ >= 900 && !GMG_REAL_F32
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(p.sum[0][0]), "+d"(p.sum[0][1]), "+d"(p.sum[1][0]), "+d"(p.sum[1][1])
      : "d"(a.x[0]), "d"(a.x[1]), "d"(a.x[2]), "d"(a.x[3]), "d"(b.x[0]), "d"(b.x[1]));
#elif GMG_ON_DEVICE && __CUDA_ARCH__ >= 800 && !GMG_REAL_F32
  for (int half = 0; half < 2; half++)
    for (int i = 0; i < 2; i++)
      asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
          : "+d"(p.sum[i][0]), "+d"(p.sum[i][1])
          : "d"(a.x[i + 2 * half]), "d"(b.x[half]));
#else
  for (int k = 0; k < DEPTH; k++)
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++) p.sum[i][j] += a.x[2 * k + i] * b.x[2 * k + j];
#endif
}

} // namespace

#endif
