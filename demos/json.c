/* Reports as JSON: problem, params, plan and results, with the names of gmg.h. NaN and infinity
 * become null. Every addition is checked, so that a file is either complete or not written. */
#include "demo.h"
#include "ranks.h"
#include "gmg_smoother.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const status_names[] = {
#define STATUS_NAME(name, text) #name,
    GMG_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
};

const char *demo_status_name(gmg_status status)
{
  return (size_t)status < sizeof status_names / sizeof *status_names ? status_names[status] : "?";
}

const char *demo_message(const gmg_context *context, gmg_status status)
{
  const char *text = gmg_context_error(context);
  return status != GMG_OK && *text ? text : gmg_status_string(status);
}

static int number(cJSON *to, const char *name, double value)
{
  return cJSON_AddNumberToObject(to, name, value) != NULL;
}

static int boolean(cJSON *to, const char *name, int value)
{
  return cJSON_AddBoolToObject(to, name, value) != NULL;
}

static int text(cJSON *to, const char *name, const char *value)
{
  return cJSON_AddStringToObject(to, name, value) != NULL;
}

/* Takes ownership of item, also if it fails. */
static int append(cJSON *array, cJSON *item)
{
  if (item && cJSON_AddItemToArray(array, item)) return 1;
  cJSON_Delete(item);
  return 0;
}

int demo_json_numbers(cJSON *to, const char *name, const double *value, size_t count)
{
  cJSON *array = cJSON_AddArrayToObject(to, name);
  int ok = array != NULL;
  for (size_t i = 0; i < count && ok; i++) ok = append(array, cJSON_CreateNumber(value[i]));
  return ok;
}

int demo_json_sizes(cJSON *to, const char *name, const size_t *value, size_t count)
{
  cJSON *array = cJSON_AddArrayToObject(to, name);
  int ok = array != NULL;
  for (size_t i = 0; i < count && ok; i++) ok = append(array, cJSON_CreateNumber((double)value[i]));
  return ok;
}

static int add_walls(cJSON *to, const gmg_problem *p)
{
  cJSON *axes = cJSON_AddArrayToObject(to, "bc"), *robins = cJSON_AddArrayToObject(to, "robin");
  int ok = axes && robins;
  for (int a = 0; a < p->dim && ok; a++) {
    const char *kinds[2];
    for (int side = 0; side < 2; side++) kinds[side] = demo_word_of(demo_bc_words, (int)p->bc[a][side]);
    ok = append(axes, cJSON_CreateStringArray(kinds, 2));
    cJSON *pair = cJSON_CreateArray();
    for (int side = 0; side < 2 && pair; side++) ok &= append(pair, cJSON_CreateDoubleArray(p->robin[a][side], 2));
    ok &= append(robins, pair);
  }
  return ok;
}

static int add_problem(cJSON *root, const demo_options *o, const gmg_problem *p)
{
  cJSON *to = cJSON_AddObjectToObject(root, "problem");
  double length[3];
  for (int a = 0; a < p->dim; a++) length[a] = demo_length(p, a);
  int ok = to != NULL;
  ok &= number(to, "dim", p->dim);
  ok &= demo_json_sizes(to, "n", p->n, (size_t)p->dim);
  ok &= number(to, "unknowns", (double)demo_cells(p));
  ok &= demo_json_numbers(to, "h", p->h, (size_t)p->dim);
  ok &= demo_json_numbers(to, "length", length, (size_t)p->dim);
  ok &= text(to, "centering", demo_word_of(demo_centering_words, (int)p->centering));
  ok &= text(to, "type", demo_word_of(demo_type_words, (int)p->type));
  ok &= add_walls(to, p);
  ok &= number(to, "shift", p->shift);
  ok &= text(to, "beta", p->beta ? "cells" : p->beta_face[0] ? "faces" : "one");
  ok &= text(to, "sigma", p->sigma ? "cells" : "none");
  if (o->medium) ok &= text(to, "medium", o->medium) & number(to, "strength", o->strength);
  if (p->stencil) ok &= demo_json_numbers(to, "stencil", &p->stencil->entry[0][0][0], 27);
  ok &= text(to, "rhs", demo_word_of(demo_rhs_words, o->rhs));
  ok &= text(to, "guess", demo_word_of(demo_guess_words, o->guess));
  return ok;
}

static int count(int member) { return member == GMG_NONE ? 0 : member; }

static int add_params(cJSON *root, const demo_options *o, const gmg_problem *problem, const gmg_plan_info *plan)
{
  const gmg_params *p = &o->params;
  const double rtol = p->rtol > 0 ? p->rtol : problem->type == GMG_F32 ? 1e-5 : 1e-8; /* the default (gmg.h) */
  const struct {
    const char *name;
    double value;
  } numbers[] = {{"fmg", count(p->fmg)}, {"pre", count(p->pre)}, {"post", count(p->post)}, {"omega", p->omega},
                 {"local_sweeps", p->async.local_sweeps}, {"overlap", plan ? plan->overlap : count(p->async.overlap)}, {"passes", p->async.passes},
                 {"seed", (double)p->async.seed}, {"in_flight", p->async.in_flight},
                 {"oversubscription", p->async.oversubscription}, {"max_levels", p->max_levels}, {"max_cycles", count(p->max_cycles)},
                 {"rtol", rtol}, {"over_correction", p->over_correction}};
  const struct {
    const char *name;
    const demo_word *words;
    int value;
  } choices[] = {{"cycle", demo_cycle_words, (int)p->cycle},       {"local", demo_local_words, (int)p->async.local},
                 {"order", demo_block_order_words, (int)p->async.order}, {"accel", demo_accel_words, (int)p->accel},
                 {"coarse", demo_coarse_words, (int)p->coarse},           {"direct", demo_direct_words, (int)p->direct},
                 {"assignment", demo_assignment_words, (int)p->async.assignment},
                 {"precision", demo_precision_words, (int)p->precision},
                 {"coarsening", demo_coarsening_words, (int)p->coarsening}, {"restriction", demo_restriction_words, (int)p->restriction},
                 {"line_axes", demo_line_axes_words, p->line_axes}, {"halos", demo_halos_words, (int)p->halos}};
  cJSON *to = cJSON_AddObjectToObject(root, "params");
  int ok = to != NULL;
  ok &= text(to, "smoother", p->smoother ? p->smoother->name : "");
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
    ok &= text(to, choices[i].name, demo_word_of(choices[i].words, choices[i].value));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) ok &= number(to, numbers[i].name, numbers[i].value);
  ok &= demo_json_sizes(to, "block", p->async.block, (size_t)problem->dim);
  ok &= boolean(to, "deterministic", p->deterministic) & boolean(to, "symmetric", p->symmetric);
  ok &= boolean(to, "report_level_times", p->report_level_times);
  return ok;
}

static int add_warnings(cJSON *to, const gmg_plan_info *plan)
{
  static const struct {
    unsigned bit;
    const char *text;
  } rows[] = {
#define WARNING_ROW(name, bit, text) {bit, text},
      GMG_WARNING_LIST(WARNING_ROW)
#undef WARNING_ROW
  };
  cJSON *array = cJSON_AddArrayToObject(to, "warnings");
  int ok = array != NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (plan->warnings & rows[i].bit) ok &= append(array, cJSON_CreateString(rows[i].text));
  return ok;
}

static int add_plan(cJSON *root, const gmg_problem *problem, const gmg_plan_info *plan)
{
  cJSON *to = cJSON_AddObjectToObject(root, "plan"), *levels = cJSON_AddArrayToObject(to, "levels");
  int ok = to && levels;
  ok &= number(to, "bytes", (double)plan->bytes);
  ok &= number(to, "predicted_factor", plan->predicted_factor);
  ok &= number(to, "floor", plan->floor);
  if (!isnan(plan->margin)) ok &= number(to, "margin", plan->margin);
  ok &= number(to, "over_correction", plan->over_correction);
  ok &= text(to, "smoother", plan->smoother->name);
  ok &= text(to, "coarsening", demo_word_of(demo_coarsening_words, (int)plan->coarsening));
  ok &= text(to, "accel", demo_word_of(demo_accel_words, (int)plan->accel));
  ok &= text(to, "cycle", demo_word_of(demo_cycle_words, (int)plan->cycle));
  ok &= text(to, "precision", demo_word_of(demo_precision_words, (int)plan->precision));
  ok &= boolean(to, "direct", plan->direct);
  if (plan->halos) ok &= text(to, "halos", demo_word_of(demo_halos_words, (int)plan->halos));
  ok &= add_warnings(to, plan);
  for (int l = 0; l < plan->levels && ok; l++) {
    const gmg_level_plan *L = &plan->level[l];
    cJSON *level = cJSON_CreateObject();
    ok &= demo_json_sizes(level, "n", L->n, (size_t)problem->dim);
    ok &= number(level, "cells", (double)L->cells);
    ok &= demo_json_numbers(level, "h", L->h, (size_t)problem->dim);
    ok &= number(level, "omega", L->omega) & number(level, "factor", L->factor);
    ok &= append(level ? levels : NULL, level);
  }
  return ok;
}

cJSON *demo_json_start(const demo_options *o, const gmg_context *context, const gmg_problem *problem,
                       const gmg_plan_info *plan)
{
  cJSON *root = cJSON_CreateObject();
  int ok = root != NULL;
  ok &= text(root, "program", o->program);
  ok &= text(root, "version", GMG_VERSION_STRING);
  ok &= text(root, "device", o->device.kind == DEMO_CUDA ? "cuda" : "host") & text(root, "device_name", o->device_name);
  ok &= number(root, "threads", gmg_context_threads(context));
  ok &= number(root, "processes", demo_ranks());
  ok = ok && add_problem(root, o, problem) && add_params(root, o, problem, plan);
  ok = ok && (!plan || add_plan(root, problem, plan));
  if (ok) return root;
  cJSON_Delete(root);
  return NULL;
}

int demo_json_report(cJSON *to, const gmg_report *r, const char *message)
{
  int ok = text(to, "status", demo_status_name(r->status)) & text(to, "message", message);
  ok &= number(to, "cycles", r->cycles) & number(to, "residual0", r->residual0) & number(to, "residual", r->residual);
  ok &= number(to, "factor", r->factor) & number(to, "seconds", r->seconds) & number(to, "target", r->target);
  ok &= number(to, "floor", r->floor);
  ok &= demo_json_numbers(to, "history", r->history, (size_t)r->history_length);
  cJSON *levels = cJSON_AddArrayToObject(to, "levels");
  for (int l = 0; l < r->levels && levels; l++) {
    cJSON *level = cJSON_CreateObject();
    ok &= demo_json_sizes(level, "n", r->level[l].n, 3) & number(level, "cells", (double)r->level[l].cells);
    ok &= number(level, "seconds", r->level[l].seconds);
    ok &= append(level ? levels : NULL, level);
  }
  ok &= boolean(to, "singular", r->singular) & number(to, "mean_removed", r->mean_removed);
  ok &= boolean(to, "deterministic", r->deterministic);
  return ok && levels;
}

int demo_json_write_report(const demo_options *o, const gmg_context *context, const gmg_problem *problem,
                           const gmg_plan_info *plan, const gmg_report *report)
{
  if (!o->json) return 0;
  cJSON *root = demo_json_start(o, context, problem, plan);
  return demo_json_write(o, root, root && demo_json_report(root, report, demo_message(context, report->status)));
}

int demo_json_write(const demo_options *o, cJSON *root, int complete)
{
  char *printed = root && complete ? cJSON_Print(root) : NULL;
  cJSON_Delete(root);
  if (!printed) return demo_fail(o, "--json %s: out of memory", o->json);
  FILE *file = fopen(o->json, "w");
  int ok = file != NULL;
  if (file) {
    ok = fprintf(file, "%s\n", printed) == (int)strlen(printed) + 1;
    ok &= fclose(file) == 0;
  }
  cJSON_free(printed);
  return ok ? 0 : demo_fail(o, "--json %s: could not be written", o->json);
}
