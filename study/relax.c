/* See relax.h. */
#include "relax.h"

#include <math.h>

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>
static int wait_for_device(void) { return cudaDeviceSynchronize() != cudaSuccess; }
#else
static int wait_for_device(void) { return 0; }
#endif

static relaxation *relaxation_of(const gmg_smoother_level *l) { return (relaxation *)l->params->smoother; }

static unsigned traits(const gmg_params *p, int threads)
{
  return study_traits_of(((const relaxation *)p->smoother)->inner, p, threads);
}

static gmg_status setup(const gmg_smoother_level *l, void **state, gmg_backend backend)
{
  relaxation *x = relaxation_of(l);
  const gmg_smoother_ops *inner = x->inner->ops[backend][l->A->type];
  const gmg_status status = inner->setup ? inner->setup(l, state) : GMG_OK;
  if (l->index == 0) x->level = l, x->state = *state, x->ops = &x->of[backend][l->A->type];
  return status;
}

static gmg_status setup_host(const gmg_smoother_level *l, void **state)
{
  return setup(l, state, GMG_BACKEND_HOST);
}

static gmg_status setup_cuda(const gmg_smoother_level *l, void **state)
{
  return setup(l, state, GMG_BACKEND_CUDA);
}

/* The functions of the inner smoother, except setup. */
static const gmg_smoother_ops *watched(gmg_smoother_ops *to, const gmg_smoother_ops *inner,
                                       gmg_status (*our_setup)(const gmg_smoother_level *, void **))
{
  if (!inner) return NULL;
  *to = *inner;
  to->setup = our_setup;
  return to;
}

static void wrap(relaxation *x, const gmg_smoother *inner)
{
  x->inner = inner;
  x->smoother = *inner;
  x->smoother.traits = traits;
  for (int type = GMG_F64; type <= GMG_F32; type++) {
    const gmg_smoother_ops *host = inner->ops[GMG_BACKEND_HOST][type], *cuda = inner->ops[GMG_BACKEND_CUDA][type];
    x->smoother.ops[GMG_BACKEND_HOST][type] = watched(&x->of[GMG_BACKEND_HOST][type], host, setup_host);
    x->smoother.ops[GMG_BACKEND_CUDA][type] = watched(&x->of[GMG_BACKEND_CUDA][type], cuda, setup_cuda);
  }
}

int study_relaxation_create(relaxation *x, const study_place *place, const gmg_problem *problem, const gmg_params *params)
{
  const demo_options *o = &place->demo;
  gmg_params p = *params;
  *x = (relaxation){.place = place, .cells = demo_cells(problem)};
  wrap(x, params->smoother);
  p.smoother = &x->smoother;
  p.precision = GMG_PRECISION_SAME, p.accel = GMG_ACCEL_NONE;
  p.max_levels = 2, p.coarse_cells = 1; /* a coarse level, without which the finest would have no smoother */
  const gmg_status status = gmg_solver_create(place->context, problem, &p, &x->solver);
  if (status == GMG_ERR_MEMORY || status == GMG_ERR_UNSUPPORTED) return -1;
  if (demo_check(o, place->context, status)) return 1;
  if (!x->level) return demo_fail(o, "a problem of %zu unknowns has no level to relax on", x->cells);
  if (demo_array_create(o, problem, &x->f) & demo_array_create(o, problem, &x->u) & demo_array_create(o, problem, &x->r)) return 0;
  return demo_fail(o, "out of memory: fields of %zu unknowns", x->cells);
}

void study_relaxation_destroy(relaxation *x)
{
  gmg_solver_destroy(x->solver);
  demo_array_destroy(&x->f);
  demo_array_destroy(&x->u);
  demo_array_destroy(&x->r);
  *x = (relaxation){0};
}

int study_relaxation_begin(relaxation *x)
{
  double *f = x->f.here;
  for (size_t i = 0; i < x->cells; i++) f[i] = 1;
  return demo_array_send(&x->place->demo, &x->f) || demo_array_zero(&x->place->demo, &x->u);
}

static double sine(const gmg_operator *A, int a, size_t i)
{
  return a < A->dim ? sin(3.14159265358979323846 * (double)(i + 1) / (double)(A->n[a] + 1)) : 1;
}

int study_relaxation_begin_slowest(relaxation *x)
{
  const gmg_operator *A = x->level->A;
  double *u = x->u.here;
  for (size_t c = 0; c < x->cells; c++)
    u[c] = sine(A, 0, c % A->n[0]) * sine(A, 1, c / A->n[0] % A->n[1]) * sine(A, 2, c / (A->n[0] * A->n[1]));
  return demo_array_send(&x->place->demo, &x->u) || demo_array_zero(&x->place->demo, &x->f);
}

double study_relaxation_sweep(relaxation *x, int iterations, int at_once)
{
  const int device = study_is_device(x->place);
  if (device && wait_for_device()) return NAN;
  const double start = study_now();
  for (int left = iterations; left > 0; left -= at_once)
    x->ops->sweep(x->level, x->state, x->f.there, x->u.there, left < at_once ? left : at_once, GMG_LEG_DOWN);
  if (device && wait_for_device()) return NAN;
  return study_now() - start;
}

double study_relaxation_residual(relaxation *x)
{
  const double *r = x->r.here;
  double sum = 0;
  gmg_level_residual(x->level, x->f.there, x->u.there, x->r.there);
  if (demo_array_fetch(&x->place->demo, &x->r)) return NAN;
  for (size_t i = 0; i < x->cells; i++) sum += r[i] * r[i];
  return sqrt(sum / (double)x->cells);
}
