/* Embedding gmg in a time loop, with its six calls: the heat equation u_t = div(k(u) grad u) + q in the unit box, walls
 * at u = 1, conductivity k = 1 + slope (u - 1), by backward Euler with the conductivity of the last step. Each step solves
 * -div(k grad u) + u / dt = u_old / dt + q: gmg_solver_update() takes over the new k, and halfway a doubled dt.
 *
 * q is such that u = 1 + a(t) sin(pi x) sin(pi y) [sin(pi z)] solves the equation, and every step is checked: "error" is
 * the largest distance from that solution, "balance" the heat that the box gained beyond what the source gave and
 * gmg_flux() saw leave, over all that was there (the solver's error alone).
 * What has to do with gmg stands in simulate() and step(); the rest is the host program. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846, WALL = 1, HELD = 0.25; /* q keeps a quarter of the mode alive */
enum { FIELDS = 8 };

/* The host program's own data. */
typedef struct simulation {
  demo_options *o;
  gmg_problem problem;
  size_t cells;
  double time, dt, balance;
  demo_array to_u, to_f, to_k, to_flux[3];    /* what gmg is given: the next line's, where the context runs */
  double *u, *f, *k, *flux[3], *mode, *steep; /* steep: square of the mode's gradient */
  cJSON *steps;                               /* a report each; NULL without --json */
  int complete;
} simulation;

static double rate(const simulation *s) { return s->problem.dim * PI * PI; } /* at which the mode decays where k = 1 */
static double amplitude(const simulation *s, double time) { return HELD + (1 - HELD) * exp(-rate(s) * time); }

static void conductivity(simulation *s)
{
  for (size_t at = 0; at < s->cells; at++) s->k[at] = 1 + s->o->slope * (s->u[at] - WALL);
}

static double source(const simulation *s, size_t at, double time)
{
  const double a = amplitude(s, time), w = a * s->mode[at];
  const double change = -rate(s) * (a - HELD) * s->mode[at];
  return change + (1 + s->o->slope * w) * rate(s) * w - s->o->slope * a * a * s->steep[at];
}

static void fill(simulation *s)
{
  for (size_t at = 0; at < s->cells; at++) {
    size_t rest = at;
    double square = 1, ratio = 0;
    for (int a = 0; a < s->problem.dim; rest /= s->problem.n[a], a++) {
      const double x = PI * demo_position(&s->problem, a, rest % s->problem.n[a]);
      square *= sin(x) * sin(x);
      ratio += pow(PI / tan(x), 2);
    }
    s->mode[at] = sqrt(square);
    s->steep[at] = square * ratio;
    s->u[at] = WALL + s->mode[at];
  }
  conductivity(s);
}

static double error(const simulation *s)
{
  double most = 0;
  for (size_t at = 0; at < s->cells; at++)
    most = fmax(most, fabs(s->u[at] - WALL - amplitude(s, s->time) * s->mode[at]));
  return most;
}

/* Through all walls, over the volume of a cell. */
static double outflow(const simulation *s)
{
  const gmg_problem *p = &s->problem;
  double sum = 0;
  for (size_t a = 0, stride = 1; a < (size_t)p->dim; stride *= p->n[a], a++)
    for (size_t line = 0; line < s->cells / p->n[a]; line++) {
      const double *lower = s->flux[a] + line % stride + line / stride * stride * (p->n[a] + 1);
      sum += (lower[p->n[a] * stride] - lower[0]) / p->h[a];
    }
  return sum;
}

static void tell(simulation *s, const gmg_context *context, const gmg_report *report, int number)
{
  if (!s->o->quiet)
    printf("%4d  %8.4f  %8.4f  %6d  %10.3e  %10.3e  %10.3e\n", number, s->time, s->dt, report->cycles, report->residual,
           s->balance, error(s));
  if (!s->steps) return;
  cJSON *row = cJSON_CreateObject();
  s->complete &= cJSON_AddNumberToObject(row, "time", s->time) && cJSON_AddNumberToObject(row, "dt", s->dt) &&
                 cJSON_AddNumberToObject(row, "balance", s->balance) && cJSON_AddNumberToObject(row, "error", error(s)) &&
                 demo_json_report(row, report, demo_message(context, report->status));
  if (!row || !cJSON_AddItemToArray(s->steps, row)) s->complete = 0, cJSON_Delete(row);
}

static int step(simulation *s, gmg_context *context, gmg_solver *solver, int number)
{
  gmg_report report;
  double given = 0, kept = 0;
  conductivity(s);
  s->problem.shift = 1 / s->dt;
  if (demo_array_send(s->o, &s->to_k)) return 1; /* on the host nothing is sent and nothing fetched */
  if (demo_check(s->o, context, gmg_solver_update(solver, &s->problem))) return 1; /* allocates nothing */
  for (size_t at = 0; at < s->cells; at++) given += s->f[at] = s->u[at] / s->dt + source(s, at, s->time + s->dt);

  if (demo_array_send(s->o, &s->to_f)) return 1;
  const gmg_status status = gmg_solve(solver, s->to_f.there, s->to_u.there, &report); /* call 4; the old u is the guess */
  if (status != GMG_OK && status != GMG_STAGNATED) return demo_check(s->o, context, status);
  s->time += s->dt;

  void *const flux[3] = {s->to_flux[0].there, s->to_flux[1].there, s->to_flux[2].there};
  if (demo_check(s->o, context, gmg_flux(solver, s->to_u.there, flux, NULL))) return 1;
  if (demo_array_fetch(s->o, &s->to_u)) return 1;
  for (int a = 0; a < s->problem.dim; a++)
    if (demo_array_fetch(s->o, &s->to_flux[a])) return 1;
  for (size_t at = 0; at < s->cells; at++) kept += s->u[at] / s->dt;
  s->balance = fabs(kept + outflow(s) - given) / given;
  tell(s, context, &report, number);
  return 0;
}

/* The program's fields, and the start in them. */
static int start(simulation *s)
{
  if (demo_room(s->o, &s->problem, FIELDS)) return 1;
  demo_array *shared[] = {&s->to_u, &s->to_f, &s->to_k};
  double **fields[] = {&s->u, &s->f, &s->k}, **own[] = {&s->mode, &s->steep};
  int ok = 1;
  for (int i = 0; i < 3; i++) ok &= demo_array_create(s->o, &s->problem, shared[i]), *fields[i] = shared[i]->here;
  for (int i = 0; i < 2; i++) ok &= (*own[i] = demo_field_create(&s->problem)) != NULL;
  for (int a = 0; a < s->problem.dim; a++) {
    gmg_problem faces = s->problem;
    faces.n[a]++;
    ok &= demo_array_create(s->o, &faces, &s->to_flux[a]), s->flux[a] = s->to_flux[a].here;
  }
  if (!ok) return demo_fail(s->o, "out of memory: fields of %zu unknowns", s->cells);
  fill(s);
  return demo_array_send(s->o, &s->to_u) || demo_array_send(s->o, &s->to_k);
}

static void finish(simulation *s)
{
  demo_array_destroy(&s->to_u), demo_array_destroy(&s->to_f), demo_array_destroy(&s->to_k);
  for (int a = 0; a < 3; a++) demo_array_destroy(&s->to_flux[a]);
  free(s->mode), free(s->steep);
}

static int simulate(simulation *s)
{
  demo_options *o = s->o;
  gmg_context *context = NULL;
  gmg_solver *solver = NULL;
  gmg_plan_info plan;
  if (demo_context_create(o, &context)) return 1;                                /* call 1: gmg_context_create_host() */
  int bad = start(s);
  s->problem.beta = s->to_k.there;
  s->problem.shift = 1 / s->dt;

  bad = bad || demo_plan(o, context, &s->problem, &o->params, FIELDS, &plan);
  if (!bad) demo_print_header(o, &s->problem, &plan);
  bad = bad || demo_check(o, context, gmg_solver_create(context, &s->problem, &o->params, &solver));         /* call 2 */
  for (int face = 0; face < 2 * s->problem.dim && !bad; face++)
    bad = demo_check(o, context, gmg_set_boundary_constant(solver, face / 2, face % 2, WALL));               /* call 3 */

  if (!bad && !o->quiet) printf("\nstep      time        dt  cycles    residual     balance       error\n");
  for (int i = 1; i <= o->steps && !bad; i++) {
    if (i == o->steps / 2 + 1) s->dt *= 2;
    bad = step(s, context, solver, i);                                                    /* call 4: gmg_solve() */
  }
  if (!bad && o->json) {
    cJSON *root = demo_json_start(o, context, &s->problem, &plan);
    const int ok = root && s->complete && cJSON_AddNumberToObject(root, "slope", o->slope) &&
                   cJSON_AddItemToObject(root, "steps", s->steps);
    if (ok) s->steps = NULL; /* root's now */
    bad = demo_json_write(o, root, ok);
  }
  gmg_solver_destroy(solver);                                                                                /* call 5 */
  gmg_context_destroy(context);                                                                              /* call 6 */
  return bad;
}

int main(int argc, char **argv)
{
  const demo_program about = {
      "embed", "Heat equation with a conductivity that depends on temperature, in time by backward Euler, every step "
      "checked (cell-centred, f64).",
      DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_METHOD | DEMO_TAKES_SMOOTHER | DEMO_TAKES_LIMIT |
          DEMO_TAKES_OUTPUT | DEMO_TAKES_STEPS | DEMO_TAKES_SLOPE, DEMO_SMOOTH, 2, 64};
  demo_options o;
  int bad = demo_options_read(argc, argv, &about, &o);
  if (bad >= 0) return bad;
  simulation s = {.o = &o, .problem = o.problem, .cells = demo_cells(&o.problem), .dt = 0.002, .complete = 1};
  s.steps = o.json ? cJSON_CreateArray() : NULL;
  bad = simulate(&s);
  const demo_named_field named[] = {{"u", s.u}, {"f", s.f}, {"k", s.k}};
  if (!bad && o.output) bad = demo_fields_write(&o, &s.problem, named, 3);
  if (!bad) printf("embed: %d steps to t = %g, off the solution of the heat equation by %.2e\n", o.steps, s.time, error(&s));
  cJSON_Delete(s.steps);
  finish(&s);
  return bad;
}
