/* Embedding gmg in a time loop by six calls: the heat equation u_t = div(k(u) grad u) + q in the unit box, walls
 * at u = 1, conductivity k = 1 + slope (u - 1), by backward Euler with the conductivity of the last step. Each step solves
 * -div(k grad u) + u / dt = u_old / dt + q. gmg_solver_update() sets the new k and, halfway, a doubled dt.
 *
 * q is such that u = 1 + a(t) sin(pi x) sin(pi y) [sin(pi z)] solves the equation, and every step is checked. "error" is
 * the largest difference from that solution. "balance" is the gain of heat in the box minus the source plus the outflow from
 * gmg_flux(), relative to the old heat plus the source. It contains only the solver's error.
 * u, f and k have a layer of ghosts around them, as in many programs; the problem has their layout, and gmg works in them. Here
 * the ghosts are NaN to show that gmg neither reads nor writes them.
 *
 * gmg is used in simulate(), step() and surround(). The rest is the host program. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846, WALL = 1, HELD = 0.25; /* q maintains a quarter of the mode */
enum { FIELDS = 8 };

/* The host program's own data. */
typedef struct simulation {
  demo_options *o;
  gmg_problem problem, surrounded; /* surrounded: with ghosts, the shape of u, f and k */
  size_t cells;
  double time, dt, balance;
  demo_array to_u, to_f, to_k, to_flux[3];    /* the arrays passed to gmg: those of the next line, in the context's memory */
  double *u, *f, *k, *flux[3], *mode, *steep; /* steep: square of the mode's gradient */
  cJSON *steps;                               /* one report per step; NULL without --json */
  int complete;
} simulation;

static double rate(const simulation *s) { return s->problem.dim * PI * PI; } /* at which the mode decays if k = 1 */
static double amplitude(const simulation *s, double time) { return HELD + (1 - HELD) * exp(-rate(s) * time); }

/* The layouts of arrays with a layer of ghosts. Each axis is longer than the unknowns by two. */
static void surround(simulation *s)
{
  gmg_problem *p = &s->problem, *all = &s->surrounded;
  *all = *p;
  for (int a = 0; a < p->dim; a++) all->n[a] += 2;
  const size_t row = p->dim > 1 ? all->n[0] : 0, plane = p->dim > 2 ? row * all->n[1] : 0;
  p->u_layout = p->f_layout = p->coefficient_layout = (gmg_array_layout){.row = row, .plane = plane, .first = 1 + row + plane};
}

/* Where a cell is in u, f and k. In arrays without ghosts it is entry `cell`. */
static size_t place(const simulation *s, size_t cell)
{
  const size_t *n = s->problem.n, line = cell / n[0];
  const gmg_array_layout *l = &s->problem.u_layout;
  return l->first + cell % n[0] + (s->problem.dim > 1 ? line % n[1] * l->row + line / n[1] * l->plane : 0);
}

static void set_ghosts(const simulation *s, double *x)
{
  const size_t all = demo_cells(&s->surrounded);
  for (size_t at = 0; at < all; at++) x[at] = NAN;
  for (size_t cell = 0; cell < s->cells; cell++) x[place(s, cell)] = 0;
}

/* Whether the ghosts are still NaN, and all other values are finite. */
static int ghosts_are_kept(const simulation *s, const double *x)
{
  const size_t all = demo_cells(&s->surrounded);
  size_t ghosts = 0;
  for (size_t at = 0; at < all; at++) ghosts += isnan(x[at]) != 0;
  for (size_t cell = 0; cell < s->cells; cell++)
    if (isnan(x[place(s, cell)])) return 0;
  return ghosts == all - s->cells;
}

/* Moves the cells to the beginning of the array, without ghosts, for the file. */
static void pack(const simulation *s, double *x)
{
  for (size_t cell = 0; cell < s->cells; cell++) x[cell] = x[place(s, cell)];
}

static void conductivity(simulation *s)
{
  for (size_t cell = 0; cell < s->cells; cell++) {
    const size_t at = place(s, cell);
    s->k[at] = 1 + s->o->slope * (s->u[at] - WALL);
  }
}

static double source(const simulation *s, size_t cell, double time)
{
  const double a = amplitude(s, time), w = a * s->mode[cell];
  const double change = -rate(s) * (a - HELD) * s->mode[cell];
  return change + (1 + s->o->slope * w) * rate(s) * w - s->o->slope * a * a * s->steep[cell];
}

static void fill(simulation *s)
{
  set_ghosts(s, s->u), set_ghosts(s, s->f), set_ghosts(s, s->k);
  for (size_t cell = 0; cell < s->cells; cell++) {
    size_t rest = cell;
    double square = 1, ratio = 0;
    for (int a = 0; a < s->problem.dim; rest /= s->problem.n[a], a++) {
      const double x = PI * demo_position(&s->problem, a, rest % s->problem.n[a]);
      square *= sin(x) * sin(x);
      ratio += pow(PI / tan(x), 2);
    }
    s->mode[cell] = sqrt(square);
    s->steep[cell] = square * ratio;
    s->u[place(s, cell)] = WALL + s->mode[cell];
  }
  conductivity(s);
}

static double error(const simulation *s)
{
  double most = 0;
  for (size_t cell = 0; cell < s->cells; cell++)
    most = fmax(most, fabs(s->u[place(s, cell)] - WALL - amplitude(s, s->time) * s->mode[cell]));
  return most;
}

/* The flux through all walls, divided by the volume of a cell. */
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
  if (demo_array_send(s->o, &s->to_k)) return 1; /* on the host this copies nothing */
  if (demo_check(s->o, context, gmg_solver_update(solver, &s->problem))) return 1; /* allocates nothing */
  for (size_t cell = 0; cell < s->cells; cell++) {
    const size_t at = place(s, cell);
    given += s->f[at] = s->u[at] / s->dt + source(s, cell, s->time + s->dt);
  }

  if (demo_array_send(s->o, &s->to_f)) return 1;
  const gmg_status status = gmg_solve(solver, s->to_f.there, s->to_u.there, &report); /* call 4; the old u is the guess */
  if (status != GMG_OK && status != GMG_STAGNATED) return demo_check(s->o, context, status);
  s->time += s->dt;

  void *const flux[3] = {s->to_flux[0].there, s->to_flux[1].there, s->to_flux[2].there};
  if (demo_check(s->o, context, gmg_flux(solver, s->to_u.there, flux, NULL))) return 1;
  if (demo_array_fetch(s->o, &s->to_u)) return 1;
  for (int a = 0; a < s->problem.dim; a++)
    if (demo_array_fetch(s->o, &s->to_flux[a])) return 1;
  for (size_t cell = 0; cell < s->cells; cell++) kept += s->u[place(s, cell)] / s->dt;
  s->balance = fabs(kept + outflow(s) - given) / given;
  tell(s, context, &report, number);
  return 0;
}

/* Creates the program's fields, and sets the initial values. */
static int start(simulation *s)
{
  if (demo_room(s->o, &s->problem, FIELDS) || demo_room(s->o, &s->surrounded, FIELDS)) return 1;
  demo_array *shared[] = {&s->to_u, &s->to_f, &s->to_k};
  double **fields[] = {&s->u, &s->f, &s->k}, **own[] = {&s->mode, &s->steep};
  int ok = 1;
  for (int i = 0; i < 3; i++) ok &= demo_array_create(s->o, &s->surrounded, shared[i]), *fields[i] = shared[i]->here;
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
  surround(s);
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
  if (!bad && !(ghosts_are_kept(s, s->u) && ghosts_are_kept(s, s->f) && ghosts_are_kept(s, s->k)))
    bad = demo_fail(o, "a ghost was read or written");
  if (!bad && o->json) {
    cJSON *root = demo_json_start(o, context, &s->problem, &plan);
    const int ok = root && s->complete && cJSON_AddNumberToObject(root, "slope", o->slope) &&
                   cJSON_AddItemToObject(root, "steps", s->steps);
    if (ok) s->steps = NULL; /* owned by root from here on */
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
  const double off = bad ? NAN : error(&s);
  const demo_named_field named[] = {{"u", s.u}, {"f", s.f}, {"k", s.k}};
  if (!bad && o.output) pack(&s, s.u), pack(&s, s.f), pack(&s, s.k), bad = demo_fields_write(&o, &s.problem, named, 3);
  if (!bad) printf("embed: %d steps to t = %g, off the solution of the heat equation by %.2e\n", o.steps, s.time, off);
  cJSON_Delete(s.steps);
  finish(&s);
  return bad;
}
