/* Incompressible Navier-Stokes by projection (Chorin 1968), 2D or 3D. After a step without pressure the velocity has
 * divergence. gmg solves -div(grad p / density) = -div(u) / dt, and the fluxes from gmg_flux() remove the divergence, up to
 * the tolerance of the solver. The average of the old state and that after two such steps is of second order (Heun; Shu,
 * Osher 1988).
 *
 * Periodic box: Taylor and Green's vortices, carried by a constant drift, against their exact decay; --order checks the
 * order. --walls: a cavity with a moving lid. --density-ratio: a heavy drop, falling in a closed box, so that beta
 * changes with every step. */
#include "demo.h"
#include "flow.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZES = 3, ROWS = 10, FIELDS = 24, MOST_STEPS = 1000000 }; /* SIZES: of --order; ROWS: lines of the table */

static const double MOST_RATIO = 1e12; /* beyond it rounding errors dominate the motion of the drop */

/* One simulation. */
typedef struct run {
  const demo_options *o;
  gmg_context *context; /* BORROWED */
  gmg_problem problem;
  gmg_plan_info plan;
  gmg_solver *solver;
  gmg_report report;    /* of the last solve */
  flow flow;
  flow_state now, half, next;
  demo_array to_p, to_f, to_beta[3], to_flux[3]; /* the arrays passed to gmg: those of the next line, in the context's memory */
  double *p, *f, *beta[3], *flux[3];
  flow_norm before, after; /* divergence around the last projection */
  double worst;            /* largest ratio of after to before, where it exceeds rounding errors */
  double time, dt;
  int steps, cycles;
  flow_norm error;         /* difference from the exact vortices; NaN if there is no exact solution */
  cJSON *rows;             /* NULL without --json */
  int complete;
} run;

static int known(const run *r) { return !r->flow.closed && r->flow.ratio == 1; }

static void run_destroy(run *r)
{
  gmg_solver_destroy(r->solver);
  demo_flow_state_destroy(&r->now), demo_flow_state_destroy(&r->half), demo_flow_state_destroy(&r->next);
  for (int a = 0; a < 3; a++) demo_array_destroy(&r->to_beta[a]), demo_array_destroy(&r->to_flux[a]);
  demo_array_destroy(&r->to_p), demo_array_destroy(&r->to_f);
  cJSON_Delete(r->rows);
}

static int fields_create(run *r)
{
  int ok = demo_array_create(r->o, &r->problem, &r->to_p) & demo_array_create(r->o, &r->problem, &r->to_f);
  for (int a = 0; a < r->problem.dim; a++) {
    gmg_problem faces = r->problem;
    faces.n[a]++;
    ok &= demo_array_create(r->o, &faces, &r->to_beta[a]) & demo_array_create(r->o, &faces, &r->to_flux[a]);
    r->beta[a] = r->to_beta[a].here, r->flux[a] = r->to_flux[a].here;
    r->problem.beta_face[a] = r->to_beta[a].there;
  }
  r->p = r->to_p.here, r->f = r->to_f.here;
  return ok;
}

/* Computes beta of a state, and copies it to the context's memory. */
static int send_beta(run *r, const flow_state *q)
{
  demo_flow_beta(&r->flow, q, r->beta);
  for (int a = 0; a < r->problem.dim; a++)
    if (demo_array_send(r->o, &r->to_beta[a])) return 1;
  return 0;
}

/* Creates everything but the sizes in r->problem. The caller calls run_destroy(), also after a failure. */
static int run_create(run *r)
{
  gmg_problem *p = &r->problem;
  for (int a = 0; a < p->dim; a++)
    p->bc[a][0] = p->bc[a][1] = r->o->closed ? GMG_NEUMANN : GMG_PERIODIC; /* a wall lets no flux through */
  if (demo_room(r->o, p, FIELDS)) return 1;
  r->flow = demo_flow_start(r->o, p);
  r->error = (flow_norm){NAN, NAN};
  r->rows = r->o->json ? cJSON_CreateArray() : NULL;
  int ok = fields_create(r) & demo_flow_state_create(&r->flow, &r->now) & demo_flow_state_create(&r->flow, &r->half);
  ok &= demo_flow_state_create(&r->flow, &r->next);
  r->complete = !r->o->json || r->rows;
  if (!ok) return demo_fail(r->o, "out of memory: fields of %zu cells", demo_cells(p));
  demo_flow_set(&r->flow, 0, &r->now);
  if (send_beta(r, &r->now)) return 1;
  if (demo_plan(r->o, r->context, p, &r->o->params, FIELDS, &r->plan)) return 1;
  return demo_check(r->o, r->context, gmg_solver_create(r->context, p, &r->o->params, &r->solver));
}

/* The remaining divergence must be at most dt times the residual, plus rounding errors. */
static int judge(run *r)
{
  const double residual = fmax(r->report.target, r->report.status == GMG_STAGNATED ? r->report.floor : 0);
  double rounding = 0;
  for (int a = 0; a < r->problem.dim; a++) rounding += 1e-14 / r->problem.h[a];
  if (r->after.rms > rounding) r->worst = fmax(r->worst, r->after.rms / r->before.rms);
  if (r->after.rms <= 1.01 * r->dt * residual / sqrt((double)demo_cells(&r->problem)) + rounding) return 0;
  return demo_fail(r->o, "t = %g: divergence %.3e before and %.3e after the projection: more than the solver's tolerance",
                   r->time, r->before.rms, r->after.rms);
}

/* Removes the divergence of q. */
static int project(run *r, flow_state *q)
{
  const size_t cells = demo_cells(&r->problem);
  r->before = demo_flow_divergence(&r->flow, q, r->f);
  for (size_t i = 0; i < cells; i++) r->f[i] /= -r->dt;
  if (r->flow.ratio != 1) { /* the drop has moved */
    if (send_beta(r, q)) return 1;
    if (demo_check(r->o, r->context, gmg_solver_update(r->solver, &r->problem))) return 1;
  }
  if (demo_array_send(r->o, &r->to_f)) return 1;
  const gmg_status status = gmg_solve(r->solver, r->to_f.there, r->to_p.there, &r->report); /* the last pressure is the guess */
  if (status != GMG_OK && status != GMG_STAGNATED) return demo_check(r->o, r->context, status);
  void *const flux[3] = {r->to_flux[0].there, r->to_flux[1].there, r->to_flux[2].there};
  if (demo_check(r->o, r->context, gmg_flux(r->solver, r->to_p.there, flux, NULL))) return 1;
  for (int a = 0; a < r->problem.dim; a++)
    if (demo_array_fetch(r->o, &r->to_flux[a])) return 1;
  demo_flow_correct(&r->flow, q, r->dt, r->flux);
  r->after = demo_flow_divergence(&r->flow, q, r->f);
  r->cycles += r->report.cycles;
  return judge(r);
}

static int advance(run *r, double end)
{
  const flow *s = &r->flow;
  const double most = demo_flow_largest_step(s, &r->now), left = end - r->time;
  const double count = fmax(1, ceil(left / most - 1e-9));
  if (!(r->steps + count <= MOST_STEPS))
    return demo_fail(r->o, "--time %g: more than %d steps of at most %.3g; --viscosity %g, --density-ratio %g and the velocity limit them",
                     end, MOST_STEPS, most, s->viscosity, s->ratio);
  r->dt = left / count;
  demo_flow_euler(s, r->dt, &r->now, &r->half);
  if (project(r, &r->half)) return 1;
  demo_flow_euler(s, r->dt, &r->half, &r->next);
  if (project(r, &r->next)) return 1;
  demo_flow_average(s, &r->now, &r->next);
  r->time = count > 1 ? r->time + r->dt : end;
  r->steps++;
  return 0;
}

typedef struct number {
  const char *name;
  double value;
} number;

static int add_numbers(cJSON *to, const number *numbers, size_t count)
{
  int ok = to != NULL;
  for (size_t i = 0; i < count; i++) ok &= cJSON_AddNumberToObject(to, numbers[i].name, numbers[i].value) != NULL;
  return ok;
}

static void tell(run *r)
{
  const double energy = demo_flow_energy(&r->flow, &r->now), exact = known(r) ? demo_flow_exact_energy(&r->flow, r->time) : NAN;
  if (!r->o->quiet) {
    printf("%5d  %7.4f  %8.2e  %10.3e  %10.3e  %6d  %12.9f", r->steps, r->time, r->dt, r->before.max, r->after.max,
           r->report.cycles, energy);
    printf(known(r) ? "  %12.9f\n" : "\n", exact);
    fflush(stdout);
  }
  if (!r->rows) return;
  const number numbers[] = {{"step", r->steps}, {"time", r->time}, {"dt", r->dt}, {"cycles", r->report.cycles},
                            {"divergence_before", r->before.max}, {"divergence_after", r->after.max},
                            {"energy", energy}, {"exact_energy", exact}};
  cJSON *row = cJSON_CreateObject();
  r->complete &= add_numbers(row, numbers, sizeof numbers / sizeof *numbers);
  if (!row || !cJSON_AddItemToArray(r->rows, row)) r->complete = 0, cJSON_Delete(row);
}

static int simulate(run *r)
{
  const double end = r->o->time;
  if (!r->o->quiet && !r->o->order)
    printf("\n step     time        dt  div before   div after  cycles        energy%s\n", known(r) ? "         exact" : "");
  for (int row = 1; r->time < end;) {
    if (advance(r, end)) return 1;
    if (r->time < end * row / ROWS || r->o->order) continue;
    tell(r);
    while (r->time >= end * row / ROWS && row <= ROWS) row++;
  }
  if (known(r)) {
    demo_flow_set(&r->flow, r->time, &r->next);
    r->error = demo_flow_distance(&r->flow, &r->now, &r->next);
  }
  return 0;
}

static int write_json(run *r, const char *name)
{
  if (!r->o->json) return 0;
  cJSON *root = demo_json_start(r->o, r->context, &r->problem, &r->plan);
  const number numbers[] = {{"error_2", r->error.rms}, {"error_max", r->error.max}, {"divergence_left", r->worst},
                            {"steps_done", r->steps}, {"time", r->time}, {"density_ratio", r->flow.ratio},
                            {"viscosity", r->flow.viscosity}};
  int ok = root && r->complete && demo_json_report(root, &r->report, demo_message(r->context, r->report.status)) &&
           add_numbers(root, numbers, sizeof numbers / sizeof *numbers) && cJSON_AddItemToObject(root, name, r->rows);
  if (ok) r->rows = NULL; /* owned by root from here on */
  return demo_json_write(r->o, root, ok);
}

/* Uses the packed arrays of faces, which are large enough for a field of cells. */
static int write_fields(run *r)
{
  static const char *const names[3] = {"u", "v", "w"};
  demo_named_field fields[6] = {{"p", r->p}, {"density", r->beta[0]}, {"vorticity", r->beta[1]}};
  if (!r->o->output) return 0;
  if (demo_array_fetch(r->o, &r->to_p)) return 1;
  demo_flow_centre(&r->flow, &r->now, FLOW_DENSITY, r->beta[0]);
  demo_flow_vorticity(&r->flow, &r->now, r->beta[1]);
  for (int a = 0; a < r->problem.dim; a++) {
    demo_flow_centre(&r->flow, &r->now, a, r->flux[a]);
    fields[3 + a] = (demo_named_field){names[a], r->flux[a]};
  }
  return demo_fields_write(r->o, &r->problem, fields, 6);
}

static int solve_one(const demo_options *o, gmg_context *context)
{
  run r = {.o = o, .context = context, .problem = o->problem};
  int failed = run_create(&r);
  if (!failed) demo_print_header(o, &r.problem, &r.plan);
  if (!failed) failed = simulate(&r);
  if (!failed) {
    failed = write_json(&r, "steps") | write_fields(&r);
    const double bound = 2 * demo_flow_expected_error(&r.flow, r.time);
    printf("%s%s: %d steps, %.1f cycles a projection, each leaving at most %.1e of the divergence\n", o->quiet ? "" : "\n",
           o->program, r.steps, r.cycles / (2.0 * r.steps), r.worst);
    if (known(&r)) printf("%s: velocity off the exact one by %.3e (root mean square), %.3e (maximum; bound %.3e)\n",
                          o->program, r.error.rms, r.error.max, bound);
    if (known(&r) && !(r.error.max <= bound))
      failed = demo_fail(o, "the error is larger than second-order differences explain");
  }
  run_destroy(&r);
  return failed;
}

static int add_row(cJSON *rows, const run *r, double order)
{
  cJSON *row = cJSON_CreateObject();
  const number numbers[] = {{"error_2", r->error.rms}, {"error_max", r->error.max}, {"order_2", order}};
  const int ok = demo_json_sizes(row, "n", r->problem.n, (size_t)r->problem.dim) && add_numbers(row, numbers, 3);
  if (row && cJSON_AddItemToArray(rows, row)) return ok;
  cJSON_Delete(row);
  return 0;
}

/* n/4, n/2 and n cells along each axis. */
static int solve_order(const demo_options *o, gmg_context *context)
{
  cJSON *rows = o->json ? cJSON_CreateArray() : NULL;
  double before = NAN, order = NAN, length[3] = {1, 1, 1};
  int failed = 0, complete = 1;
  if (!o->quiet)
    printf("observed order of the velocity's error at t = %g\n\n     n  steps      2-norm   order     maximum\n", o->time);
  for (int which = 0; which < SIZES && !failed; which++) {
    run r = {.o = o, .context = context, .problem = o->problem};
    for (int a = 0; a < r.problem.dim; a++) r.problem.n[a] = o->problem.n[a] / 4 << which;
    gmg_problem_set_box(&r.problem, length);
    failed = run_create(&r);
    if (!failed) failed = simulate(&r);
    order = log2(before / r.error.rms), before = r.error.rms;
    if (!failed && !o->quiet)
      printf("%6zu  %5d  %10.4e  %6.3f  %10.4e\n", r.problem.n[0], r.steps, r.error.rms, order, r.error.max), fflush(stdout);
    if (rows) complete &= add_row(rows, &r, order);
    if (!failed && which == SIZES - 1) {
      cJSON_Delete(r.rows);
      r.rows = rows, rows = NULL, r.complete &= complete;
      failed = write_json(&r, "order") | write_fields(&r);
    }
    run_destroy(&r);
  }
  cJSON_Delete(rows);
  if (failed) return failed;
  printf("%s: observed order %.2f\n", o->program, order);
  return fabs(order - 2) <= 0.25 ? 0 : demo_fail(o, "observed order %.3f, not 2", order);
}

int main(int argc, char **argv)
{
  static const demo_program about = {
      "projection", "Incompressible Navier-Stokes by a projection method on a staggered grid (f64): travelling Taylor-Green "
      "vortices in a periodic box, a lid-driven cavity (--walls), a heavy drop (--density-ratio).",
      DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_METHOD | DEMO_TAKES_SMOOTHER | DEMO_TAKES_LIMIT |
          DEMO_TAKES_OUTPUT | DEMO_TAKES_ORDER | DEMO_TAKES_FLOW, DEMO_SMOOTH, 2, 64};
  demo_options o;
  gmg_context *context = NULL;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  if (o.problem.dim == 1) return demo_fail(&o, "--dim 1: flow without divergence does not move in 1D"), 2;
  if (!(o.density_ratio <= MOST_RATIO) || !(o.density_ratio >= 1 / MOST_RATIO))
    return demo_fail(&o, "--density-ratio %g: must be from %g to %g", o.density_ratio, 1 / MOST_RATIO, MOST_RATIO), 2;
  const size_t least = o.order ? FLOW_LEAST_CELLS << (SIZES - 1) : FLOW_LEAST_CELLS; /* of the finest grid */
  for (int a = 0; a < o.problem.dim; a++)
    if (o.problem.n[a] < least) return demo_fail(&o, "--n: an axis of %zu cells, at least %zu are needed", o.problem.n[a], least), 2;
  if (o.order && (o.closed || o.density_ratio != 1))
    return demo_fail(&o, "--order: the error is only known without --walls and --density-ratio"), 2;
  code = demo_context_create(&o, &context);
  if (!code) code = o.order ? solve_order(&o, context) : solve_one(&o, context);
  gmg_context_destroy(context);
  return code;
}
