/* Conjugate gradients (Hestenes, Stiefel 1952) on the coarsest grid. The inner product is weighted by the control volumes, which
   makes A symmetric. The diagonal is the preconditioner: with jumps of beta it saves three quarters of the time. Written once for
   all backends; called through gmg_bottom_ops. */
#include "kernels.h"

#include "core/cg_scalars.h"

static size_t inverse_bytes(const gmg_exec *e, const gmg_bottom_problem *p)
{
  const gmg_coarse_kernels *k = gmg_coarse_kernels_of(e);
  return k->inverse_bytes && p->level[0].A->kind == &gmg_seven_point ? k->inverse_bytes(p->level[0].A) : 0;
}

/* z, p and q are stored one after the other, after the inverse. */
static size_t field_bytes(const gmg_exec *e, const gmg_bottom_problem *p)
{
  return (p->level[0].A->cells * e->real_size + 63) / 64 * 64;
}

static gmg_status setup(gmg_exec *e, const gmg_bottom_problem *p, void **state)
{
  return gmg_exec_alloc(e, "coarse CG fields", inverse_bytes(e, p) + 3 * field_bytes(e, p), state);
}

static gmg_status update(gmg_exec *e, const gmg_bottom_problem *p, void *state)
{
  if (!e->dry && inverse_bytes(e, p) > 0) gmg_coarse_kernels_of(e)->invert(e, p, state);
  return GMG_OK;
}

/* f becomes the residual. Directions have the magnitude of u, and A p that of f, so nothing leaves the range of the type. */
static void solve(const gmg_exec *e, const gmg_bottom_problem *problem, void *state, int level, void *f, void *u,
                  gmg_cycle_kind kind, gmg_start start)
{
  (void)level, (void)kind, (void)start;
  const gmg_operator *A = problem->level[0].A;
  const gmg_grid_ops *grid = gmg_grid_ops_of(e);
  const gmg_vector_ops *v = e->vector;
  const size_t n = A->cells, bytes = field_bytes(e, problem);
  void *r = f, *z = (char *)state + inverse_bytes(e, problem), *p = (char *)z + bytes, *q = (char *)p + bytes;

  const gmg_coarse_kernels *own = gmg_coarse_kernels_of(e);
  if (own->cg && A->kind == &gmg_seven_point && own->cg(e, problem, state, r, u, p, q)) return;
  if (problem->singular) grid->remove_mean(e, A, problem->level[0].volume, r);
  v->fill(e, n, 0, u);
  gmg_operator_of(e, A)->over_diagonal(e, A, r, z);
  v->copy(e, n, z, p);
  gmg_cg_run cg = gmg_cg_begin(grid->dot(e, A, r, z).re, problem->rtol);
  for (size_t iteration = 0; gmg_cg_goes_on(&cg, iteration, n); iteration++) {
    gmg_operator_of(e, A)->apply(e, A, p, q);
    if (!gmg_cg_set_alpha(&cg, grid->dot(e, A, p, q).re)) break;
    v->axpy(e, n, cg.alpha, p, u);
    v->axpy(e, n, -cg.alpha, q, r);
    if (problem->singular) grid->remove_mean(e, A, problem->level[0].volume, r);
    gmg_operator_of(e, A)->over_diagonal(e, A, r, z);
    gmg_cg_set_rz(&cg, grid->dot(e, A, r, z).re);
    v->xpay(e, n, z, cg.beta, p);
  }
  if (problem->singular) grid->remove_mean(e, A, problem->level[0].volume, u);
}

const gmg_bottom_ops gmg_coarsest_cg = {
    .name = "cg", .preferred_cells = {64, 64},
    .setup = setup, .update = update, .solve = solve};
