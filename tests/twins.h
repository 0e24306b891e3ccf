/* A solver on the host and the same one on a CUDA device, and fields in both memories. The host's results are the reference. For
   CUDA tests, which are skipped if the library has no CUDA or there is no device. */
#ifndef GMG_TEST_TWINS_H
#define GMG_TEST_TWINS_H

#include "gmg_cuda.h"
#include "media.h"

#include "internals.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A solver on the host, and the same one on the device. */
typedef struct {
  gmg_context *context[2];
  gmg_solver *solver[2];
} both;
enum { HOST, DEVICE };

static inline both begin_both(const gmg_problem *p, const gmg_params *q, const char *name)
{
  both b;
  assert_int_equal(gmg_context_create_host(2, &b.context[HOST]), GMG_OK);
  assert_int_equal(gmg_context_create_cuda(0, NULL, &b.context[DEVICE]), GMG_OK);
  for (int i = 0; i < 2; i++) {
    const gmg_status status = i == DEVICE ? create_on_device(b.context[i], p, q, &b.solver[i])
                                          : gmg_solver_create(b.context[i], p, q, &b.solver[i]);
    if (status != GMG_OK) fail_msg("%s on the %s: %s", name, i ? "device" : "host", gmg_context_error(b.context[i]));
  }
  return b;
}

static inline void end_both(both *b)
{
  for (int i = 0; i < 2; i++) {
    assert_int_equal(b->solver[i]->exec.memory->health(b->context[i]), GMG_OK);
    gmg_solver_destroy(b->solver[i]);
    gmg_context_destroy(b->context[i]);
  }
}

/* Whether the plane kernel of "async", if it relaxes the finest level, does so in another way than the host: across the seam of an odd
   periodic axis, and beyond walls that mirror. Its own test is in cuda/async.c. */
static inline int continues_beyond_ends(const gmg_problem *p, const gmg_params *q)
{
  const gmg_async_params *a = &q->async;
  int continues = 0;
  for (int i = 0; i < p->dim; i++)
    for (int side = 0; side < 2; side++)
      continues |= p->bc[i][side] == GMG_PERIODIC ? (int)(p->n[i] % 2)
                                                  : p->centering == GMG_VERTEX && p->bc[i][side] != GMG_DIRICHLET;
  return continues && p->dim == 3 && !p->beta && !p->sigma && (a->local == GMG_LOCAL_RED_BLACK || a->local == GMG_LOCAL_AUTO) &&
         (a->local_sweeps == 2 || a->local_sweeps == 0) && (a->overlap == 1 || a->overlap == 0);
}

/* A field in both memories, with the same values. */
typedef struct {
  void *at[2];
  size_t n;
  gmg_exec exec[2];
} twin;

static inline twin begin_twin(const gmg_exec *host, const gmg_exec *device, size_t n, uint64_t seed)
{
  twin t = {.n = n, .exec = {*host, *device}};
  double *values = field(n, seed);
  for (int i = 0; i < 2; i++) {
    t.at[i] = t.exec[i].memory->alloc(t.exec[i].context, n * t.exec[i].real_size);
    assert_non_null(t.at[i]);
    gmg_exec_write_reals(&t.exec[i], t.at[i], n, values);
  }
  free(values);
  return t;
}

static inline void end_twin(twin *t)
{
  for (int i = 0; i < 2; i++) t->exec[i].memory->release(t->exec[i].context, t->at[i]);
}

/* The number of cycles and solves that the solver has recorded. */
static inline int recordings(const gmg_solver *s)
{
  int n = 0;
  for (int i = 0; i < GMG_RECORDINGS; i++) n += s->recording[i].graph != NULL;
  return n;
}

static inline double epsilon_of(const gmg_exec *e) { return gmg_type_traits_of(e->type)->epsilon; }

/* The largest difference divided by the largest value, in units in the last place. Frees the arrays' copies on the host. */
static inline double ulps(const gmg_exec *host, const gmg_exec *device, const void *a, const void *b, size_t n)
{
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), largest = 0, most = 0, differs;
  gmg_exec_read_reals(host, a, n, x);
  gmg_exec_read_reals(device, b, n, y);
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(x[i])), differs = fabs(x[i] - y[i]);
    most = isnan(differs) ? INFINITY : fmax(most, differs);
  }
  free(x), free(y);
  return most == 0 ? 0 : most / largest / epsilon_of(host);
}

static inline void same(const char *name, const char *what, const gmg_exec *host, const gmg_exec *device, const void *a, const void *b,
                 size_t n, double limit)
{
  const double u = ulps(host, device, a, b, n);
  if (!(u <= limit)) fail_msg("%s, %s: host and device differ by %g units in the last place, limit %g", name, what, u, limit);
}

static inline void same_twin(const char *name, const char *what, const twin *t, double limit)
{
  same(name, what, &t->exec[HOST], &t->exec[DEVICE], t->at[HOST], t->at[DEVICE], t->n, limit);
}

static inline void same_number(const char *name, const char *what, const gmg_exec *e, double a, double b, double limit)
{
  if (!(fabs(a - b) <= limit * epsilon_of(e) * fabs(a)))
    fail_msg("%s, %s: host %.17g, device %.17g", name, what, a, b);
}

/* An array of the problem's type with random values from 1 to `most`. */
static inline void *rough(const gmg_problem *p, size_t n, double most, uint64_t seed)
{
  double *x = field(n, seed);
  float *single = malloc(n * sizeof *single);
  for (size_t i = 0; i < n; i++) x[i] = exp(log(most) * (x[i] + 0.5)), single[i] = (float)x[i];
  free(p->type == GMG_F32 ? (void *)x : single);
  return p->type == GMG_F32 ? (void *)single : x;
}

#define ON_BOTH(i) for (int i = 0; i < 2; i++)

/* u after smoothing steps of both solvers on level l, on a random u or from zero. */
static inline twin begin_swept(const both *b, int l, int steps, gmg_leg leg, int from_zero)
{
  gmg_solver *const *s = b->solver;
  const gmg_exec *e[2] = {s[HOST]->levels_exec, s[DEVICE]->levels_exec};
  gmg_level *L[2] = {&s[HOST]->level[l], &s[DEVICE]->level[l]};
  const size_t n = L[HOST]->A.cells;
  twin u = begin_twin(e[HOST], e[DEVICE], n, 51), f = begin_twin(e[HOST], e[DEVICE], n, 52);
  ON_BOTH(i) {
    const gmg_smoother_ops *ops = s[i]->mg.smoother[l];
    if (from_zero && ops->sweep_from_zero) {
      ops->sweep_from_zero(&L[i]->view, s[i]->mg.state[l], f.at[i], u.at[i], steps, leg);
      continue;
    }
    if (from_zero) e[i]->vector->fill(e[i], n, 0, u.at[i]);
    ops->sweep(&L[i]->view, s[i]->mg.state[l], f.at[i], u.at[i], steps, leg);
  }
  end_twin(&f);
  return u;
}

/* Compares smoothing steps of both solvers on level l, on a random u or from zero. */
static inline void same_sweeps(const char *name, const char *what, const both *b, int l, int steps, gmg_leg leg, int from_zero,
                               double limit)
{
  twin u = begin_swept(b, l, steps, leg, from_zero);
  same_twin(name, what, &u, limit);
  end_twin(&u);
}

/* Parameters of the asynchronous smoother from a row of a table. */
static inline gmg_params relaxing(gmg_local_kind local, int sweeps, int overlap, gmg_block_order order, size_t x, size_t y, size_t z)
{
  gmg_params q = params_for_cycles();
  q.async.local = local, q.async.local_sweeps = sweeps, q.async.overlap = count_or_none(overlap), q.async.order = order;
  q.async.block[0] = x, q.async.block[1] = y, q.async.block[2] = z;
  return q;
}

typedef struct {
  const char *name;
  shape shape;
} plain_case;

static const plain_case plain[] = {
    {"1D cells", {1, {1000, 1, 1}, GMG_CELL, "dn"}},           {"1D vertices, periodic", {1, {65, 1, 1}, GMG_VERTEX, "pp"}},
    {"2D cells, Robin", {2, {67, 33, 1}, GMG_CELL, "drnd"}},   {"2D vertices, odd periodic", {2, {33, 31, 1}, GMG_VERTEX, "pppp"}},
    {"3D cells", {3, {32, 32, 32}, GMG_CELL, "dddddd"}},       {"3D vertices", {3, {31, 17, 20}, GMG_VERTEX, "ndrdpp"}},
    {"3D odd periodic, singular", {3, {25, 15, 17}, GMG_CELL, "pppppp"}}, {"3D thin box", {3, {40, 40, 5}, GMG_CELL, "ddddnn"}},
    {"one unknown", {3, {1, 1, 1}, GMG_CELL, "dddddd"}},       {"3D a prime", {3, {37, 3, 2}, GMG_VERTEX, "ddnnpp"}},
    /* sizes for kernels that process pairs of unknowns, on all levels or on some */
    {"3D pairs", {3, {72, 40, 24}, GMG_CELL, "dnddrd"}},       {"3D pairs, periodic", {3, {20, 64, 36}, GMG_CELL, "ppddpp"}},
    {"2D pairs", {2, {132, 264, 1}, GMG_CELL, "dndd"}},        {"2D pairs, periodic", {2, {64, 96, 1}, GMG_CELL, "pppp"}},
    {"2D few rows", {2, {500, 350, 1}, GMG_CELL, "ddpp"}},     {"3D other widths", {3, {44, 48, 40}, GMG_CELL, "ppdnrd"}}};
enum { PLAIN = sizeof plain / sizeof *plain };

#endif
