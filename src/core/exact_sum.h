/* Sums that do not depend on the order of their terms, nor on which process adds which of them (Demmel, Nguyen 2015). For
   deterministic solves on the host. Calls nothing but comm.h; called by sums over fields.

   Integers can be added in any order. So every term is rounded to a multiple of one unit, and the multiples are added. The largest
   term determines the unit: for terms below 2^(30 (p + 1) - 1) it is 2^(30 (p - 2)). But terms come in groups, and a later one may
   have a larger term. So the integer is held in three digits of base 2^30. When a larger term comes, the lowest digits are dropped:
   they hold exactly what the coarser unit rounds away.

   The error is at most n / 2^60 times the largest of n terms, and the rounding of the result. */
#ifndef GMG_CORE_EXACT_SUM_H
#define GMG_CORE_EXACT_SUM_H

#include "exec.h"

#include <stdint.h>

enum { GMG_EXACT_DIGITS = 3 };

/* All zeros: an empty sum. At most 2^33 terms of all processes. */
typedef struct gmg_exact_sum {
  int top;                         /* power of 2^30 of the highest digit, minus the least such power */
  int64_t digit[GMG_EXACT_DIGITS]; /* the highest first; not normalised */
  double not_finite;               /* sum of terms that are NaN or infinite; 0: there are none */
} gmg_exact_sum;

/* Adds n terms, at most GMG_EXACT_TERMS. */
enum { GMG_EXACT_TERMS = 512 };
void gmg_exact_add(gmg_exact_sum *to, size_t n, const double *term);
void gmg_exact_merge(gmg_exact_sum *to, const gmg_exact_sum *more);

/* Every thread of a region with reduction(gmg_merge : sum) has a sum of its own, and they are merged at its end. */
#pragma omp declare reduction(gmg_merge : gmg_exact_sum : gmg_exact_merge(&omp_out, &omp_in))

/* The values of `count` sums, at most GMG_EXACT_COUNT, over all processes. All get the same bits. */
enum { GMG_EXACT_COUNT = 2 };
void gmg_exact_total(const gmg_exec *e, int count, gmg_exact_sum *sums, double *values);

/* Adds `term`, a double that depends on i, to an exact sum for i = begin .. end - 1. */
#define GMG_EXACT_SUM(to, i, begin, end, term)                                                            \
  do {                                                                                                    \
    double each_[GMG_EXACT_TERMS];                                                                        \
    for (size_t from_ = (begin); from_ < (end); from_ += GMG_EXACT_TERMS) {                               \
      const size_t count_ = (end) - from_ < GMG_EXACT_TERMS ? (end) - from_ : GMG_EXACT_TERMS;            \
      for (size_t i = from_; i < from_ + count_; i++) each_[i - from_] = (term);                          \
      gmg_exact_add(&(to), count_, each_);                                                                \
    }                                                                                                     \
  } while (0)

/* sum = factor times the sum of `term` for i = begin .. end - 1. If `exact` is set, adds factor * term to `to`, an exact sum, and
   sum = 0. `term` is a double that depends on i. */
#define GMG_SUM(sum, exact, to, i, begin, end, factor, term)                                              \
  do {                                                                                                    \
    double all_ = 0;                                                                                      \
    if (exact) GMG_EXACT_SUM(to, i, begin, end, (factor) * (term));                                       \
    else {                                                                                                \
      _Pragma("omp simd reduction(+ : all_)") for (size_t i = (begin); i < (end); i++) all_ += (term);    \
    }                                                                                                     \
    (sum) = (factor) * all_;                                                                              \
  } while (0)

#endif
