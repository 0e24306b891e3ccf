/* Conjugate gradients (Hestenes, Stiefel 1952) on the coarsest grid, in the inner product of the control volumes, in
   which A is symmetric. Written once for all backends. */
#include "coarse.h"

#include <math.h>

/* r, p, q: fields of the coarsest grid, one after the other */
static size_t field_bytes(const gmg_exec *e, const gmg_coarse_problem *p)
{
  return (p->A->cells * e->real_size + 63) / 64 * 64;
}

static gmg_status setup(gmg_exec *e, const gmg_coarse_problem *p, void **state)
{
  return gmg_exec_alloc(e, "coarse CG fields", 3 * field_bytes(e, p), state);
}

static void destroy(gmg_exec *e, const gmg_coarse_problem *p, void *state)
{
  gmg_exec_release(e, state, 3 * field_bytes(e, p));
}

static void solve(const gmg_exec *e, const gmg_coarse_problem *problem, void *state, void *f, void *u)
{
  const gmg_operator *A = problem->A;
  const gmg_stencil_ops *stencil = gmg_stencil_of(e);
  const gmg_vector_ops *v = e->vector;
  const size_t n = A->cells, bytes = field_bytes(e, problem);
  void *r = state, *p = (char *)state + bytes, *q = (char *)state + 2 * bytes;

  /* r is kept divided by d, a typical diagonal: directions are then of the size of u, and A p of the size of f, where A f
     might leave the range of the type. */
  const double typical = gmg_operator_sink(A) + 2 * (A->coupling[0] + A->coupling[1] + A->coupling[2]);
  const double d = typical > 0 ? typical : 1;

  if (problem->singular) gmg_remove_mean(e, A, problem->volume, f);
  v->fill(e, n, 0, u);
  v->fill(e, n, 0, r);
  v->axpy(e, n, 1 / d, f, r);
  v->copy(e, n, r, p);
  double rr = stencil->dot(e, A, r, r);
  const double stop = rr * problem->rtol * problem->rtol;
  for (size_t i = 0; i < 10 * n + 100 && rr > stop; i++) {
    stencil->apply(e, A, p, q);
    const double pq = stencil->dot(e, A, p, q);
    if (!(pq > 0) || !isfinite(pq)) break; /* rounding has used up the directions */
    const double alpha = d * rr / pq;
    v->axpy(e, n, alpha, p, u);
    v->axpy(e, n, -alpha / d, q, r);
    if (problem->singular) gmg_remove_mean(e, A, problem->volume, r);
    const double before = rr;
    rr = stencil->dot(e, A, r, r);
    v->xpay(e, n, r, rr / before, p);
  }
  if (problem->singular) gmg_remove_mean(e, A, problem->volume, u);
}

const gmg_coarse_ops gmg_coarse_cg = {
    .name = "cg", .most_cells = 0, .liked = 64, .setup = setup, .solve = solve, .destroy = destroy};
