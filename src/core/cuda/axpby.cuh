/* Kernels that add a correction to a field, two values at a time, and that subtract a mean; chunks of fields; sums of scalars. On
   large fields adding a correction runs at memory bandwidth. Included by cuda/vector.cu and the stencil's cuda/stencil.cu, after
   device.h and real.h. */
#ifndef GMG_CORE_CUDA_AXPBY_H
#define GMG_CORE_CUDA_AXPBY_H

#include "pdl.cuh"

#include <stdint.h>

enum { AXPBY_PAIRS = 2 }; /* pairs that a thread loads at once; they are blockDim.x apart */

template <typename type> struct alignas(2 * sizeof(type)) gmg_pair_of {
  type a, b;
};

static __device__ __forceinline__ real number_of(real keep) { return keep; }
static __device__ __forceinline__ real number_of(const double *keep) { return (real)*keep; }

/* x = scale[0] z + keep old, where old may be x. scale = NULL means 1. keep is a number or a pointer to one; if it is 0, old is not
   read. aligned: all fields begin at an aligned pair. */
template <typename type, int aligned, typename number>
static __global__ void __launch_bounds__(GMG_THREADS)
    axpby_kernel(size_t n, const double *scale, const type *z, number kept, const scalar *old, scalar *x)
{
  typedef gmg_pair_of<type> change;
  typedef gmg_pair_of<scalar> value;
  gmg_wait_for_predecessor();
  const real a = scale ? (real)*scale : (real)1, keep = number_of(kept);
  const size_t all = n / 2, first = (size_t)blockIdx.x * AXPBY_PAIRS * blockDim.x + threadIdx.x;
  const size_t step = (size_t)gridDim.x * AXPBY_PAIRS * blockDim.x;
  for (size_t c = first; c < all; c += step) {
    change by[AXPBY_PAIRS];
    value v[AXPBY_PAIRS];
#pragma unroll
    for (int m = 0; m < AXPBY_PAIRS; m++) {
      const size_t i = c + m * blockDim.x;
      if (i >= all) continue;
      by[m] = aligned ? ((const change *)z)[i] : change{z[2 * i], z[2 * i + 1]};
      v[m] = keep == 0 ? value{0, 0} : aligned ? ((const value *)old)[i] : value{old[2 * i], old[2 * i + 1]};
    }
#pragma unroll
    for (int m = 0; m < AXPBY_PAIRS; m++) {
      const size_t i = c + m * blockDim.x;
      if (i >= all) continue;
      const value now = {a * (scalar)by[m].a + keep * v[m].a, a * (scalar)by[m].b + keep * v[m].b};
      if (aligned) ((value *)x)[i] = now;
      else x[2 * i] = now.a, x[2 * i + 1] = now.b;
    }
  }
  if (n % 2 && first == 0) x[n - 1] = a * (scalar)z[n - 1] + (keep == 0 ? (scalar)0 : keep * old[n - 1]);
}

/* Whether fields of this type begin at an aligned pair. */
template <typename type> static int begins_at_pair(const void *x) { return (uintptr_t)x % (2 * sizeof(type)) == 0; }

static inline gmg_launch_shape pairs_grid(size_t n) { return gmg_flat_shape((n + 2 * AXPBY_PAIRS - 1) / (2 * AXPBY_PAIRS)); }

template <typename type, typename number>
static void axpby(const gmg_exec *e, size_t n, const double *scale, const type *z, number keep, const scalar *old, scalar *x)
{
  const int aligned = begins_at_pair<type>(z) && begins_at_pair<scalar>(old) && begins_at_pair<scalar>(x);
  const auto kernel = aligned ? axpby_kernel<type, 1, number> : axpby_kernel<type, 0, number>;
  gmg_launch_early(e, "correction", kernel, pairs_grid(n), n, scale, z, keep, old, x);
}

/* x = c + keep old, where old may be x */
template <typename number>
static void add_correction(const gmg_exec *e, size_t n, gmg_correction c, number keep, const void *old, void *x)
{
  if (c.low) axpby(e, n, c.scale, (const low_scalar *)c.z, keep, (const scalar *)old, (scalar *)x);
  else axpby(e, n, c.scale, (const scalar *)c.z, keep, (const scalar *)old, (scalar *)x);
}

/* Unknowns that a thread loads at once, to hide the latency of memory. */
enum { AT_ONCE = 4 };

/* Calls body(c, full) for AT_ONCE entries from c on, blockDim.x apart. full: all entries of the chunk exist. */
template <class Body> static __device__ __forceinline__ void for_chunks(size_t n, Body body)
{
  for (size_t begin = (size_t)blockIdx.x * AT_ONCE * blockDim.x; begin < n; begin += (size_t)gridDim.x * AT_ONCE * blockDim.x)
    body(begin + threadIdx.x, begin + AT_ONCE * blockDim.x <= n);
}

static inline gmg_launch_shape chunk_grid(size_t n) { return gmg_flat_shape((n + AT_ONCE - 1) / AT_ONCE); }
static inline gmg_launch_shape sum_grid(size_t n) { return gmg_flat_shape((n + AT_ONCE - 1) / AT_ONCE, gmg_sum_blocks(n)); }

/* Calls body(i) for every i < n. If it only loads and adds, the loads of a chunk are issued at once. */
template <class Body> static __device__ __forceinline__ void for_each(size_t n, Body body)
{
  for_chunks(n, [&](size_t c, int full) {
    if (full) {
#pragma unroll
      for (int m = 0; m < AT_ONCE; m++) body(c + m * blockDim.x);
    } else
      for (size_t i = c; i < n; i += blockDim.x) body(i);
  });
}

/* Loads a chunk of x that begins at entry c; 0 beyond the end. */
static __device__ __forceinline__ void load_chunk(size_t n, size_t c, int full, const scalar *x, scalar v[AT_ONCE])
{
#pragma unroll
  for (int m = 0; m < AT_ONCE; m++) v[m] = full || c + m * blockDim.x < n ? x[c + m * blockDim.x] : (scalar)0;
}

/* Stores a chunk, without what is beyond the end. */
static __device__ __forceinline__ void store_chunk(size_t n, size_t c, int full, const scalar v[AT_ONCE], scalar *x)
{
#pragma unroll
  for (int m = 0; m < AT_ONCE; m++)
    if (full || c + m * blockDim.x < n) x[c + m * blockDim.x] = v[m];
}

/* Adds a scalar to a total, which holds a sum of scalars: its real part (first) and its imaginary part (second). */
static __device__ __forceinline__ void add_scalar(gmg_total &t, wide_scalar x)
{
  t.first += gmg_real_part(x), t.second += gmg_imaginary_part(x);
}

/* mean = sum / volume. Returns 0 if nothing is to be subtracted: from a guess of zeros, or if the mean is not fit. */
static __device__ __forceinline__ int find_mean(const gmg_total *sum, double volume, scalar *mean)
{
  const double re = sum->first / volume, im = sum->second / volume;
  *mean = (scalar)gmg_wide(re, im);
  return (re != 0 || im != 0) && gmg_is_fit_mean(re, im);
}

/* Subtracts sum / volume. For an unweighted mean, volume is the number of unknowns. */
static __global__ void subtract_mean_kernel(size_t n, const gmg_total *sum, double volume, scalar *x)
{
  scalar mean;
  gmg_wait_for_predecessor();
  if (!find_mean(sum, volume, &mean)) return;
  for_chunks(n, [&](size_t c, int full) {
    scalar v[AT_ONCE];
    load_chunk(n, c, full, x, v);
#pragma unroll
    for (int m = 0; m < AT_ONCE; m++) v[m] -= mean;
    store_chunk(n, c, full, v, x);
  });
}

#endif
