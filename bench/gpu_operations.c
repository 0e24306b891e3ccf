/* Single operations of a cycle on a device. They are not public, so this file and gpu_cublas.c include headers of src and are linked
   with the static library. */
#include "gpu.h"
#include "mg/cycle/cycle.h"

/* Ten at a time, on the finest level of the solver and with its own functions, in double. */
static samples operation_time(run *r, void (*operation)(gmg_solver *s))
{
  samples s = {.count = 0};
  const gmg_precision before = r->params.precision;
  r->params.precision = GMG_PRECISION_SAME;
  build(r);
  for (int i = -1; i < bench.runs; i++) {
    const double start = now();
    for (int k = 0; k < 10; k++) operation(r->solver);
    const double t = (now() - start) / 10;
    if (i >= 0) add(&s, t);
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
  s->mg.smoother->sweep(&s->level[0].view, s->mg.state[0], fields.f, fields.u, 1, GMG_LEG_DOWN);
}

/* As the cycle does it: a smoothing step, then the residual, restricted. */
static void down_leg(gmg_solver *s) { gmg_presmooth_restrict(&s->mg, 0, fields.f, fields.u, GMG_FROM_CURRENT); }

static void operation_row(const char *name, run *r, const double *f, double *u, void (*operation)(gmg_solver *s), double bytes,
                          const char *extra)
{
  if (!wanted(name)) return;
  fields.f = f, fields.u = u;
  const samples s = operation_time(r, operation);
  row(name, "ms", &s, bytes * (double)r->cells, extra);
}

void pass_row(const char *name, run *r, const double *f, double *u) { operation_row(name, r, f, u, one_pass, 24, ""); }

void down_leg_row(const char *name, run *r, const double *f, double *u)
{
  operation_row(name, r, f, u, down_leg, 25, ", \"what\": \"smoothing and restricted residual, as the solver does them\"");
}
