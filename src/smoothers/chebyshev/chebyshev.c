/* Chebyshev polynomial smoother (Adams, Brezina, Hu, Tuminaro 2003): symbol and parameters. Its degree is params.chebyshev_degree.
   Its functions are in host.c and cuda.cu. Called through registry.c. */
#include "smoothers/fourier.h"
#include "core/backend.h"
#include "smoothers/weight.h"
#include "recurrence.h"

#include <string.h>

/* T_m((theta - lambda) / delta) / T_m(theta / delta) for the eigenvalue lambda of D^-1 A */
static void symbol(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  (void)leg;
  double low, high;
  gmg_smoothing_range(A, &low, &high);
  const double theta = (high + low) / 2, delta = (high - low) / 2;
  memset(s->S, 0, sizeof s->S);
  for (int m = 0; m < s->modes; m++) {
    const double lambda = 1 - gmg_symbol_neighbours(s, m) / gmg_symbol_diag(s);
    double before = 1, t = (theta - lambda) / delta, t0_before = 1, t0 = theta / delta;
    const double x = t, x0 = t0;
    for (int k = 2; k <= p->chebyshev_degree; k++) {
      const double next = 2 * x * t - before, next0 = 2 * x0 * t0 - t0_before;
      before = t, t = next, t0_before = t0, t0 = next0;
    }
    s->S[m][m] = t / t0;
  }
}

/* For any operator, with the operator's own functions. State: the last correction, divided by the factor c1 that it was made
   with. */
typedef struct {
  void *d;
  double factor;
} correction;

static gmg_status setup_any(const gmg_smoother_level *l, void **state)
{
  GMG_TRY(gmg_exec_alloc_state(l->exec, "chebyshev state", sizeof(correction), state));
  return gmg_chebyshev_setup(l, &((correction *)*state)->d);
}

static void correct_any(const gmg_smoother_level *l, const void *f, const void *u, void *to, double c0, double c1, void *state)
{
  correction *last = state;
  const gmg_operator_ops *op = gmg_operator_of(l->exec, l->A);
  const gmg_vector_ops *v = l->exec->vector;
  gmg_level_residual(l, f, u, l->scratch);
  op->over_diagonal(l->exec, l->A, l->scratch, l->scratch);
  if (c0 == 0) v->copy(l->exec, l->A->cells, l->scratch, last->d);
  else v->xpay(l->exec, l->A->cells, l->scratch, c0 * last->factor / c1, last->d);
  last->factor = c1;
  v->axpy(l->exec, l->A->cells, c1, last->d, to); /* to is u */
}

static void sweep_any(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)leg;
  gmg_chebyshev_sweep(l, state, f, u, u, steps, GMG_FROM_CURRENT, correct_any);
}

static const gmg_smoother_ops any = {.setup = setup_any, .sweep = sweep_any};

static int ghosts(const gmg_params *p, int has_seams, int relaxes_ghosts)
{
  (void)has_seams, (void)relaxes_ghosts;
  return p->chebyshev_degree;
}

static const gmg_option options[] = {GMG_OPTION(INT, chebyshev_degree, 2, 1, 100), {0}};

extern const gmg_smoother_ops gmg_chebyshev_host_f32, gmg_chebyshev_host_f64, gmg_chebyshev_cuda_f32, gmg_chebyshev_cuda_f64;

const gmg_builtin_smoother gmg_smoother_chebyshev = {
    .base = {.name = "chebyshev",
             .traits = gmg_traits_of_fixed_map,
             .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_chebyshev_host_f32, [GMG_F64] = &gmg_chebyshev_host_f64},
                     [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_chebyshev_cuda_f32),
                                           [GMG_F64] = GMG_ON_CUDA(&gmg_chebyshev_cuda_f64)}}},
    .any = &any,
    .symbol = symbol,
    .over_correction = gmg_over_correction,
    .ghosts = ghosts,
    .options = options};
