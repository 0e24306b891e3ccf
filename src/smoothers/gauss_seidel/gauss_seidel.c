/* Gauss-Seidel, in lexicographic order or, for box stencils, in colours: traits, symbol and parameters. traits() does not see the
   operator. With several host threads it promises determinism only if params.deterministic is set, although sweeps in colours are
   always deterministic. Its functions are in host.c and cuda.cu, those for box stencils in host/ and cuda/. Called through
   registry.c. */
#include "core/backend.h"
#include "smoothers/fourier.h"
#include "smoothers/weight.h"

/* With one thread, or params.deterministic, it is the sequential method. */
static unsigned traits(const gmg_params *p, int threads)
{
  return threads == 1 || p->deterministic ? gmg_traits_of_fixed_map(p, threads) : 0;
}

static void symbol(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  gmg_symbol_gauss_seidel(s, gmg_weight_gauss_seidel(A, p), leg == GMG_LEG_UP_REVERSED, 1);
}

static const gmg_option options[] = {GMG_OPTION(DOUBLE, omega, 0, 0, 2), GMG_OPTION(INT, deterministic, 0, 0, 1), {0}};

extern const gmg_smoother_ops gmg_gauss_seidel_host_f32, gmg_gauss_seidel_host_f64;
extern const gmg_smoother_ops gmg_gauss_seidel_cuda_f32, gmg_gauss_seidel_cuda_f64;
extern const gmg_smoother_ops gmg_gauss_seidel_box_host_f32, gmg_gauss_seidel_box_host_f64;
extern const gmg_smoother_ops gmg_gauss_seidel_box_cuda_f32, gmg_gauss_seidel_box_cuda_f64;

const gmg_builtin_smoother gmg_smoother_gauss_seidel = {
    .base = {.name = "gauss_seidel",
             .traits = traits,
             .weight = gmg_weight_gauss_seidel,
             .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_gauss_seidel_host_f32, [GMG_F64] = &gmg_gauss_seidel_host_f64},
                     [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_gauss_seidel_cuda_f32),
                                           [GMG_F64] = GMG_ON_CUDA(&gmg_gauss_seidel_cuda_f64)}}},
    .box = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_gauss_seidel_box_host_f32, [GMG_F64] = &gmg_gauss_seidel_box_host_f64},
            [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_gauss_seidel_box_cuda_f32),
                                  [GMG_F64] = GMG_ON_CUDA(&gmg_gauss_seidel_box_cuda_f64)}},
    .symbol = symbol,
    .over_correction = gmg_over_correction,
    .options = options};
