/* Random problems and parameters from a seed, for tests of arbitrary combinations. */
#ifndef GMG_TEST_SAMPLE_H
#define GMG_TEST_SAMPLE_H

#include "util.h"

typedef struct {
  gmg_problem p; /* its arrays belong to the sample */
  gmg_params q;
  int threads;
  int coefficients; /* 1: the problem has a coefficient array or a stretched axis */
  double *f, *g[3][2]; /* f and boundary values, rounded to the problem's type; g = NULL: none */
} sample;

/* Sizes 1 to 40 along each axis, `most` unknowns at most. coefficients: 0 none, 1 at least one kind. */
sample make_sample(uint64_t seed, size_t most, int coefficients);
void free_sample(sample *s);
int sample_is_singular(const sample *s);

size_t pick(uint64_t *random, size_t n); /* 0 .. n - 1 */
double log_between(uint64_t *random, double low, double high);

/* An array of the problem's type from doubles, and back; to be freed. */
void *typed(const gmg_problem *p, const double *x, size_t n);
double *untyped(const gmg_problem *p, const void *x, size_t n);

#endif
