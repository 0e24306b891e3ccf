/* The registry: one row per smoother. A new one is a file per backend and a row here. */
#include "smoother.h"
#include "fourier.h"

#include <string.h>

static unsigned always_regular(const gmg_params *p, int threads)
{
  (void)p, (void)threads;
  return GMG_SMOOTHER_DETERMINISTIC | GMG_SMOOTHER_ADJOINT | GMG_SMOOTHER_LINEAR;
}

static unsigned red_black_traits(const gmg_params *p, int threads)
{
  return always_regular(p, threads) | GMG_SMOOTHER_COLOURED;
}

/* One thread (or deterministic) is the true sequential method. */
static unsigned gauss_seidel_traits(const gmg_params *p, int threads)
{
  return threads == 1 || p->deterministic ? always_regular(p, threads) : 0;
}

/* The stale twin is a fixed linear map. With overlap the restriction of the write-back makes it unsymmetric. */
static unsigned async_traits(const gmg_params *p, int threads)
{
  (void)threads;
  const unsigned coloured = p->local == GMG_LOCAL_RED_BLACK ? GMG_SMOOTHER_COLOURED : 0;
  if (!p->deterministic) return coloured;
  return coloured | GMG_SMOOTHER_DETERMINISTIC | GMG_SMOOTHER_LINEAR | (p->overlap == 0 ? GMG_SMOOTHER_ADJOINT : 0);
}

#define HOST(name) {&gmg_##name##_host_f32, &gmg_##name##_host_f64}
#ifdef GMG_CUDA
#define CUDA(name) {&gmg_##name##_cuda_f32, &gmg_##name##_cuda_f64}
#else
#define CUDA(name) {NULL, NULL}
#endif

static const gmg_smoother registry[] = {
    {"jacobi", always_regular, gmg_weight_jacobi, gmg_symbol_jacobi, HOST(jacobi), CUDA(jacobi)},
    {"gauss_seidel", gauss_seidel_traits, gmg_weight_gauss_seidel, gmg_symbol_gauss_seidel, HOST(gauss_seidel), CUDA(gauss_seidel)},
    {"red_black", red_black_traits, gmg_weight_red_black, gmg_symbol_red_black, HOST(red_black), CUDA(red_black)},
    {"chebyshev", always_regular, NULL, gmg_symbol_chebyshev, HOST(chebyshev), CUDA(chebyshev)},
    {"async", async_traits, gmg_weight_async, gmg_symbol_async, HOST(async), CUDA(async)},
};

enum { COUNT = sizeof registry / sizeof *registry };

const gmg_smoother *gmg_smoother_by_name(const char *name)
{
  for (int i = 0; name && i < COUNT; i++)
    if (strcmp(registry[i].name, name) == 0) return &registry[i];
  return NULL;
}

const char *gmg_smoother_name(int i) { return i >= 0 && i < COUNT ? registry[i].name : NULL; }

unsigned gmg_smoother_traits(const gmg_params *params, int threads)
{
  return params->smoother->traits ? params->smoother->traits(params, threads) : 0;
}

int gmg_smoother_is_builtin(const gmg_smoother *s) { return s >= registry && s < registry + COUNT; }

const gmg_smoother_ops *gmg_smoother_ops_of(const gmg_smoother *s, const gmg_exec *e)
{
  return (e->backend == GMG_BACKEND_HOST ? s->host : s->cuda)[e->type];
}

int gmg_smoother_whole(const gmg_params *p)
{
  if (p->smoother == gmg_smoother_by_name("red_black")) return 1;
  const int free_blocks = !p->block[0] && !p->block[1] && !p->block[2];
  return p->smoother == gmg_smoother_by_name("async") && p->local == GMG_LOCAL_RED_BLACK && free_blocks ? p->passes * p->local_sweeps : 0;
}

void gmg_level_residual(const gmg_smoother_level *level, const void *f, const void *u, void *r)
{
  gmg_stencil_of(level->exec)->residual(level->exec, level->A, f, u, r);
}
