/* -Lap u + sigma u = f for positive shifts over many decades, with one solver: gmg_solver_update() sets each new shift. For small
 * shifts this is Poisson's equation, for large ones a multiple of the identity. The convergence factor must be good for all. */
#include "demo.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const demo_program about = {
    "helmholtz",
    "Solves -Lap u + sigma u = f for a sweep of positive shifts sigma, all with one solver. The fields "
    "written are those of the last shift.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_GRID | DEMO_TAKES_METHOD |
        DEMO_TAKES_SMOOTHER | DEMO_TAKES_RHS | DEMO_TAKES_GUESS | DEMO_TAKES_LIMIT | DEMO_TAKES_SHIFTS | DEMO_TAKES_OUTPUT,
    DEMO_RANDOM, 3, 64};

typedef struct sweep {
  const demo_options *o;
  gmg_context *context;
  gmg_problem problem;
  gmg_plan_info plan; /* for the current shift */
  gmg_solver *solver;
  demo_array f, u;
  cJSON *rows; /* NULL without --json */
  int complete;
  int unfinished; /* solves that neither converged nor stagnated */
} sweep;

static int add_row(cJSON *rows, double shift, double predicted, const gmg_report *report, const char *message)
{
  cJSON *row = cJSON_CreateObject();
  int ok = cJSON_AddNumberToObject(row, "shift", shift) && cJSON_AddNumberToObject(row, "predicted_factor", predicted);
  ok = ok && demo_json_report(row, report, message);
  if (row && cJSON_AddItemToArray(rows, row)) return ok;
  cJSON_Delete(row);
  return 0;
}

static int solve_shift(sweep *s, int decade)
{
  const demo_options *o = s->o;
  gmg_report report;
  s->problem.shift = pow(10, decade);
  if (demo_plan(o, s->context, &s->problem, &o->params, 2, &s->plan)) return 1;
  if (demo_check(o, s->context, gmg_solver_update(s->solver, &s->problem))) return 1;
  demo_fill_guess(o, &s->problem, s->u.here); /* the same for every shift */
  if (demo_array_send(o, &s->u)) return 1;
  const gmg_status status = gmg_solve(s->solver, s->f.there, s->u.there, &report);
  if (!gmg_status_is_outcome(status)) return demo_check(o, s->context, status);
  s->unfinished += status != GMG_OK && status != GMG_STAGNATED;
  if (!o->quiet) {
    printf("   1e%+03d  %6d  %8.2e  ", decade, report.cycles, report.factor);
    printf(isnan(s->plan.predicted_factor) ? "        -" : "%9.2e", s->plan.predicted_factor);
    printf("  %10.3e  %9.3g  %s\n", report.residual / report.residual0, report.seconds, gmg_status_string(status));
    fflush(stdout);
  }
  if (s->rows) s->complete &= add_row(s->rows, s->problem.shift, s->plan.predicted_factor, &report,
                                      demo_message(s->context, status));
  return 0;
}

static int prepare(sweep *s)
{
  const demo_options *o = s->o;
  s->problem.shift = pow(10, o->shifts[0]);
  if (demo_plan(o, s->context, &s->problem, &o->params, 2, &s->plan)) return 1;
  demo_print_header(o, &s->problem, &s->plan);
  if (demo_check(o, s->context, gmg_solver_create(s->context, &s->problem, &o->params, &s->solver))) return 1;
  const int ok = demo_array_create(o, &s->problem, &s->f) & demo_array_create(o, &s->problem, &s->u);
  s->rows = o->json ? cJSON_CreateArray() : NULL;
  s->complete = !o->json || s->rows;
  if (!ok) return demo_fail(o, "out of memory: fields of %zu unknowns", demo_cells(&s->problem));
  demo_fill_rhs(o, &s->problem, s->f.here);
  return demo_array_send(o, &s->f);
}

static int write_json(sweep *s)
{
  cJSON *root = demo_json_start(s->o, s->context, &s->o->problem, NULL);
  const int ok = root && s->complete && cJSON_AddItemToObject(root, "sweep", s->rows);
  if (ok) s->rows = NULL; /* owned by root from here on */
  return demo_json_write(s->o, root, ok);
}

static int run(sweep *s)
{
  const demo_options *o = s->o;
  if (prepare(s)) return 1;
  if (!o->quiet)
    printf("\n%s f, %s guess\n  sigma  cycles    factor  predicted    relative    seconds\n",
           demo_word_of(demo_rhs_words, o->rhs), demo_word_of(demo_guess_words, o->guess));
  for (int decade = o->shifts[0]; decade <= o->shifts[1]; decade++)
    if (solve_shift(s, decade)) return 1;
  const demo_named_field fields[] = {{"u", s->u.here}, {"f", s->f.here}};
  if (o->output && demo_array_fetch(o, &s->u)) return 1;
  const int failed = (o->json ? write_json(s) : 0) | (o->output ? demo_fields_write(o, &s->problem, fields, 2) : 0);
  printf("%s: %d shifts on one solver, %d not solved to the tolerance or the rounding floor\n", o->program,
         o->shifts[1] - o->shifts[0] + 1, s->unfinished);
  return failed | (s->unfinished > 0);
}

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  sweep s = {.o = &o, .problem = o.problem};
  code = demo_context_create(&o, &s.context);
  if (!code) code = run(&s);
  cJSON_Delete(s.rows);
  gmg_solver_destroy(s.solver);
  gmg_context_destroy(s.context);
  demo_array_destroy(&s.f);
  demo_array_destroy(&s.u);
  return code;
}
