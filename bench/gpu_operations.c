/* Single operations of a cycle on a device. They are not public, so this file and gpu_cublas.c include headers of src and are
   linked with the static library. */
#include "gpu.h"
#include "mg/cycle/cycle.h"

/* The time of an operation on the finest level of the solver, in double. A sample is ten of them. */
static bench_gpu_samples operation_time(bench_gpu_run *r, void (*operation)(gmg_solver *s))
{
  bench_gpu_samples s = {.count = 0};
  const gmg_precision before = r->params.precision;
  r->params.precision = GMG_PRECISION_SAME;
  bench_gpu_build(r);
  for (int i = -1; i < bench_gpu_options.runs; i++) {
    const double start = bench_gpu_now();
    for (int k = 0; k < 10; k++) operation(r->solver);
    const double t = (bench_gpu_now() - start) / 10;
    if (i >= 0) bench_gpu_add(&s, t);
  }
  r->params.precision = before;
  return s;
}

static struct {
  const double *f;
  double *u;
} fields;

static void one_pass(gmg_solver *s)
{
  s->mg.smoother[0]->sweep(&s->level[0].view, s->mg.state[0], fields.f, fields.u, 1, GMG_LEG_DOWN);
}

/* The downward leg of the cycle: a smoothing step, and the restriction of the residual. */
static void down_leg(gmg_solver *s) { s->mg.legs[0]->presmooth_restrict(&s->mg, 0, fields.f, fields.u, GMG_FROM_CURRENT); }

static void operation_row(const char *name, bench_gpu_run *r, const double *f, double *u, void (*operation)(gmg_solver *s),
                          double bytes, const char *extra)
{
  if (!bench_gpu_wanted(name)) return;
  fields.f = f, fields.u = u;
  const bench_gpu_samples s = operation_time(r, operation);
  bench_gpu_row(name, "ms", &s, bytes * (double)r->cells, extra);
}

void bench_gpu_pass_row(const char *name, bench_gpu_run *r, const double *f, double *u)
{
  operation_row(name, r, f, u, one_pass, 24, "");
}

void bench_gpu_down_leg_row(const char *name, bench_gpu_run *r, const double *f, double *u)
{
  operation_row(name, r, f, u, down_leg, 25, ", \"what\": \"smoothing and restricted residual, as the solver does them\"");
}
