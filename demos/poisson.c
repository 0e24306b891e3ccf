/* -Lap u + shift u = f in 1D, 2D or 3D with any mixture of boundary kinds. Prints the table of cycles of one solve and,
 * if the right-hand side comes from a known solution, the error. --order solves on four sizes and prints the observed
 * orders. */
#include "demo.h"
#include "exact.h"
#include "ranks.h"
#include "gmg_smoother.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const demo_program about = {
    "poisson",
    "Solves -Lap u + sigma u = f by geometric multigrid and compares with a known solution.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_GRID | DEMO_TAKES_SHIFT | DEMO_TAKES_METHOD |
        DEMO_TAKES_SMOOTHER | DEMO_TAKES_RHS | DEMO_TAKES_GUESS | DEMO_TAKES_LIMIT | DEMO_TAKES_OUTPUT | DEMO_TAKES_ORDER |
        DEMO_TAKES_RANKS,
    DEMO_SMOOTH, 3, 64};

enum { SIZES = 4 }; /* of --order */

/* One solve on one grid. */
typedef struct run {
  const demo_options *o;
  gmg_context *context; /* BORROWED */
  gmg_problem problem;
  demo_box box;       /* the unknowns of this process */
  gmg_problem fields; /* of the box's size */
  gmg_plan_info plan;
  gmg_solver *solver;
  demo_exact exact;
  demo_array f, u;
  void *error; /* NULL if no solution is known */
  gmg_report report;   /* valid while the solver lives */
  demo_errors errors;
} run;

static void run_destroy(run *r)
{
  gmg_solver_destroy(r->solver);
  demo_exact_destroy(&r->exact);
  demo_array_destroy(&r->f);
  demo_array_destroy(&r->u);
  free(r->error);
}

/* A process whose box does not touch the wall has no values. */
static int set_wall(run *r, int axis, int side, const demo_array *g)
{
  const size_t end = r->box.first[axis] + r->box.n[axis];
  const int touches = side ? end == r->problem.n[axis] : r->box.first[axis] == 0;
  demo_exact_face(&r->problem, &r->exact, axis, side, g->here);
  if (demo_ranks_agree(r->o, demo_array_send(r->o, g))) return 1;
  return demo_check(r->o, r->context, gmg_set_boundary_values(r->solver, axis, side, touches ? g->there : NULL));
}

static int set_walls(run *r)
{
  const gmg_problem *p = &r->problem;
  int failed = 0;
  for (int a = 0; a < p->dim && !failed; a++) {
    gmg_problem face = r->fields;
    face.n[a] = 1;
    demo_array g;
    const int none = !demo_array_create(r->o, &face, &g);
    failed = demo_ranks_agree(r->o, none ? demo_fail(r->o, "out of memory: values of a face") : 0);
    for (int side = 0; side < 2 && !failed && p->bc[a][0] != GMG_PERIODIC; side++) failed = set_wall(r, a, side, &g);
    demo_array_destroy(&g);
  }
  return failed;
}

static int fill(run *r)
{
  const gmg_problem *p = &r->problem;
  const int known = r->o->rhs == DEMO_SMOOTH;
  const int ok = demo_array_create(r->o, &r->fields, &r->f) & demo_array_create(r->o, &r->fields, &r->u);
  r->error = known ? demo_field_create(&r->fields) : NULL;
  if (!ok || (known && (!r->error || !demo_exact_create(p, &r->box, &r->exact))))
    return demo_fail(r->o, "out of memory: fields of %zu unknowns", demo_cells(&r->fields));
  if (r->o->guess == DEMO_RANDOM) demo_field_random(p, &r->box, 2, r->u.here);
  if (known) demo_exact_rhs(p, &r->exact, r->f.here);
  else demo_field_random(p, &r->box, 1, r->f.here);
  return demo_array_send(r->o, &r->f) || demo_array_send(r->o, &r->u);
}

static int find_box(run *r)
{
  r->fields = r->problem;
  if (demo_check(r->o, r->context, gmg_local_box(r->context, &r->problem, r->box.first, r->box.n))) return 1;
  for (int a = 0; a < 3; a++) r->fields.n[a] = r->box.n[a];
  return 0;
}

/* The caller frees r->solver and the fields by run_destroy(), also after a failure. */
static int run_solve(run *r, const gmg_params *params)
{
  if (demo_check(r->o, r->context, gmg_solver_create(r->context, &r->problem, params, &r->solver))) return 1;
  if (demo_ranks_agree(r->o, find_box(r) || fill(r)) || (r->o->rhs == DEMO_SMOOTH && set_walls(r))) return 1;
  const gmg_status status = gmg_solve(r->solver, r->f.there, r->u.there, &r->report);
  if (!gmg_status_is_outcome(status)) return demo_check(r->o, r->context, status);
  if (demo_ranks_agree(r->o, demo_array_fetch(r->o, &r->u))) return 1;
  if (r->o->rhs == DEMO_SMOOTH)
    r->errors = demo_exact_errors(&r->problem, &r->exact, r->u.here, r->report.singular, r->error);
  return 0;
}

static int write_fields(const run *r)
{
  const demo_named_field fields[] = {{"u", r->u.here}, {"f", r->f.here}, {"error", r->error}};
  return r->o->output ? demo_fields_write_boxes(r->o, &r->problem, &r->box, fields, 3) : 0;
}

/* Adds the rows of --order, if there are any, and the report and errors of the last run. */
static int write_json(const run *r, cJSON *rows)
{
  if (!r->o->json || demo_rank() > 0) return cJSON_Delete(rows), 0;
  cJSON *root = demo_json_start(r->o, r->context, &r->problem, &r->plan);
  int ok = root && demo_json_report(root, &r->report, demo_message(r->context, r->report.status));
  if (r->o->rhs == DEMO_SMOOTH) {
    ok = ok && cJSON_AddNumberToObject(root, "error_2", r->errors.two);
    ok = ok && cJSON_AddNumberToObject(root, "error_max", r->errors.max);
  }
  if (rows && !(root && cJSON_AddItemToObject(root, "order", rows))) ok = 0, cJSON_Delete(rows);
  return demo_json_write(r->o, root, ok);
}

static int solve_one(const demo_options *o, gmg_context *context)
{
  run r = {.o = o, .context = context, .problem = o->problem};
  demo_table table = {0, 0};
  gmg_params params = o->params;
  if (!o->quiet) params.monitor = demo_table_row, params.monitor_data = &table;
  int failed = demo_plan(o, context, &r.problem, &params, 3, &r.plan);
  if (!failed) {
    demo_print_header(o, &r.problem, &r.plan);
    failed = run_solve(&r, &params);
  }
  if (!failed) {
    if (!o->quiet) putchar('\n');
    if (!o->quiet && o->rhs == DEMO_SMOOTH)
      printf("error against the exact solution%s: %.4e (volume-weighted 2-norm), %.4e (maximum)\n",
             r.report.singular ? ", means removed" : "", r.errors.two, r.errors.max);
    failed = write_json(&r, NULL) | write_fields(&r);
    failed |= demo_print_outcome(o, context, &r.report);
  }
  run_destroy(&r);
  return failed;
}

/* The sizes of --order: m/8, m/4, m/2 and m intervals, where m is the multiple of 8 nearest to the given number. So h halves
 * exactly for all boundary conditions. */
static int sized_problem(const demo_options *o, int which, gmg_problem *p)
{
  double length[3] = {1, 1, 1};
  *p = o->problem;
  for (int a = 0; a < p->dim; a++) {
    length[a] = demo_length(&o->problem, a);
    const size_t asked = demo_intervals(&o->problem, a), base = (asked + 4) / 8;
    p->n[a] = o->problem.n[a] + (base << which) - asked;
    if (base == 0 || p->n[a] == 0) {
      demo_fail(o, "--n %zu: too small for --order: the smallest of its four grids has no unknowns", o->problem.n[a]);
      return 2;
    }
  }
  gmg_problem_set_box(p, length);
  return 0;
}

static int add_row(cJSON *rows, const run *r, double order_two, double order_max)
{
  cJSON *row = cJSON_CreateObject();
  int ok = demo_json_sizes(row, "n", r->problem.n, (size_t)r->problem.dim) &
           demo_json_numbers(row, "h", r->problem.h, (size_t)r->problem.dim);
  ok &= cJSON_AddNumberToObject(row, "error_2", r->errors.two) != NULL;
  ok &= cJSON_AddNumberToObject(row, "error_max", r->errors.max) != NULL;
  ok &= cJSON_AddNumberToObject(row, "order_2", order_two) != NULL;
  ok &= cJSON_AddNumberToObject(row, "order_max", order_max) != NULL;
  ok &= cJSON_AddStringToObject(row, "status", demo_status_name(r->report.status)) != NULL;
  ok &= cJSON_AddNumberToObject(row, "cycles", r->report.cycles) != NULL;
  ok &= cJSON_AddNumberToObject(row, "factor", r->report.factor) != NULL;
  ok &= cJSON_AddNumberToObject(row, "seconds", r->report.seconds) != NULL;
  if (row && cJSON_AddItemToArray(rows, row)) return ok;
  cJSON_Delete(row);
  return 0;
}

static void print_row(const run *r, double order_two, double order_max)
{
  char shape[80];
  int used = 0;
  for (int a = 0; a < r->problem.dim; a++)
    used += snprintf(shape + used, sizeof shape - (size_t)used, "%s%zu", a ? "x" : "", r->problem.n[a]);
  printf("%16s  %10.4e  ", shape, r->errors.two);
  printf(isnan(order_two) ? "     -  " : "%6.3f  ", order_two);
  printf("%10.4e  ", r->errors.max);
  printf(isnan(order_max) ? "     -  " : "%6.3f  ", order_max);
  printf("%6d  %6.3f  %9.3g  %s\n", r->report.cycles, r->report.factor, r->report.seconds,
         gmg_status_string(r->report.status));
  fflush(stdout);
}

/* Solves size `which` into *r; the orders follow from the errors of the size before. */
static int order_row(run *r, int which, const gmg_params *params, demo_errors before, cJSON *rows, int *complete)
{
  const demo_options *o = r->o;
  int failed = sized_problem(o, which, &r->problem);
  if (failed) return failed;
  if (demo_plan(o, r->context, &r->problem, params, 3, &r->plan)) return 1;
  if (run_solve(r, params)) return 1;
  const double order_two = which ? log2(before.two / r->errors.two) : NAN;
  const double order_max = which ? log2(before.max / r->errors.max) : NAN;
  if (!o->quiet) print_row(r, order_two, order_max);
  if (o->json) *complete &= add_row(rows, r, order_two, order_max);
  return 0;
}

static void print_order_head(const demo_options *o)
{
  printf("observed order of the error, %dD, %s-centred, smoother %s, rtol %g\n\n", o->problem.dim,
         demo_word_of(demo_centering_words, (int)o->problem.centering), o->params.smoother ? o->params.smoother->name : "chosen by gmg", o->params.rtol);
  printf("%16s  %10s  %6s  %10s  %6s  %6s  %6s  %9s\n", "unknowns", "2-norm", "order", "maximum", "order", "cycles",
         "factor", "seconds");
}

static int solve_order(const demo_options *given, gmg_context *context)
{
  demo_options options = *given, *o = &options;
  if (o->params.rtol == 0) o->params.rtol = o->problem.type == GMG_F32 ? 1e-6 : 1e-10; /* far below the errors */
  cJSON *rows = o->json ? cJSON_CreateArray() : NULL;
  demo_errors before = {NAN, NAN};
  run r = {.o = o, .context = context};
  int failed = 0, complete = 1;
  if (!o->quiet) print_order_head(o);
  for (int which = 0; which < SIZES && !failed; which++) {
    run_destroy(&r);
    r = (run){.o = o, .context = context};
    failed = order_row(&r, which, &o->params, before, rows, &complete);
    before = r.errors;
    if (!failed && r.report.status != GMG_OK && r.report.status != GMG_STAGNATED) break;
  }
  if (failed) {
    cJSON_Delete(rows);
  } else {
    if (!complete) cJSON_Delete(rows), rows = NULL;
    failed = (o->json && !complete ? demo_fail(o, "--json %s: out of memory", o->json) : write_json(&r, rows)) |
             write_fields(&r) | demo_print_outcome(o, context, &r.report);
  }
  run_destroy(&r);
  return failed;
}

int main(int argc, char **argv)
{
  demo_options o;
  gmg_context *context = NULL;
  demo_ranks_begin(&argc, &argv);
  int code = demo_options_read(argc, argv, &about, &o);
  if (code < 0 && o.order && o.rhs != DEMO_SMOOTH) {
    demo_fail(&o, "--order with --rhs random: the error is only known with --rhs smooth");
    code = 2;
  }
  if (demo_ranks_agree(&o, code > 0) && code < 0) code = 1; /* another process has failed */
  if (code < 0) code = demo_ranks_context(&o, &context);
  if (context && !code) code = o.order ? solve_order(&o, context) : solve_one(&o, context);
  gmg_context_destroy(context);
  return demo_ranks_end(code);
}
