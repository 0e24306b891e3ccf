/* A toy: damped Jacobi with the weight 2/3. Besides this file the smoother needs host.c and a line in registry.c. */
#include "smoothers/smoother.h"

static unsigned traits(const gmg_params *p, int threads)
{
  (void)p, (void)threads;
  return GMG_SMOOTHER_DETERMINISTIC | GMG_SMOOTHER_ADJOINT | GMG_SMOOTHER_LINEAR;
}

extern const gmg_smoother_ops gmg_toy_host_f32, gmg_toy_host_f64;

const gmg_builtin_smoother gmg_smoother_toy = {
    .base = {.name = "toy", .traits = traits, .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_toy_host_f32, [GMG_F64] = &gmg_toy_host_f64}}}};
