/* An axis and the next coarser one, for tests of the maps between them (transfer.c, maps.c). Each program has one source file. */
#ifndef GMG_TESTS_UNIT_PAIR_OF_AXES_H
#define GMG_TESTS_UNIT_PAIR_OF_AXES_H

#include "sample.h"

#include "internals.h"

static const char *const pairs[] = {"dd", "dn", "nd", "nn", "dr", "rr", "pp"};
static const size_t sizes[] = {2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 34, 35, 64, 65, 67, 97, 101};
enum { PAIRS = sizeof pairs / sizeof *pairs, SIZES = sizeof sizes / sizeof *sizes };

typedef struct {
  gmg_context *context;
  gmg_exec exec;
  gmg_axis fine, coarse;
} pair_of_axes;

static inline pair_of_axes make_pair(size_t n, gmg_centering centering, const char *bc)
{
  pair_of_axes x = {0};
  const gmg_problem p = make_problem(1, n, 1, 1, centering, bc);
  assert_int_equal(gmg_context_create_host(1, &x.context), GMG_OK);
  x.exec = gmg_exec_make(x.context, GMG_F64, 0);
  const gmg_axis_spec fine = gmg_axis_spec_of(&p, 0), coarse = gmg_axis_spec_coarsened(&fine);
  assert_true(coarse.n < fine.n && coarse.n >= 1);
  assert_ok(x.context, gmg_axis_create(x.context, &fine, &x.fine));
  assert_ok(x.context, gmg_axis_create(x.context, &coarse, &x.coarse));
  assert_near(x.coarse.spec.length, x.fine.spec.length, 1e-15);
  return x;
}

static inline void end_pair(pair_of_axes *x)
{
  gmg_axis_destroy(&x->fine);
  gmg_axis_destroy(&x->coarse);
  gmg_exec_release(&x->exec);
  gmg_context_destroy(x->context);
}

static inline void for_all(void (*check)(pair_of_axes *x, const char *bc))
{
  for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
    for (int b = 0; b < PAIRS; b++)
      for (int i = 0; i < SIZES; i++) {
        pair_of_axes x = make_pair(sizes[i], centering, pairs[b]);
        check(&x, pairs[b]);
        end_pair(&x);
      }
}

#endif
