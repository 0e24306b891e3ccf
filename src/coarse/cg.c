/* Conjugate gradients (Hestenes, Stiefel 1952) on the coarsest grid, in the inner product of the control volumes, in
   which A is symmetric, preconditioned by the diagonal: with jumps of beta that takes a quarter of the time. Written once for
   all backends. */
#include "coarse.h"

#include <math.h>

/* z, p, q: fields of the coarsest grid, one after the other */
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

/* Backends that can do it in one go, where the grid is small enough. They return 0 where it is not. */
typedef int at_once(const gmg_exec *e, const gmg_coarse_problem *p, void *r, void *u, void *z, void *d, void *q);

#ifdef GMG_CUDA
extern at_once gmg_coarse_cg_cuda_f32, gmg_coarse_cg_cuda_f64;
#endif

static at_once *const whole[][2] = {
    [GMG_BACKEND_HOST] = {NULL, NULL},
#ifdef GMG_CUDA
    [GMG_BACKEND_CUDA] = {gmg_coarse_cg_cuda_f32, gmg_coarse_cg_cuda_f64},
#endif
};

/* f becomes the residual. Directions are of the size of u and A p of that of f, so nothing leaves the range of the type. */
static void solve(const gmg_exec *e, const gmg_coarse_problem *problem, void *state, void *f, void *u)
{
  const gmg_operator *A = problem->A;
  const gmg_stencil_ops *stencil = gmg_stencil_of(e);
  const gmg_vector_ops *v = e->vector;
  const size_t n = A->cells, bytes = field_bytes(e, problem);
  void *r = f, *z = state, *p = (char *)state + bytes, *q = (char *)state + 2 * bytes;

  at_once *const one = whole[e->backend][e->type];
  if (one && one(e, problem, r, u, z, p, q)) return;
  if (problem->singular) gmg_remove_mean(e, A, problem->volume, r);
  v->fill(e, n, 0, u);
  stencil->over_diagonal(e, A, r, z);
  v->copy(e, n, z, p);
  double rz = stencil->dot(e, A, r, z);
  const double stop = rz * problem->rtol * problem->rtol;
  for (size_t i = 0; i < 10 * n + 100 && rz > stop; i++) {
    stencil->apply(e, A, p, q);
    const double pq = stencil->dot(e, A, p, q), alpha = rz / pq, before = rz;
    if (!(pq > 0) || !isfinite(alpha)) break; /* rounding has used up the directions */
    v->axpy(e, n, alpha, p, u);
    v->axpy(e, n, -alpha, q, r);
    if (problem->singular) gmg_remove_mean(e, A, problem->volume, r);
    stencil->over_diagonal(e, A, r, z);
    rz = stencil->dot(e, A, r, z);
    v->xpay(e, n, z, rz / before, p);
  }
  if (problem->singular) gmg_remove_mean(e, A, problem->volume, u);
}

const gmg_coarse_ops gmg_coarse_cg = {
    .name = "cg", .most_cells = 0, .liked = 64, .setup = setup, .solve = solve, .destroy = destroy};
