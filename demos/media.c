/* A solve in a medium of the gallery: coefficients that jump or turn, or a stretched mesh. scripts/plot.py draws the medium, the
 * solution and the convergence as one picture. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

static const demo_program about = {
    "media",
    "Solves -div(beta grad u) + sigma u = f in the unit box, in a medium of the gallery. `--medium list` prints the media. "
    "scripts/plot.py media draws the files that --json and --output write.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_MEDIUM | DEMO_TAKES_SHIFT | DEMO_TAKES_METHOD |
        DEMO_TAKES_SMOOTHER | DEMO_TAKES_RHS | DEMO_TAKES_GUESS | DEMO_TAKES_LIMIT | DEMO_TAKES_OUTPUT,
    DEMO_RANDOM, 2, 256};

typedef struct run {
  const demo_options *o;
  gmg_context *context;
  demo_medium medium;
  gmg_plan_info plan;
  gmg_solver *solver;
  demo_array f, u;
} run;

static int write_json(const run *r, const gmg_report *report)
{
  const demo_options *o = r->o;
  if (!o->json) return 0;
  cJSON *root = demo_json_start(o, r->context, &o->problem, &r->plan);
  const int ok = root && cJSON_AddStringToObject(root, "about", r->medium.about) &&
                 cJSON_AddStringToObject(root, "shows", r->medium.shows) &&
                 demo_json_report(root, report, demo_message(r->context, report->status));
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
  if (demo_plan(o, r->context, p, &params, 2 + p->dim, &r->plan)) return 1;
  demo_print_header(o, p, &r->plan);
  if (demo_check(o, r->context, gmg_solver_create(r->context, p, &params, &r->solver))) return 1;
  if (!(demo_array_create(o, p, &r->f) & demo_array_create(o, p, &r->u)))
    return demo_fail(o, "out of memory: fields of %zu unknowns", demo_cells(p));
  demo_fill_rhs(o, p, r->f.here), demo_fill_guess(o, p, r->u.here);
  if (demo_array_send(o, &r->f) || demo_array_send(o, &r->u)) return 1;
  const gmg_status status = gmg_solve(r->solver, r->f.there, r->u.there, &report);
  if (!gmg_status_is_outcome(status)) return demo_check(o, r->context, status);
  if (demo_array_fetch(o, &r->u)) return 1;
  const demo_named_field fields[] = {{"u", r->u.here}, {"f", r->f.here}, {r->medium.shows, r->medium.picture}};
  const int failed = write_json(r, &report) | (o->output ? demo_fields_write(o, p, fields, 3) : 0);
  if (!o->quiet) putchar('\n');
  return failed | demo_print_outcome(o, r->context, &report);
}

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  if (!o.medium) o.medium = "ball";
  run r = {.o = &o};
  code = demo_context_create(&o, &r.context);
  if (!code) code = demo_medium_take(&o, &r.medium);
  if (!code) code = solve(&r);
  gmg_solver_destroy(r.solver);
  gmg_context_destroy(r.context);
  demo_array_destroy(&r.f), demo_array_destroy(&r.u);
  demo_medium_destroy(&r.medium);
  return code;
}
