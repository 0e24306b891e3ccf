/* One solve, for programs that show nothing but a solve: plan, table of cycles, report, fields. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <stdio.h>

typedef struct run {
  const demo_options *o;
  gmg_context *context;
  const demo_medium *medium; /* NULL: none */
  gmg_plan_info plan;
  gmg_solver *solver;
  demo_array f, u;
} run;

static int write_json(const run *r, const gmg_report *report)
{
  const demo_options *o = r->o;
  if (!o->json) return 0;
  cJSON *root = demo_json_start(o, r->context, &o->problem, &r->plan);
  int ok = root && demo_json_report(root, report, demo_message(r->context, report->status));
  if (r->medium)
    ok = ok && cJSON_AddStringToObject(root, "about", r->medium->about) && cJSON_AddStringToObject(root, "shows", r->medium->shows);
  return demo_json_write(o, root, ok);
}

static int solve(run *r)
{
  const demo_options *o = r->o;
  const gmg_problem *p = &o->problem;
  demo_table table = {0, 0};
  gmg_params params = o->params;
  gmg_report report;
  if (!o->quiet) params.monitor = demo_table_row, params.monitor_data = &table;
  if (demo_plan(o, r->context, p, &params, r->medium ? 2 + p->dim : 2, &r->plan)) return 1;
  demo_print_header(o, p, &r->plan);
  if (demo_check(o, r->context, gmg_solver_create(r->context, p, &params, &r->solver))) return 1;
  if (!(demo_array_create(o, p, &r->f) & demo_array_create(o, p, &r->u)))
    return demo_fail(o, "out of memory: fields of %zu unknowns", demo_cells(p));
  demo_fill_rhs(o, p, r->f.here), demo_fill_guess(o, p, r->u.here);
  if (demo_array_send(o, &r->f) || demo_array_send(o, &r->u)) return 1;
  const gmg_status status = gmg_solve(r->solver, r->f.there, r->u.there, &report);
  if (!gmg_status_is_outcome(status)) return demo_check(o, r->context, status);
  if (demo_array_fetch(o, &r->u)) return 1;
  const demo_named_field fields[] = {{"u", r->u.here}, {"f", r->f.here}, {r->medium ? r->medium->shows : "", r->medium ? r->medium->picture : NULL}};
  const int failed = write_json(r, &report) | (o->output ? demo_fields_write(o, p, fields, 3) : 0);
  if (!o->quiet) putchar('\n');
  return failed | demo_print_outcome(o, r->context, &report);
}

int demo_solve_once(const demo_options *o, gmg_context *context, const demo_medium *medium)
{
  run r = {.o = o, .context = context, .medium = medium};
  const int failed = solve(&r);
  gmg_solver_destroy(r.solver);
  demo_array_destroy(&r.f), demo_array_destroy(&r.u);
  return failed;
}
