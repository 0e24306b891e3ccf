/* What all rows have in common: fields, problem, parameters, the texts of the record, and errors. Calls rows.c; called by cpu.c. */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe(bench_job *job, const bench_row *row)
{
  bench_record *r = job->record;
  snprintf(r->what, sizeof r->what, "%s%s%s", row->what, row->contrast > 0 ? "; " : "", row->contrast > 0 ? BENCH_BALL : "");
  if (row->measure == bench_triad_row) {
    snprintf(r->f, sizeof r->f, "none");
    snprintf(r->start, sizeof r->start, "none");
    snprintf(r->floor_of, sizeof r->floor_of, "none");
  } else {
    snprintf(r->f, sizeof r->f, "%s", bench_rhs_text(row->rhs));
    snprintf(r->start, sizeof r->start, "%s", row->fmg ? "full multigrid" : "zero");
  }
  snprintf(r->norm, sizeof r->norm, "%s", row->rtol > 0 ? BENCH_NORM : "none");
  if (row->rtol > 0) r->tolerance = row->rtol;
}

/* Returns GMG_OK, or the first error. */
static gmg_status prepare(bench_job *job, const bench_row *row)
{
  const size_t n[3] = {job->n, job->n, job->n};
  gmg_plan_info plan;
  job->problem = gmg_problem_default(3, n);
  job->params = gmg_params_default();
  job->problem.beta = job->beta;
  if (row->smoother) job->params.smoother = gmg_smoother_by_name(row->smoother);
  if (row->rtol > 0) job->params.rtol = row->rtol;
  if (row->rtol == 0) job->params.check_every = row->check_every ? row->check_every : GMG_NONE; /* solves: the default */
  job->params.fmg = row->fmg;
  job->params.precision = row->precision;
  job->params.direct = row->directly ? GMG_DIRECT_ALWAYS : GMG_DIRECT_NEVER;
  gmg_status status = gmg_plan(job->context, &job->problem, &job->params, &plan);
  if (status) return status;
  job->record->floor = plan.floor;
  if (plan.direct) snprintf(job->record->setting, sizeof job->record->setting, "direct");
  else snprintf(job->record->setting, sizeof job->record->setting, "%s(%d,%d), corrections in %s%s", &"V\0W\0F"[2 * (int)(plan.cycle - GMG_CYCLE_V)],
           plan.pre, plan.post, plan.precision == GMG_PRECISION_MIXED ? "float" : "double",
           plan.accel == GMG_ACCEL_FLEXIBLE_CG ? ", flexible CG" : "");
  snprintf(job->record->floor_of, sizeof job->record->floor_of, "a smooth f, from gmg_plan()");
  return gmg_solver_create(job->context, &job->problem, &job->params, &job->solver);
}

static int allocate(bench_job *job, const bench_row *row)
{
  job->f = bench_field(job->cells);
  job->u = bench_field(job->cells);
  job->r = bench_field(job->cells);
  job->beta = row->contrast > 0 ? bench_field(job->cells) : NULL;
  if (!job->f || !job->u || !job->r || (row->contrast > 0 && !job->beta)) return 1;
  bench_fill_rhs(row->rhs, job->f, job->n);
  if (job->beta) bench_fill_ball(job->beta, job->n, row->contrast);
  return 0;
}

static int measure(bench_job *job, const bench_row *row)
{
  if (row->measure == bench_triad_row) return row->measure(job); /* needs no solver */
  if (allocate(job, row)) {
    snprintf(job->error, sizeof job->error, "out of memory");
    return 1;
  }
  const gmg_status status = prepare(job, row);
  if (status == GMG_ERR_UNSUPPORTED) {
    snprintf(job->record->skipped, sizeof job->record->skipped, "%s: %s", gmg_status_string(status),
             gmg_context_error(job->context));
    return 0;
  }
  if (status) {
    snprintf(job->error, sizeof job->error, "%s: %s", gmg_status_string(status), gmg_context_error(job->context));
    return 1;
  }
  return row->measure(job);
}

int bench_run(const bench_row *row, gmg_context *context, size_t n, int runs, bench_record *record)
{
  bench_job job = {.row = row, .context = context, .runs = runs, .n = n, .cells = n * n * n, .record = record};
  bench_record_start(record, row->name, n);
  snprintf(record->floor_of, sizeof record->floor_of, "not known");
  describe(&job, row);
  const int failed = measure(&job, row);
  if (failed) {
    fprintf(stderr, "bench_cpu: %s: %s\n", record->name, job.error);
    snprintf(record->status, sizeof record->status, "%s", job.error);
  }
  gmg_solver_destroy(job.solver);
  free(job.f), free(job.u), free(job.r), free(job.beta);
  return failed;
}
