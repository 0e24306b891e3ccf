/* Red-black Gauss-Seidel with over-relaxation: traits, symbol and parameters. Its functions are in host.c and cuda.cu. Called
   through registry.c. */
#include "core/backend.h"
#include "smoothers/fourier.h"
#include "smoothers/weight.h"

static unsigned traits(const gmg_params *p, int threads)
{
  return gmg_traits_of_fixed_map(p, threads) | GMG_SMOOTHER_COLOURED;
}

static void symbol(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  double weight[GMG_HALF_SWEEPS];
  gmg_weights_red_black(A, p, leg, weight);
  gmg_symbol_red_black(s, weight, leg == GMG_LEG_UP_REVERSED, 1);
}

static double over_correction(const gmg_operator *A, const gmg_params *p, double mirrored)
{
  (void)p;
  return gmg_over_correction_red_black(A, 1, mirrored);
}

/* At odd seams a step relaxes in phases, and a bottom solver does not. */
static int bottom_sweeps(const gmg_params *p, const gmg_operator *A)
{
  (void)p;
  return !gmg_odd_seam(A, 0) && !gmg_odd_seam(A, 1) && !gmg_odd_seam(A, 2);
}

/* A colour reads one plane more. Beside odd seams both colours are relaxed twice, each in up to three phases: two of the axes may
   be periodic and not cut. */
static int ghosts(const gmg_params *p, int has_seams, int relaxes_ghosts)
{
  (void)p, (void)relaxes_ghosts;
  return has_seams ? 12 : 2;
}

static const gmg_option options[] = {GMG_OPTION(DOUBLE, omega, 0, 0, 2), {0}};

extern const gmg_smoother_ops gmg_red_black_host_f32, gmg_red_black_host_f64, gmg_red_black_cuda_f32, gmg_red_black_cuda_f64;
extern const gmg_fused_ops gmg_red_black_fused_cuda_f32, gmg_red_black_fused_cuda_f64;

const gmg_builtin_smoother gmg_smoother_red_black = {
    .base = {.name = "red_black",
             .traits = traits,
             .weight = gmg_weight_red_black,
             .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_red_black_host_f32, [GMG_F64] = &gmg_red_black_host_f64},
                     [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_red_black_cuda_f32),
                                           [GMG_F64] = GMG_ON_CUDA(&gmg_red_black_cuda_f64)}}},
    .symbol = symbol,
    .over_correction = over_correction,
    .bottom_sweeps = bottom_sweeps,
    .half_sweep_weights = gmg_weights_red_black,
    .ghosts = ghosts,
    .fused = {[GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_red_black_fused_cuda_f32),
                                    [GMG_F64] = GMG_ON_CUDA(&gmg_red_black_fused_cuda_f64)}},
    .options = options};
