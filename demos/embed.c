/* Embedding gmg in a time loop, with its six calls: the heat equation u_t = Lap u + q on the unit box, walls at u = 1,
 * by backward Euler. Each step solves -Lap u + u / dt = u_old / dt + q; halfway dt doubles by gmg_solver_update().
 * u = 1 + a(t) sin(pi x) sin(pi y) [sin(pi z)] solves it, so every step is checked: "scheme" is the largest distance
 * from the exact solution of the discrete equations (solver error), "heat" that from the differential equation.
 * What has to do with gmg stands in simulate() and step(); the rest is the host program. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846, WALL = 1, HELD = 0.25; /* q keeps a quarter of the mode alive */

/* The host program's own data. */
typedef struct simulation {
  const demo_options *o;
  gmg_problem problem;
  size_t cells;
  double time, dt;
  double scheme, heat; /* amplitude of the mode: by backward Euler, by the heat equation */
  double *u, *f, *mode;
  cJSON *steps;        /* a report each; NULL without --json */
  int complete;
} simulation;

static double decay(const simulation *s, int discrete)
{
  double rate = 0;
  for (int a = 0; a < s->problem.dim; a++) {
    const double h = s->problem.h[a];
    rate += discrete ? 4 / (h * h) * pow(sin(PI * h / 2), 2) : PI * PI;
  }
  return rate;
}

static void fill(simulation *s)
{
  for (size_t at = 0; at < s->cells; at++) {
    size_t rest = at;
    s->mode[at] = 1;
    for (int a = 0; a < s->problem.dim; rest /= s->problem.n[a], a++)
      s->mode[at] *= sin(PI * demo_position(&s->problem, a, rest % s->problem.n[a]));
    s->u[at] = WALL + s->mode[at];
  }
  s->scheme = s->heat = 1;
}

static double distance(const simulation *s, double amplitude)
{
  double most = 0;
  for (size_t at = 0; at < s->cells; at++) most = fmax(most, fabs(s->u[at] - WALL - amplitude * s->mode[at]));
  return most;
}

static void tell(simulation *s, const gmg_context *context, const gmg_report *report, int number)
{
  if (!s->o->quiet)
    printf("%4d  %8.4f  %8.4f  %6d  %10.3e  %10.3e  %10.3e\n", number, s->time, s->dt, report->cycles, report->residual,
           distance(s, s->scheme), distance(s, s->heat));
  if (!s->steps) return;
  cJSON *row = cJSON_CreateObject();
  s->complete &= cJSON_AddNumberToObject(row, "time", s->time) && cJSON_AddNumberToObject(row, "dt", s->dt) &&
                 cJSON_AddNumberToObject(row, "error_scheme", distance(s, s->scheme)) &&
                 cJSON_AddNumberToObject(row, "error_heat", distance(s, s->heat)) &&
                 demo_json_report(row, report, demo_message(context, report->status));
  if (!row || !cJSON_AddItemToArray(s->steps, row)) s->complete = 0, cJSON_Delete(row);
}

static int step(simulation *s, gmg_context *context, gmg_solver *solver, int number)
{
  const double rate = decay(s, 1);
  gmg_report report;
  for (size_t at = 0; at < s->cells; at++) s->f[at] = s->u[at] / s->dt + HELD * rate * s->mode[at];
  const gmg_status status = gmg_solve(solver, s->f, s->u, &report); /* call 4; the old u is the guess */
  if (status != GMG_OK && status != GMG_STAGNATED) return demo_check(s->o, context, status);
  s->time += s->dt;
  s->scheme = (s->scheme + s->dt * HELD * rate) / (1 + s->dt * rate);
  s->heat = HELD + (1 - HELD) * exp(-decay(s, 0) * s->time);
  tell(s, context, &report, number);
  return 0;
}

static int simulate(simulation *s)
{
  const demo_options *o = s->o;
  gmg_context *context = NULL;
  gmg_solver *solver = NULL;
  gmg_plan_info plan;
  s->problem.shift = 1 / s->dt;

  if (demo_context_create(o, &context)) return 1;                                       /* call 1: gmg_context_create_host() */
  int bad = demo_plan(o, context, &s->problem, &o->params, 3, &plan);
  if (!bad) demo_print_header(o, context, &s->problem, &plan), fill(s);
  bad = bad || demo_check(o, context, gmg_solver_create(context, &s->problem, &o->params, &solver));         /* call 2 */
  for (int face = 0; face < 2 * s->problem.dim && !bad; face++)
    bad = demo_check(o, context, gmg_set_boundary_constant(solver, face / 2, face % 2, WALL));               /* call 3 */

  if (!bad && !o->quiet) printf("\nstep      time        dt  cycles    residual      scheme        heat\n");
  for (int i = 1; i <= o->steps && !bad; i++) {
    if (i == o->steps / 2 + 1) { /* a new time step: new shift, same solver, nothing allocated */
      s->dt *= 2;
      s->problem.shift = 1 / s->dt;
      bad = demo_check(o, context, gmg_solver_update(solver, &s->problem));
    }
    bad = bad || step(s, context, solver, i);                                             /* call 4: gmg_solve() */
  }
  if (!bad && o->json) {
    cJSON *root = demo_json_start(o, context, &s->problem, &plan);
    const int ok = root && s->complete && cJSON_AddItemToObject(root, "steps", s->steps);
    if (ok) s->steps = NULL; /* root's now */
    bad = demo_json_write(o, root, ok);
  }
  gmg_solver_destroy(solver);                                                                                /* call 5 */
  gmg_context_destroy(context);                                                                              /* call 6 */
  return bad;
}

int main(int argc, char **argv)
{
  const demo_program about = {"embed", "Heat equation in time by backward Euler, every step checked (cell-centred, f64).",
                              DEMO_TAKES_RUN | DEMO_TAKES_SIZE | DEMO_TAKES_METHOD | DEMO_TAKES_SMOOTHER | DEMO_TAKES_LIMIT |
                                  DEMO_TAKES_OUTPUT | DEMO_TAKES_STEPS, DEMO_SMOOTH, 2, 64};
  demo_options o;
  int bad = demo_options_read(argc, argv, &about, &o);
  if (bad >= 0) return bad;
  simulation s = {.o = &o, .problem = o.problem, .cells = demo_cells(&o.problem), .dt = 0.002, .complete = 1};
  s.u = demo_field_create(&s.problem), s.f = demo_field_create(&s.problem), s.mode = demo_field_create(&s.problem);
  s.steps = o.json ? cJSON_CreateArray() : NULL;
  bad = s.u && s.f && s.mode ? simulate(&s) : demo_fail(&o, "out of memory");
  const demo_named_field fields[] = {{"u", s.u}, {"f", s.f}};
  if (!bad && o.output) bad = demo_fields_write(&o, &s.problem, fields, 2);
  if (!bad) printf("embed: %d steps to t = %g, off the exact discrete solution by %.2e\n", o.steps, s.time, distance(&s, s.scheme));
  cJSON_Delete(s.steps);
  free(s.u), free(s.f), free(s.mode);
  return bad;
}
