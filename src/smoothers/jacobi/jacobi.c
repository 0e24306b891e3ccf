/* Weighted Jacobi: symbol and parameters. All unknowns are relaxed from the values before the sweep. Its functions are in host.c
   and cuda.cu. Called through registry.c. */
#include "core/backend.h"
#include "smoothers/fourier.h"
#include "smoothers/weight.h"

static void symbol(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  (void)leg;
  gmg_symbol_jacobi(s, gmg_weight_jacobi(A, p), 1);
}

/* For any operator, with the operator's own functions: u = u + omega D^-1 (f - A u) in three passes. */
static void sweep_any(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state, (void)leg;
  const gmg_operator_ops *op = gmg_operator_of(l->exec, l->A);
  const double omega = gmg_weight_jacobi(l->A, l->params);
  for (int s = 0; s < steps; s++) {
    gmg_level_residual(l, f, u, l->scratch);
    op->over_diagonal(l->exec, l->A, l->scratch, l->scratch);
    l->exec->vector->axpy(l->exec, l->A->cells, omega, l->scratch, u);
  }
}

static int ghosts(const gmg_params *p, int has_seams, int relaxes_ghosts)
{
  (void)p, (void)has_seams, (void)relaxes_ghosts;
  return 1;
}

static const gmg_smoother_ops any = {.sweep = sweep_any};

static const gmg_option options[] = {GMG_OPTION(DOUBLE, omega, 0, 0, 2), {0}};

extern const gmg_smoother_ops gmg_jacobi_host_f32, gmg_jacobi_host_f64, gmg_jacobi_cuda_f32, gmg_jacobi_cuda_f64;

const gmg_builtin_smoother gmg_smoother_jacobi = {
    .base = {.name = "jacobi",
             .traits = gmg_traits_of_fixed_map,
             .weight = gmg_weight_jacobi,
             .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_jacobi_host_f32, [GMG_F64] = &gmg_jacobi_host_f64},
                     [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_jacobi_cuda_f32),
                                           [GMG_F64] = GMG_ON_CUDA(&gmg_jacobi_cuda_f64)}}},
    .any = &any,
    .symbol = symbol,
    .over_correction = gmg_over_correction,
    .ghosts = ghosts,
    .options = options};
