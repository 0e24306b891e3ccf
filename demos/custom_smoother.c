/* A complete user-defined smoother: Richardson iteration with the two weights that damp the upper part of the spectrum best
 * (Chebyshev), built on gmg_level_residual(). Solves -Lap u + sigma u = f with it. */
#include "demo.h"
#include "gmg_smoother.h"

#include <stdlib.h>

/* High frequencies of A / diagonal lie between 1/dim and 2; these are the inverse Chebyshev nodes of that interval. */
static double weight(int step, int dim)
{
  const double least = 1.0 / dim, middle = (2 + least) / 2, half = (2 - least) / 2, cosine = 0.7071067811865476;
  return 1 / (step ? middle - half * cosine : middle + half * cosine);
}

static void sweep(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state, (void)leg; /* a polynomial in A is its own adjoint: both legs are the same */
  const gmg_operator *A = level->A;
  const double diagonal = 2 * (A->coupling[0] + A->coupling[1] + A->coupling[2]) + A->reaction_from_walls + A->shift;
  double *x = u;
  const double *r = level->scratch;
  for (int step = 0; step < 2 * steps; step++) {
    const double w = weight(step % 2, A->dim) / diagonal;
    gmg_level_residual(level, f, u, level->scratch);
#pragma omp parallel for num_threads(level->threads)
    for (size_t i = 0; i < A->cells; i++) x[i] += w * r[i];
  }
}

static unsigned traits(const gmg_params *params, int threads)
{
  (void)params, (void)threads;
  return GMG_SMOOTHER_DETERMINISTIC | GMG_SMOOTHER_ADJOINT | GMG_SMOOTHER_LINEAR;
}

static const gmg_smoother_ops host_double = {.sweep = sweep};
static const gmg_smoother mine = {.name = "mine", .traits = traits, .ops = {[GMG_BACKEND_HOST] = {[GMG_F64] = &host_double}}};

static int solve(const demo_options *o, gmg_context *context, double *f, double *u)
{
  demo_table table = {0, 0};
  gmg_plan_info plan;
  gmg_solver *solver = NULL;
  gmg_report report;
  gmg_params params = o->params;
  if (!o->quiet) params.monitor = demo_table_row, params.monitor_data = &table;

  if (demo_plan(o, context, &o->problem, &params, 2, &plan)) return 1;
  demo_print_header(o, &o->problem, &plan);
  demo_fill_rhs(o, &o->problem, f), demo_fill_guess(o, &o->problem, u);
  if (demo_check(o, context, gmg_solver_create(context, &o->problem, &params, &solver))) return 1;
  const gmg_status status = gmg_solve(solver, f, u, &report);
  int failed = !gmg_status_is_outcome(status) && demo_check(o, context, status);
  const demo_named_field fields[] = {{"u", u}, {"f", f}};
  if (!failed) failed = demo_json_write_report(o, context, &o->problem, &plan, &report);
  if (!failed && o->output) failed = demo_fields_write(o, &o->problem, fields, 2);
  if (!failed) failed = demo_print_outcome(o, context, &report);
  gmg_solver_destroy(solver);
  return failed;
}

int main(int argc, char **argv)
{
  const demo_program about = {"custom_smoother", "Solves -Lap u + sigma u = f with a smoother of the user's own (f64).",
                              DEMO_TAKES_RUN | DEMO_TAKES_SIZE | DEMO_TAKES_GRID | DEMO_TAKES_SHIFT | DEMO_TAKES_METHOD |
                                  DEMO_TAKES_LIMIT | DEMO_TAKES_RHS | DEMO_TAKES_GUESS | DEMO_TAKES_OUTPUT, DEMO_SMOOTH, 3, 64};
  demo_options o;
  gmg_context *context = NULL;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  o.params.smoother = &mine;
  if (demo_room(&o, &o.problem, 2)) return 1;
  double *f = demo_field_create(&o.problem), *u = demo_field_create(&o.problem);
  code = f && u ? demo_context_create(&o, &context) : demo_fail(&o, "out of memory");
  if (!code) code = solve(&o, context, f, u);
  gmg_context_destroy(context);
  free(f), free(u);
  return code;
}
