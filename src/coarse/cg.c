/* Conjugate gradients (Hestenes, Stiefel 1952) on the coarsest grid, in the inner product of the control volumes, in
   which A is symmetric, preconditioned by the diagonal: with jumps of beta that takes a quarter of the time. Written once for
   all backends. */
#include "coarse.h"

#include <math.h>

/* Backends that can do it in one go, where the grid is small enough. They return 0 where it is not. `inverse`: what at_once_prepare
   made of the matrix in at_once_bytes (0: nothing is prepared). */
typedef int at_once(const gmg_exec *e, const gmg_coarse_problem *p, void *inverse, void *r, void *u, void *z, void *d, void *q);
typedef size_t at_once_bytes(const gmg_operator *A);
typedef void at_once_prepare(const gmg_exec *e, const gmg_coarse_problem *p, void *inverse);

typedef struct {
  at_once_bytes *bytes;
  at_once_prepare *prepare[2];
  at_once *solve[2];
} whole_ops;

#ifdef GMG_CUDA
extern at_once_bytes gmg_coarse_direct_bytes_cuda;
extern at_once_prepare gmg_coarse_direct_cuda_f32, gmg_coarse_direct_cuda_f64;
extern at_once gmg_coarse_cg_cuda_f32, gmg_coarse_cg_cuda_f64;
#endif

static const whole_ops whole[] = {
    [GMG_BACKEND_HOST] = {NULL, {NULL, NULL}, {NULL, NULL}},
#ifdef GMG_CUDA
    [GMG_BACKEND_CUDA] = {gmg_coarse_direct_bytes_cuda,
                          {gmg_coarse_direct_cuda_f32, gmg_coarse_direct_cuda_f64},
                          {gmg_coarse_cg_cuda_f32, gmg_coarse_cg_cuda_f64}},
#endif
};

static size_t inverse_bytes(const gmg_exec *e, const gmg_coarse_problem *p)
{
  return whole[e->backend].bytes ? whole[e->backend].bytes(p->A) : 0;
}

/* z, p, q: fields of the coarsest grid, one after the other, after the inverse */
static size_t field_bytes(const gmg_exec *e, const gmg_coarse_problem *p)
{
  return (p->A->cells * e->real_size + 63) / 64 * 64;
}

static size_t state_bytes(const gmg_exec *e, const gmg_coarse_problem *p) { return inverse_bytes(e, p) + 3 * field_bytes(e, p); }

static gmg_status setup(gmg_exec *e, const gmg_coarse_problem *p, void **state)
{
  return gmg_exec_alloc(e, "coarse CG fields", state_bytes(e, p), state);
}

static gmg_status update(gmg_exec *e, const gmg_coarse_problem *p, void *state)
{
  if (!e->dry && inverse_bytes(e, p) > 0) whole[e->backend].prepare[e->type](e, p, state);
  return GMG_OK;
}

static void destroy(gmg_exec *e, const gmg_coarse_problem *p, void *state) { gmg_exec_release(e, state, state_bytes(e, p)); }

/* f becomes the residual. Directions are of the size of u and A p of that of f, so nothing leaves the range of the type. */
static void solve(const gmg_exec *e, const gmg_coarse_problem *problem, void *state, void *f, void *u)
{
  const gmg_operator *A = problem->A;
  const gmg_stencil_ops *stencil = gmg_stencil_of(e);
  const gmg_vector_ops *v = e->vector;
  const size_t n = A->cells, bytes = field_bytes(e, problem);
  void *r = f, *z = (char *)state + inverse_bytes(e, problem), *p = (char *)z + bytes, *q = (char *)p + bytes;

  at_once *const one = whole[e->backend].solve[e->type];
  if (one && one(e, problem, state, r, u, z, p, q)) return;
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
    .name = "cg", .most_cells = 0, .liked = 64, .setup = setup, .update = update, .solve = solve, .destroy = destroy};
