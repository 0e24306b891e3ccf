/* Vector operations of kernel files that are compiled for complex scalars, against C99 arithmetic. Shared by the tests of the host
   and of a device. Values are double complex here. In exec's memory they have the table's type. */
#ifndef GMG_TEST_COMPLEX_VECTORS_H
#define GMG_TEST_COMPLEX_VECTORS_H

#include "util.h"

#include "internals.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;

extern const gmg_vector_ops gmg_vector_host_c32, gmg_vector_host_c64, gmg_vector_cuda_c32, gmg_vector_cuda_c64;

/* An exec of a context with complex vector operations. */
static inline gmg_exec complex_exec(gmg_context *context, gmg_type type, const gmg_vector_ops *vector)
{
  gmg_exec e = gmg_exec_make(context, type, 0);
  e.vector = vector, e.real_size *= 2;
  return e;
}

/* Random values; for GMG_F32 rounded to float. */
static inline number *numbers(size_t n, gmg_type type, uint64_t seed)
{
  number *x = (number *)field(2 * n, seed);
  for (size_t i = 0; i < 2 * n && type == GMG_F32; i++) ((double *)x)[i] = (double)(float)((double *)x)[i];
  return x;
}

/* Bytes in exec's memory, copied from the host. */
static inline void *put_bytes(const gmg_exec *e, size_t bytes, const void *from)
{
  void *p = e->memory->alloc(e->context, bytes);
  assert_non_null(p);
  e->memory->upload(e->context, p, from, bytes);
  return p;
}

static inline void *put_numbers(const gmg_exec *e, size_t n, gmg_type type, const number *x)
{
  float complex *single = malloc(n * sizeof *single);
  for (size_t i = 0; i < n; i++) single[i] = (float complex)x[i];
  void *p = type == GMG_F32 ? put_bytes(e, n * sizeof *single, single) : put_bytes(e, n * sizeof *x, x);
  free(single);
  return p;
}

/* Compares values in exec's memory with the wanted ones, with this many units in the last place of `size` as tolerance, and frees
   them. */
static inline void take_numbers(const gmg_exec *e, const char *what, size_t n, gmg_type type, void *p, const number *wanted,
                                double ulps, double size)
{
  const double epsilon = type == GMG_F32 ? FLT_EPSILON : DBL_EPSILON;
  number *x = malloc(n * sizeof *x);
  float complex *single = malloc(n * sizeof *single);
  e->memory->download(e->context, type == GMG_F32 ? (void *)single : x, p, n * (type == GMG_F32 ? sizeof *single : sizeof *x));
  for (size_t i = 0; i < n; i++) {
    const number got = type == GMG_F32 ? (number)single[i] : x[i];
    if (!(cabs(got - wanted[i]) <= ulps * epsilon * size))
      fail_msg("%s, %zu of %zu: %g + %g i, not %g + %g i", what, i, n, creal(got), cimag(got), creal(wanted[i]), cimag(wanted[i]));
  }
  e->memory->release(e->context, p);
  free(x), free(single);
}

static inline double norm_of(size_t n, const number *x)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += creal(x[i]) * creal(x[i]) + cimag(x[i]) * cimag(x[i]);
  return sqrt(sum);
}

static inline number dot_of(size_t n, const number *x, const number *y)
{
  number sum = 0;
  for (size_t i = 0; i < n; i++) sum += conj(x[i]) * y[i];
  return sum;
}

static inline void assert_number(gmg_number got, number wanted, double tolerance)
{
  assert_near(got.re, creal(wanted), tolerance);
  assert_near(got.im, cimag(wanted), tolerance);
}

/* y = y + a x, y = x + a y, x = a, y = x, and the norm. */
static inline void check_updates(const gmg_exec *e, gmg_type type, size_t n)
{
  const gmg_vector_ops *v = e->vector;
  number *x = numbers(n, type, 1), *y = numbers(n, type, 2);
  void *X = put_numbers(e, n, type, x), *Y = put_numbers(e, n, type, y), *Z = put_numbers(e, n, type, x);
  v->axpy(e, n, 0.25, X, Y);
  v->xpay(e, n, Y, -1.5, X);
  v->copy(e, n, X, Z);
  const double norm = v->norm2(e, n, Z);
  for (size_t i = 0; i < n; i++) y[i] += 0.25 * x[i], x[i] = y[i] - 1.5 * x[i];
  take_numbers(e, "axpy", n, type, Y, y, 4, 1);
  take_numbers(e, "xpay", n, type, X, x, 8, 1);
  assert_near(norm, norm_of(n, x), (type == GMG_F64 ? 1e-13 : 1e-5) * norm);
  take_numbers(e, "copy", n, type, Z, x, 8, 1);
  for (int k = 0; k < 2; k++) { /* zeros are a separate case in the code */
    void *F = put_numbers(e, n, type, y);
    v->fill(e, n, 2.5 * k, F);
    for (size_t i = 0; i < n; i++) x[i] = 2.5 * k;
    take_numbers(e, "fill", n, type, F, x, 0, 1);
  }
  free(x), free(y);
}

/* A norm is real; an inner product is a scalar, and conjugates its first factor. */
static inline void check_sums(const gmg_exec *e, gmg_type type, size_t n)
{
  const gmg_vector_ops *v = e->vector;
  number *x = numbers(n, type, 3), *y = numbers(n, type, 4), mean = 0;
  const double norm = norm_of(n, x), room = 1e-13 * norm * norm_of(n, y);
  void *X = put_numbers(e, n, type, x), *Y = put_numbers(e, n, type, y);
  assert_near(v->norm2(e, n, X), norm, 1e-13 * norm);
  assert_number(v->dot(e, n, X, Y), dot_of(n, x, y), room);
  assert_number(v->dot(e, n, Y, X), conj(dot_of(n, x, y)), room);
  assert_number(v->dot(e, n, X, X), norm * norm, 1e-13 * norm * norm);
  assert_null(v->range);
  v->subtract_mean(e, n, X);
  for (size_t i = 0; i < n; i++) mean += x[i] / (double)n;
  for (size_t i = 0; i < n; i++) x[i] -= mean;
  take_numbers(e, "subtract_mean", n, type, X, x, 4, 1);
  y[0] = NAN * I;
  void *bad = put_numbers(e, n, type, y);
  assert_true(isnan(v->norm2(e, n, bad)));
  e->memory->release(e->context, Y), e->memory->release(e->context, bad);
  free(x), free(y);
}

/* x = scale z + keep x; z in either precision. */
static inline void check_corrections(const gmg_exec *e, gmg_type type, size_t n)
{
  const double scale = 0.375;
  void *SCALE = put_bytes(e, sizeof scale, &scale);
  for (int low = 0; low < 2; low++)
    for (int scaled = 0; scaled < 2; scaled++)
      for (int keep = 0; keep < 2; keep++) {
        const gmg_type z_type = low ? GMG_F32 : type;
        number *x = numbers(n, type, 5), *z = numbers(n, z_type, 6);
        void *X, *Z = put_numbers(e, n, z_type, z);
        for (size_t i = 0; i < n && !keep; i++) x[i] = NAN; /* not read */
        X = put_numbers(e, n, type, x);
        e->vector->correct(e, n, (gmg_correction){.z = Z, .scale = scaled ? SCALE : NULL, .low = low}, keep, X);
        for (size_t i = 0; i < n; i++) x[i] = (scaled ? scale : 1) * z[i] + (keep ? x[i] : 0);
        take_numbers(e, "correct", n, type, X, x, 4, 1);
        e->memory->release(e->context, Z);
        free(x), free(z);
      }
  e->memory->release(e->context, SCALE);
}

/* Scaled copies in low precision, and the recorded norm and scale. */
static inline void check_scales(const gmg_exec *e, gmg_type type, size_t n)
{
  number *x = numbers(n, type, 7), *z = numbers(n, type, 8);
  for (size_t i = 0; i < n; i++) x[i] *= 0x1p30;
  const double norm = norm_of(n, x);
  gmg_scale s = {0};
  void *X = put_numbers(e, n, type, x), *Z[2] = {put_numbers(e, n, GMG_F32, z), put_numbers(e, n, GMG_F32, z)};
  gmg_scale *S = put_bytes(e, sizeof s, &s);
  e->vector->normalize_to_low(e, n, X, S, Z[0]);
  e->vector->scale_to_low(e, n, &S->divisor, X, Z[1]);
  e->memory->download(e->context, &s, S, sizeof s);
  assert_near(s.next * norm, 1, 1e-12);
  assert_true(s.divisor > 1e-7 * norm && s.divisor < 1e7 * norm); /* a device may use an estimate of the norm */
  for (size_t i = 0; i < n; i++) z[i] = x[i] / s.divisor;
  for (int k = 0; k < 2; k++) take_numbers(e, "to low precision", n, GMG_F32, Z[k], z, 4, 0x1p30 / s.divisor);
  e->memory->release(e->context, X), e->memory->release(e->context, S);
  free(x), free(z);
}

/* y = y + a p, r = r - a q with a real step a; the norm of r. Without a direction nothing moves. */
static inline void check_steps(const gmg_exec *e, gmg_type type, size_t n)
{
  for (int steps = 0; steps < 2; steps++) {
    number *p = numbers(n, type, 9), *q = numbers(n, type, 10), *y = numbers(n, type, 11), *r = numbers(n, type, 12);
    const double a = steps ? 0.75 : 0;
    gmg_cg_scalars d = {.pq = steps ? 4 : 0, .pr = 3};
    void *P = put_numbers(e, n, type, p), *Q = put_numbers(e, n, type, q), *Y = put_numbers(e, n, type, y);
    void *RES = put_numbers(e, n, type, r);
    gmg_cg_scalars *D = put_bytes(e, sizeof d, &d);
    const double norm = e->vector->cg_update(e, n, D, P, Q, Y, RES, GMG_WAIT);
    for (size_t i = 0; i < n; i++) y[i] += a * p[i], r[i] -= a * q[i];
    assert_near(norm, norm_of(n, r), 1e-6 * norm);
    take_numbers(e, "step: y", n, type, Y, y, 4, 1);
    take_numbers(e, "step: r", n, type, RES, r, 4, 1);
    void *const rest[] = {P, Q, D};
    for (int i = 0; i < COUNT(rest); i++) e->memory->release(e->context, rest[i]);
    free(p), free(q), free(y), free(r);
  }
}

static inline void check_complex_vectors(gmg_context *context, gmg_type type, const gmg_vector_ops *vector)
{
  static const size_t sizes[] = {1, 2, 777, 20001};
  const gmg_exec e = complex_exec(context, type, vector);
  for (int i = 0; i < COUNT(sizes); i++) {
    check_updates(&e, type, sizes[i]);
    check_sums(&e, type, sizes[i]);
    check_corrections(&e, type, sizes[i]);
    check_scales(&e, type, sizes[i]);
    check_steps(&e, type, sizes[i]);
  }
}

#endif
