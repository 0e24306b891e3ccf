/* Finds the fastest parameters for a problem and a device, by a line search along one parameter after the other (Whaley, Petitet,
 * Dongarra 2001). It starts from the given parameters. It keeps a change that makes a solve faster by more than the spread of the
 * times, also when both are measured again. Finally it compares the result with the start, alternately. If the result is still
 * faster, it is recommended, as C and as options of the demos. */
#include "variants.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const demo_program about = {
    "tune",
    "Tries variants of the parameters on a problem and a device, one at a time, and prints those that make its solves faster.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_GRID | DEMO_TAKES_SHIFT | DEMO_TAKES_METHOD |
        DEMO_TAKES_SMOOTHER | DEMO_TAKES_RHS | DEMO_TAKES_GUESS | DEMO_TAKES_LIMIT | DEMO_TAKES_TUNING | DEMO_TAKES_MEDIUM,
    DEMO_RANDOM, 3, 64};

enum { REPEATS = 25, MOST_TRIALS = 1000, TEXT = 512 };
static const double SAMPLE = 0.03; /* seconds for which short solves are repeated, to average out disturbances */
static const double HOPELESS = 2;  /* times the best: such a trial is not measured again */

typedef struct tuner {
  const demo_options *o; /* the start */
  gmg_context *context;
  demo_array f, u;
  double begun;
  trial start, best;
  gmg_params tried[MOST_TRIALS];
  int count, in_time;
  char text[TEXT]; /* why the last trial was not a success */
  cJSON *variants; /* NULL: no JSON wanted */
  int complete;
  const gmg_smoother *smoother; /* of the start, if gmg chooses it */
} tuner;

/* --- measuring --- */

static int set_parameters(const tuner *t, trial *x)
{
  demo_options o = *t->o;
  if (!o.params.smoother) o.params.smoother = t->smoother;
  for (int i = 0; i < PARAMETERS; i++)
    if (x->choice[i] >= 0 && !demo_options_set(&o, demo_parameters[i].option, demo_parameters[i].value[x->choice[i]]))
      return demo_fail(t->o, "--%s %s: not known", demo_parameters[i].option, demo_parameters[i].value[x->choice[i]]);
  x->params = o.params;
  return 0;
}

static int reset_guess(const tuner *t)
{
  if (t->o->guess == DEMO_ZERO) return demo_array_zero(t->o, &t->u);
  demo_fill_guess(t->o, &t->o->problem, t->u.here);
  return demo_array_send(t->o, &t->u);
}

/* One solve from the guess, which sets x->status and *seconds. Returns 0, or an exit code if the program must end. */
static int solve_once(tuner *t, gmg_solver *solver, trial *x, double *seconds)
{
  gmg_report report;
  if (reset_guess(t)) return 1;
  x->status = gmg_solve(solver, t->f.there, t->u.there, &report);
  if (!gmg_status_is_outcome(x->status)) return demo_check(t->o, t->context, x->status);
  snprintf(t->text, sizeof t->text, "%s", demo_message(t->context, x->status));
  x->cycles = report.cycles, x->factor = report.factor;
  *seconds = report.seconds;
  return 0;
}

static int compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The median time of the solves in SAMPLE seconds, at least one. before: the time of one solve. Stops at a solve that does not
 * succeed. x->status is that of the last. */
static int sample(tuner *t, gmg_solver *solver, trial *x, double before, double *seconds)
{
  double times[REPEATS];
  const int count = before > 0 ? (int)fmax(1, fmin(REPEATS, SAMPLE / before)) : 1;
  for (int i = 0; i < count; i++) {
    if (solve_once(t, solver, x, &times[i])) return 1;
    if (x->status != GMG_OK) return 0;
  }
  qsort(times, (size_t)count, sizeof *times, compare);
  *seconds = times[count / 2];
  return 0;
}

/* A warm-up solve, and RUNS samples. If the first sample is hopeless, no others. */
static int measure(tuner *t, trial *x)
{
  gmg_solver *solver;
  double seconds = 0, first = 0;
  int failed = 0;
  x->runs = 0, x->cycles = 0, x->factor = NAN;
  x->status = gmg_solver_create(t->context, &t->o->problem, &x->params, &solver);
  if (x->status) {
    snprintf(t->text, sizeof t->text, "%s", gmg_context_error(t->context));
    return x->status == GMG_ERR_DEVICE ? demo_check(t->o, t->context, x->status) : 0;
  }
  for (int i = -1; i < RUNS && !failed; i++) {
    failed = i < 0 ? solve_once(t, solver, x, &seconds) : sample(t, solver, x, first, &seconds);
    if (i < 0) first = seconds;
    if (failed || x->status != GMG_OK) x->runs = 0;
    if (failed || x->status != GMG_OK) break;
    const int hopeless = i < 0 && seconds > HOPELESS * demo_middle(&t->best);
    if (i >= 0 || hopeless) demo_add_time(x, seconds);
    if (hopeless) break;
  }
  gmg_solver_destroy(solver);
  return failed;
}

/* --- output --- */

static int add_spread(cJSON *to, const trial *x)
{
  int ok = cJSON_AddNumberToObject(to, "seconds", x->runs ? demo_middle(x) : NAN) != NULL;
  ok &= cJSON_AddNumberToObject(to, "min", x->runs ? x->seconds[0] : NAN) != NULL;
  ok &= cJSON_AddNumberToObject(to, "max", x->runs ? x->seconds[x->runs - 1] : NAN) != NULL;
  return ok & (cJSON_AddNumberToObject(to, "runs", x->runs) != NULL);
}

/* A row of the table and an entry of the JSON. name: "option value"; verdict: the decision. */
static void tell(tuner *t, const char *name, const trial *x, const char *verdict)
{
  if (!t->o->quiet) {
    printf("%-28s", name);
    if (x->runs) printf("  %6d  %7.4f  %9.3f  %9.3f - %-9.3f", x->cycles, x->factor, 1e3 * demo_middle(x), 1e3 * x->seconds[0],
                        1e3 * x->seconds[x->runs - 1]);
    else printf("  %s: %s", gmg_status_string(x->status), t->text);
    printf("  %s\n", verdict);
    fflush(stdout);
  }
  if (!t->variants) return;
  cJSON *to = cJSON_CreateObject();
  int ok = to && cJSON_AddStringToObject(to, "name", name) && add_spread(to, x);
  ok = ok && cJSON_AddNumberToObject(to, "cycles", x->cycles) && cJSON_AddNumberToObject(to, "factor", x->factor);
  ok = ok && cJSON_AddStringToObject(to, "status", demo_status_name(x->status)) && cJSON_AddStringToObject(to, "message", t->text);
  ok = ok && cJSON_AddStringToObject(to, "verdict", verdict);
  if (!ok || !cJSON_AddItemToArray(t->variants, to)) t->complete = 0, cJSON_Delete(to);
}

static int add_best(cJSON *root, const trial *best, const trial *start)
{
  cJSON *to = cJSON_AddObjectToObject(root, "best"), *before = cJSON_AddObjectToObject(root, "start");
  cJSON *options = cJSON_AddArrayToObject(to, "options"), *lines = cJSON_AddArrayToObject(to, "c");
  int ok = options && lines && add_spread(to, best) && before && add_spread(before, start);
  for (int i = 0; i < PARAMETERS && ok; i++) {
    char option[TEXT], line[TEXT];
    if (best->choice[i] < 0) continue;
    demo_option_text(i, best->choice[i], option, sizeof option);
    demo_c_text(i, best->choice[i], line, sizeof line);
    ok = cJSON_AddItemToArray(options, cJSON_CreateString(option)) && cJSON_AddItemToArray(lines, cJSON_CreateString(line));
  }
  return ok;
}

/* --- searching --- */

/* The parameters that gmg uses: automatic ones chosen, and those that the smoother does not use cleared. */
static gmg_params meaning(const tuner *t, const gmg_params *params)
{
  gmg_plan_info plan;
  gmg_params p = *params;
  const unsigned kind = demo_kind_of(p.smoother);
  const int limited = t->o->device.kind == DEMO_HOST || p.async.in_flight || p.async.oversubscription;
  if (p.async.assignment == GMG_ASSIGN_AUTO) p.async.assignment = limited ? GMG_ASSIGN_DYNAMIC : GMG_ASSIGN_STATIC;
  if (kind != ASYNC) {
    p.async.overlap = p.async.passes = p.async.in_flight = p.async.oversubscription = 0, p.async.assignment = GMG_ASSIGN_STATIC;
    p.async.order = GMG_ORDER_NATURAL, p.async.local = GMG_LOCAL_RED_BLACK;
    memset(p.async.block, 0, sizeof p.async.block);
  }
  if (kind != ASYNC) p.async.local_sweeps = 0;
  if (kind != CHEBYSHEV) p.chebyshev_degree = 0;
  if (kind == CHEBYSHEV) p.omega = 0;
  if (gmg_plan(t->context, &t->o->problem, params, &plan) != GMG_OK) return p;
  if (plan.direct) { /* nothing else has an effect */
    gmg_params direct = gmg_params_default();
    direct.direct = GMG_DIRECT_ALWAYS, direct.precision = plan.precision, direct.accel = plan.accel;
    return direct;
  }
  p.smoother = plan.smoother, p.accel = plan.accel, p.cycle = plan.cycle, p.precision = plan.precision, p.coarse = plan.coarse;
  if (kind == ASYNC) p.async.local = plan.local, p.async.order = plan.order, p.async.overlap = plan.overlap ? plan.overlap : GMG_NONE;
  return p;
}

static int same_meaning(const tuner *t, const gmg_params *a, const gmg_params *b)
{
  const gmg_params x = meaning(t, a), y = meaning(t, b);
  return memcmp(&x, &y, sizeof x) == 0;
}

static int was_tried(tuner *t, const gmg_params *params)
{
  const gmg_params p = meaning(t, params);
  for (int i = 0; i < t->count; i++)
    if (memcmp(&t->tried[i], &p, sizeof p) == 0) return 1;
  if (t->count < MOST_TRIALS) t->tried[t->count++] = p;
  return 0;
}

static const char *verdict(const tuner *t, const trial *x, int once, int faster)
{
  if (faster) return "kept";
  if (once) return "not again";
  if (x->runs == 1) return "hopeless";
  return x->runs && demo_middle(x) < demo_middle(&t->best) ? "within the spread" : "";
}

/* Tries value v of parameter i, with the best other values so far. */
static int try_value(tuner *t, int i, int v, int *improved)
{
  trial x = t->best;
  char name[TEXT];
  x.choice[i] = v;
  if (set_parameters(t, &x)) return 1;
  if (was_tried(t, &x.params)) return 0;
  if (measure(t, &x)) return 1;
  const int once = demo_is_faster(&x, &t->best, RUNS) || (x.runs == RUNS && x.seconds[RUNS - 1] < t->best.seconds[0]);
  int faster = 0;
  if (once) { /* measures the best again, too: it may have been disturbed */
    if (measure(t, &t->best) || measure(t, &x)) return 1;
    faster = demo_is_faster(&x, &t->best, RUNS);
  }
  demo_option_text(i, v, name, sizeof name);
  tell(t, name, &x, verdict(t, &x, once, faster));
  if (faster) t->best = x, *improved = 1;
  return 0;
}

static int out_of_time(tuner *t)
{
  if (demo_now() - t->begun < t->o->seconds && t->count < MOST_TRIALS) return 0;
  t->in_time = 0;
  return 1;
}

static int search(tuner *t)
{
  for (int improved = 1; improved;) {
    improved = 0;
    for (int i = 0; i < PARAMETERS; i++) {
      const parameter *p = &demo_parameters[i];
      if ((p->dim && p->dim != t->o->problem.dim) || (p->on_device && t->o->device.kind != DEMO_CUDA)) continue;
      for (int v = 0; p->value[v] && (p->smoothers & demo_kind_of(t->best.params.smoother)); v++) {
        if (out_of_time(t)) return 0;
        if (try_value(t, i, v, &improved)) return 1;
      }
    }
  }
  return 0;
}

/* Reverts changes without effect: values that gmg chooses anyway, or those of the start. */
static int prune(tuner *t)
{
  int left = 0;
  for (int i = 0; i < PARAMETERS; i++) {
    trial x = t->best;
    x.choice[i] = -1;
    if (t->best.choice[i] < 0) continue;
    if (set_parameters(t, &x)) return -1;
    if (same_meaning(t, &x.params, &t->best.params)) t->best = x;
    else left++;
  }
  return left;
}

/* Measures start and best alternately, so that disturbances affect both. The best of many trials is partly chance. */
static int confirm(tuner *t, int *confirmed)
{
  trial *const both[] = {&t->start, &t->best};
  t->start.runs = t->best.runs = 0;
  for (int round = 0; round < ROUNDS; round++)
    for (int w = 0; w < 2; w++) {
      gmg_solver *solver;
      double seconds = 0;
      if (demo_check(t->o, t->context, gmg_solver_create(t->context, &t->o->problem, &both[w]->params, &solver))) return 1;
      int failed = solve_once(t, solver, both[w], &seconds);
      if (!failed && both[w]->status == GMG_OK) failed = sample(t, solver, both[w], seconds, &seconds);
      gmg_solver_destroy(solver);
      if (failed) return 1;
      if (both[w]->status == GMG_OK) demo_add_time(both[w], seconds);
    }
  tell(t, "start, once more", &t->start, "");
  tell(t, "best, once more", &t->best, "");
  *confirmed = demo_is_faster(&t->best, &t->start, ROUNDS);
  return 0;
}

static void print_best(const tuner *t)
{
  char text[TEXT];
  if (t->o->quiet) return;
  printf("\nto set in C, on top of the start:\n");
  for (int i = 0; i < PARAMETERS; i++)
    if (t->best.choice[i] >= 0) demo_c_text(i, t->best.choice[i], text, sizeof text), printf("  %s\n", text);
  printf("as options of the demos:\n ");
  for (int i = 0; i < PARAMETERS; i++)
    if (t->best.choice[i] >= 0) demo_option_text(i, t->best.choice[i], text, sizeof text), printf(" %s", text);
  printf("\n\n");
}

/* Prints the last line, and writes the JSON. */
static int finish(tuner *t, cJSON *root, int confirmed)
{
  const demo_options *o = t->o;
  const char *left = t->in_time ? "" : "; more would have been tried with more --seconds";
  if (confirmed) print_best(t);
  else t->best = t->start;
  if (root) {
    t->complete &= add_best(root, &t->best, &t->start);
    t->complete &= cJSON_AddBoolToObject(root, "finished", t->in_time) != NULL;
    t->complete &= cJSON_AddNumberToObject(root, "tuning_seconds", demo_now() - t->begun) != NULL;
    if (demo_json_write(o, root, t->complete)) return 1;
  }
  if (t->best.runs == 0)
    return demo_fail(o, "no variant of %d reached the tolerance in --max-cycles %d%s", t->count, o->params.max_cycles, left);
  if (!confirmed)
    printf("%s: leave the parameters as they are: nothing of %d variants was faster than %.4g ms by more than the spread%s\n",
           o->program, t->count, 1e3 * demo_middle(&t->start), left);
  else if (t->start.runs == 0)
    printf("%s: %.4g ms where the start does not reach the tolerance, best of %d variants%s\n", o->program,
           1e3 * demo_middle(&t->best),
           t->count, left);
  else
    printf("%s: %.4g ms instead of %.4g, %.2f times as fast, best of %d variants%s\n", o->program, 1e3 * demo_middle(&t->best),
           1e3 * demo_middle(&t->start), demo_middle(&t->start) / demo_middle(&t->best), t->count, left);
  return 0;
}

static int tune(tuner *t, cJSON *root)
{
  int confirmed = 0;
  for (int i = 0; i < PARAMETERS; i++) t->start.choice[i] = -1;
  if (set_parameters(t, &t->start)) return cJSON_Delete(root), 1;
  (void)was_tried(t, &t->start.params);
  if (!t->o->quiet)
    printf("\nmedian of 3 samples (in the end: 5), each the median of as many solves as %g ms hold, %d at most\n"
           "%-28s  %6s  %7s  %9s  %21s\n", 1e3 * SAMPLE, REPEATS, "variant", "cycles", "factor", "ms", "min - max");
  if (measure(t, &t->start)) return cJSON_Delete(root), 1;
  tell(t, "start", &t->start, "");
  if (t->start.status == GMG_STAGNATED) {
    cJSON_Delete(root);
    return demo_fail(t->o, "no parameters reach that tolerance, give another --rtol: %s", t->text);
  }
  t->best = t->start;
  int failed = search(t);
  const int changes = failed ? 0 : prune(t);
  failed = failed || changes < 0 || (changes > 0 && confirm(t, &confirmed));
  if (failed) return cJSON_Delete(root), 1;
  return finish(t, root, confirmed);
}

static int run(tuner *t)
{
  const demo_options *o = t->o;
  gmg_plan_info plan;
  if (demo_plan(o, t->context, &o->problem, &o->params, 2, &plan)) return 1;
  if (!(demo_array_create(o, &o->problem, &t->f) & demo_array_create(o, &o->problem, &t->u)))
    return demo_fail(o, "out of memory: fields of %zu unknowns", demo_cells(&o->problem));
  demo_fill_rhs(o, &o->problem, t->f.here);
  if (demo_array_send(o, &t->f)) return 1;
  demo_print_header(o, &o->problem, &plan);
  cJSON *root = o->json ? demo_json_start(o, t->context, &o->problem, &plan) : NULL;
  t->variants = cJSON_AddArrayToObject(root, "variants");
  t->complete = !o->json || t->variants;
  t->begun = demo_now();
  t->smoother = plan.smoother;
  return tune(t, root);
}

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  tuner *t = calloc(1, sizeof *t);
  if (!t) return demo_fail(&o, "out of memory");
  t->o = &o, t->in_time = 1;
  demo_medium medium = {.about = NULL};
  code = demo_context_create(&o, &t->context);
  if (!code) code = demo_medium_take(&o, &medium);
  if (!code) code = run(t);
  gmg_context_destroy(t->context);
  demo_array_destroy(&t->f);
  demo_array_destroy(&t->u);
  demo_medium_destroy(&medium);
  free(t);
  return code;
}
