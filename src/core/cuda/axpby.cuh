/* A correction added to a field, by pairs: on large fields this is as fast as memory. Included by cuda/vector.cu and cuda/stencil.cu,
   after cuda.h and real.h. */
#ifndef GMG_CORE_CUDA_AXPBY_H
#define GMG_CORE_CUDA_AXPBY_H

#include <stdint.h>

enum { GMG_CHANGED_PAIRS = 2 }; /* that a thread asks for at once, blockDim.x apart */

template <typename type> struct alignas(2 * sizeof(type)) gmg_pair_of {
  type a, b;
};

static __device__ __forceinline__ real number_of(real keep) { return keep; }
static __device__ __forceinline__ real number_of(const double *keep) { return (real)*keep; }

/* x = scale z + keep x, keep being a number or where it stands, x not being read where it is 0; given: the scale stands there; whole:
   both fields begin with an aligned pair. */
template <typename type, int whole, typename number>
static __global__ void __launch_bounds__(GMG_THREADS)
    change_kernel(size_t n, real scale, const double *given, const type *z, number kept, real *x)
{
  typedef gmg_pair_of<type> change;
  typedef gmg_pair_of<real> value;
  if (given) scale = (real)*given;
  const real keep = number_of(kept);
  const size_t all = n / 2, first = (size_t)blockIdx.x * GMG_CHANGED_PAIRS * blockDim.x + threadIdx.x;
  const size_t step = (size_t)gridDim.x * GMG_CHANGED_PAIRS * blockDim.x;
  for (size_t c = first; c < all; c += step) {
    change by[GMG_CHANGED_PAIRS];
    value v[GMG_CHANGED_PAIRS];
#pragma unroll
    for (int m = 0; m < GMG_CHANGED_PAIRS; m++) {
      const size_t i = c + m * blockDim.x;
      if (i >= all) continue;
      by[m] = whole ? ((const change *)z)[i] : change{z[2 * i], z[2 * i + 1]};
      v[m] = keep == 0 ? value{0, 0} : whole ? ((const value *)x)[i] : value{x[2 * i], x[2 * i + 1]};
    }
#pragma unroll
    for (int m = 0; m < GMG_CHANGED_PAIRS; m++) {
      const size_t i = c + m * blockDim.x;
      if (i >= all) continue;
      const value now = {scale * (real)by[m].a + keep * v[m].a, scale * (real)by[m].b + keep * v[m].b};
      if (whole) ((value *)x)[i] = now;
      else x[2 * i] = now.a, x[2 * i + 1] = now.b;
    }
  }
  if (n % 2 && first == 0) x[n - 1] = scale * (real)z[n - 1] + (keep == 0 ? (real)0 : keep * x[n - 1]);
}

template <typename type, typename number>
static void change_by(const gmg_exec *e, size_t n, double scale, const double *given, const type *z, number keep, real *x)
{
  const int whole = (uintptr_t)z % (2 * sizeof(type)) == 0 && (uintptr_t)x % (2 * sizeof(real)) == 0;
  const unsigned grid = gmg_flat_grid((n + 2 * GMG_CHANGED_PAIRS - 1) / (2 * GMG_CHANGED_PAIRS), 0);
  void (*const kernel)(size_t, real, const double *, const type *, number, real *) =
      whole ? change_kernel<type, 1, number> : change_kernel<type, 0, number>;
  kernel<<<grid, GMG_THREADS, 0, gmg_device_of(e)->stream>>>(n, (real)scale, given, z, keep, x);
  gmg_cuda_launched(e, "correction");
}

/* x = c + keep x */
template <typename number> static void change(const gmg_exec *e, size_t n, gmg_correction c, number keep, void *x)
{
  if (c.narrow) change_by(e, n, 1, c.size, (const narrow_real *)c.z, keep, (real *)x);
  else change_by(e, n, 1, c.size, (const real *)c.z, keep, (real *)x);
}

#endif
