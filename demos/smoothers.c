/* Compares all built-in smoothers on one problem. The convergence factor is that of a fixed number of cycles for f = 0 and a
 * random guess, where rounding errors do not limit it. The time is that of a solve to the tolerance for a random f. Smoothers that
 * are not deterministic run several times, with the spread. scripts/plot.py history draws the JSON. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const demo_program about = {
    "smoothers",
    "Compares all built-in smoothers on one problem: factor and seconds per cycle, and what a solve takes. The "
    "fields written are those of the last smoother.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_GRID | DEMO_TAKES_SHIFT | DEMO_TAKES_METHOD | DEMO_TAKES_LIMIT |
        DEMO_TAKES_REPEATS | DEMO_TAKES_RHS | DEMO_TAKES_OUTPUT | DEMO_TAKES_MEDIUM,
    DEMO_RANDOM, 3, 64};

/* Shared by all smoothers. */
typedef struct bench {
  const demo_options *o;
  gmg_context *context;
  demo_array f, u;
} bench;

/* The results of one smoother. */
typedef struct result {
  gmg_plan_info plan;
  double *factor, *seconds; /* per cycle; one entry per run */
  int runs;
  int deterministic;
  gmg_status status; /* of the worst run, or of the create that refused */
} result;

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double middle(const double *sorted, int count)
{
  return count ? (sorted[(count - 1) / 2] + sorted[count / 2]) / 2 : NAN;
}

static int add_history(cJSON *histories, const gmg_report *r)
{
  cJSON *one = cJSON_CreateDoubleArray(r->history, r->history_length);
  if (one && cJSON_AddItemToArray(histories, one)) return 1;
  cJSON_Delete(one);
  return 0;
}

/* f = 0 and the same random guess in every run, so u is the error. */
static int measure_factor(bench *b, gmg_params params, result *r, cJSON *histories, int *complete)
{
  const demo_options *o = b->o;
  const size_t cells = demo_cells(&o->problem);
  gmg_solver *solver;
  gmg_report report;
  params.max_cycles = o->cycles;
  params.fmg = 0;      /* full multigrid would not use the guess */
  params.rtol = 1e-300; /* never met: every run is o->cycles long */
  r->status = gmg_solver_create(b->context, &o->problem, &params, &solver);
  if (r->status) return 0;
  for (size_t i = 0; i < cells; i++) demo_set(o->problem.type, b->f.here, i, 0);
  int wanted = o->runs, failed = demo_array_send(o, &b->f);
  for (r->runs = 0; r->runs < wanted && !failed; r->runs++) {
    demo_field_random(&o->problem, NULL, 2, b->u.here);
    if ((failed = demo_array_send(o, &b->u))) break;
    const gmg_status status = gmg_solve(solver, b->f.there, b->u.there, &report);
    if (!gmg_status_is_outcome(status)) failed = demo_check(o, b->context, status);
    if (failed) break;
    if (status == GMG_DIVERGED) r->status = status;
    r->deterministic = report.deterministic;
    if (r->deterministic) wanted = 1;
    r->factor[r->runs] = report.factor;
    r->seconds[r->runs] = report.seconds / (report.cycles > 0 ? report.cycles : 1);
    if (histories) *complete &= add_history(histories, &report);
  }
  gmg_solver_destroy(solver);
  qsort(r->factor, (size_t)r->runs, sizeof *r->factor, compare);
  qsort(r->seconds, (size_t)r->runs, sizeof *r->seconds, compare);
  return failed;
}

static int add_smoother(cJSON *to, const char *name, const result *r, const char *message)
{
  cJSON *factor = cJSON_AddObjectToObject(to, "factor");
  const int last = r->runs - 1;
  int ok = cJSON_AddStringToObject(to, "name", name) && cJSON_AddStringToObject(to, "message", message);
  ok = ok && cJSON_AddStringToObject(to, "status", demo_status_name(r->status));
  ok = ok && cJSON_AddNumberToObject(to, "runs", r->runs);
  ok = ok && cJSON_AddBoolToObject(to, "deterministic", r->deterministic);
  ok = ok && cJSON_AddNumberToObject(factor, "min", r->runs ? r->factor[0] : NAN);
  ok = ok && cJSON_AddNumberToObject(factor, "median", middle(r->factor, r->runs));
  ok = ok && cJSON_AddNumberToObject(factor, "max", r->runs ? r->factor[last] : NAN);
  ok = ok && cJSON_AddNumberToObject(to, "seconds_per_cycle", middle(r->seconds, r->runs));
  return ok && cJSON_AddNumberToObject(to, "predicted_factor", r->runs ? r->plan.predicted_factor : NAN);
}

static void print_smoother(const char *name, const result *r, const gmg_report *solved)
{
  char spread[32] = "";
  if (r->runs > 1) snprintf(spread, sizeof spread, "%.3f..%.3f", r->factor[0], r->factor[r->runs - 1]);
  printf("%-14s  %6.3f  %13s  %3d  ", name, middle(r->factor, r->runs), spread, r->runs);
  printf(isnan(r->plan.predicted_factor) ? "        -" : "%9.3f", r->plan.predicted_factor);
  printf("  %9.3g  %6d  %9.3g  %s\n", middle(r->seconds, r->runs), solved->cycles, solved->seconds,
         gmg_status_string(solved->status));
  fflush(stdout);
}

/* Solves to the tolerance from a zero guess. */
static int measure_time(bench *b, const gmg_params *params, const char *name, result *r, cJSON *to, int *complete)
{
  const demo_options *o = b->o;
  const size_t cells = demo_cells(&o->problem);
  gmg_solver *solver;
  gmg_report report;
  if (demo_check(o, b->context, gmg_solver_create(b->context, &o->problem, params, &solver))) return 1;
  for (size_t i = 0; i < cells; i++) demo_set(o->problem.type, b->u.here, i, 0);
  demo_fill_rhs(o, &o->problem, b->f.here);
  int failed = demo_array_send(o, &b->u) || demo_array_send(o, &b->f);
  const gmg_status status = failed ? GMG_ERR_DEVICE : gmg_solve(solver, b->f.there, b->u.there, &report);
  if (!failed && !gmg_status_is_outcome(status)) {
    failed = demo_check(o, b->context, status);
  } else if (!failed) {
    if (!o->quiet) print_smoother(name, r, &report);
    if (to) {
      cJSON *solve = cJSON_AddObjectToObject(to, "solve");
      *complete &= solve && demo_json_report(solve, &report, demo_message(b->context, status));
    }
  }
  gmg_solver_destroy(solver);
  return failed;
}

/* Prints a row for a smoother that refuses these parameters. */
static int refused(bench *b, const char *name, const result *r)
{
  if (!b->o->quiet) printf("%-14s  %s: %s\n", name, gmg_status_string(r->status), gmg_context_error(b->context));
  return 0;
}

static int run_smoother(bench *b, const char *name, result *r, cJSON *to, int *complete)
{
  gmg_params params = b->o->params;
  params.smoother = gmg_smoother_by_name(name);
  cJSON *histories = to ? cJSON_AddArrayToObject(to, "histories") : NULL;
  *complete &= !to || histories;
  r->status = gmg_plan(b->context, &b->o->problem, &params, &r->plan);
  int failed = r->status ? 0 : measure_factor(b, params, r, histories, complete);
  if (failed) return failed;
  if (to) *complete &= add_smoother(to, name, r, demo_message(b->context, r->status));
  if (r->runs == 0) return refused(b, name, r);
  return measure_time(b, &params, name, r, to, complete);
}

static int run_all(bench *b, int *ran)
{
  const demo_options *o = b->o;
  cJSON *root = o->json ? demo_json_start(o, b->context, &o->problem, NULL) : NULL;
  cJSON *list = cJSON_AddArrayToObject(root, "smoothers");
  double numbers[2][10000]; /* the maximum of --runs */
  int complete = !o->json || list, failed = 0, count = 0;
  cJSON_DeleteItemFromObject(cJSON_GetObjectItem(root, "params"), "smoother"); /* because all smoothers run */
  if (!o->quiet)
    printf("%-14s  %6s  %13s  %3s  %9s  %9s  %6s  %9s\n", "smoother", "factor", "min..max", "runs", "predicted",
           "s/cycle", "cycles", "seconds");
  for (int i = 0; gmg_smoother_name(i) && !failed; i++, count++) {
    result r = {.factor = numbers[0], .seconds = numbers[1]};
    cJSON *to = list ? cJSON_CreateObject() : NULL;
    failed = run_smoother(b, gmg_smoother_name(i), &r, to, &complete);
    *ran += r.runs > 0;
    if (to && !cJSON_AddItemToArray(list, to)) complete = 0, cJSON_Delete(to);
  }
  if (!failed && o->json) failed = demo_json_write(o, root, complete);
  else cJSON_Delete(root);
  const demo_named_field fields[] = {{"u", b->u.here}, {"f", b->f.here}};
  if (!failed && o->output) failed = demo_array_fetch(o, &b->u) || demo_fields_write(o, &o->problem, fields, 2);
  if (!failed) printf("%s: %d of %d smoothers ran, %zu unknowns\n", o->program, *ran, count, demo_cells(&o->problem));
  return failed | (*ran == 0);
}

static int run(bench *b)
{
  const demo_options *o = b->o;
  gmg_plan_info plan;
  int ran = 0;
  gmg_params params = gmg_params_default(); /* reports a bad problem before its fields are allocated */
  if (demo_plan(o, b->context, &o->problem, &params, 2, &plan)) return 1;
  if (!(demo_array_create(o, &o->problem, &b->f) & demo_array_create(o, &o->problem, &b->u)))
    return demo_fail(o, "out of memory: fields of %zu unknowns", demo_cells(&o->problem));
  if (!o->quiet)
    printf("factor: random guess, f = 0, %d cycles; predicted: Fourier analysis; cycles and seconds: %s f to "
           "the tolerance\n\n", o->cycles, demo_word_of(demo_rhs_words, o->rhs));
  return run_all(b, &ran);
}

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  bench b = {.o = &o};
  demo_medium medium = {.about = NULL};
  code = demo_context_create(&o, &b.context);
  if (!code) code = demo_medium_take(&o, &medium);
  if (!code) code = run(&b);
  gmg_context_destroy(b.context);
  demo_array_destroy(&b.f);
  demo_array_destroy(&b.u);
  demo_medium_destroy(&medium);
  return code;
}
