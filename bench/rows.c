/* How a row is measured. The first run of a measurement is a warm-up. u is reset outside the timed section. */
#include "rows.h"

#include "triad.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Compulsory bytes of a V(1,1) cycle with one pass over memory per leg. Each leg reads u and f, and writes u. The downward leg
 * writes an eighth of a residual. The upward leg reads an eighth of a correction. Coarser levels add a seventh. */
static const double CYCLE_BYTES = (25 + 25) * 8 / 7.0;

enum { SHORT_SOLVE = 2, LONG_SOLVE = 7 }; /* cycles of the two solves whose difference is a cycle's time */

static const char *const status_names[] = {
#define STATUS_NAME(name, text) #name,
    GMG_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
};

static int told(bench_job *job, gmg_status status)
{
  const char *text = gmg_context_error(job->context);
  snprintf(job->error, sizeof job->error, "%s: %s", status_names[status], *text ? text : gmg_status_string(status));
  return 1;
}

static void set_floor(bench_job *job)
{
  const double largest = job->row->contrast > 1 ? job->row->contrast : 1;
  job->record->floor = bench_floor(job->n, largest, bench_norm2(job->u, job->cells), bench_norm2(job->f, job->cells));
  snprintf(job->record->floor_of, sizeof job->record->floor_of, "this f: eps/2 ||A|| ||u|| / ||f||");
}

/* One gmg_solve() from zero. Outcomes other than GMG_OK are a result, errors are not. */
static int solve(bench_job *job, gmg_report *report, double *seconds)
{
  bench_zero(job->u, job->cells);
  const double start = omp_get_wtime();
  const gmg_status status = gmg_solve(job->solver, job->f, job->u, report);
  *seconds = omp_get_wtime() - start;
  return gmg_status_is_outcome(status) ? 0 : told(job, status);
}

static int rebuild(bench_job *job)
{
  gmg_solver_destroy(job->solver);
  job->solver = NULL;
  const gmg_status status = gmg_solver_create(job->context, &job->problem, &job->params, &job->solver);
  return status == GMG_OK ? 0 : told(job, status);
}

int bench_triad_row(bench_job *job)
{
  bench_samples speed = {0};
  bench_record *r = job->record;
  if (bench_triad(4 * job->cells, job->runs, &speed)) {
    snprintf(job->error, sizeof job->error, "out of memory");
    return 1;
  }
  for (int i = 0; i < speed.count; i++) bench_add(&r->samples, speed.value[i] * 1e-9);
  snprintf(r->unit, sizeof r->unit, "GB/s");
  return 0;
}

int bench_residual(bench_job *job)
{
  bench_random(job->u, 0, job->cells, 2);
  for (int run = -1; run < 4 * job->runs; run++) {
    const double start = omp_get_wtime();
    const gmg_status status = gmg_residual(job->solver, job->f, job->u, job->r);
    if (status) return told(job, status);
    if (run >= 0) bench_add(&job->record->samples, omp_get_wtime() - start);
  }
  snprintf(job->record->start, sizeof job->record->start, "uniform in -0.5..0.5, splitmix64, seed 2");
  job->record->bytes = 24;
  return 0;
}

/* Adds the seconds of a solve of exactly `cycles` cycles. Creates its solver. */
static int run_of(bench_job *job, int cycles, bench_samples *to, gmg_report *report)
{
  job->params.max_cycles = cycles;
  if (rebuild(job)) return 1;
  for (int run = -1; run < job->runs; run++) {
    double seconds;
    if (solve(job, report, &seconds)) return 1;
    if (run >= 0) bench_add(to, seconds);
  }
  if (report->cycles == cycles) return 0;
  snprintf(job->error, sizeof job->error, "%d cycles wanted, %d done: %s", cycles, report->cycles,
           gmg_context_error(job->context));
  return 1;
}

/* Difference quotient, so that the fixed costs of a solve cancel, such as norms and the first residual. */
static int cycle_samples(bench_job *job, bench_samples *to, double *factor)
{
  bench_samples few = {0}, many = {0};
  gmg_report report;
  if (run_of(job, SHORT_SOLVE, &few, &report) || run_of(job, LONG_SOLVE, &many, &report)) return 1;
  for (int i = 0; i < few.count; i++) bench_add(to, (many.value[i] - few.value[i]) / (LONG_SOLVE - SHORT_SOLVE));
  *factor = report.factor;
  return 0;
}

int bench_cycle(bench_job *job)
{
  job->params.rtol = 1e-30; /* never reached: the number of cycles is given */
  job->record->bytes = CYCLE_BYTES;
  if (cycle_samples(job, &job->record->samples, &job->record->factor)) return 1;
  set_floor(job);
  return 0;
}

/* The cycle of mixed precision alone, that is, the cycle of a float problem. Its fields are stored in those of doubles. */
int bench_cycle_float(bench_job *job)
{
  double *const f = job->f;
  float *slim = malloc(job->cells * sizeof *slim);
  if (!slim) {
    snprintf(job->error, sizeof job->error, "out of memory");
    return 1;
  }
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < job->cells; i++) slim[i] = (float)f[i];
  job->f = (void *)slim;
  job->problem.type = GMG_F32;
  snprintf(job->record->type, sizeof job->record->type, "f32");
  snprintf(job->record->setting, sizeof job->record->setting, "V(1,1), float throughout");
  job->params.rtol = 1e-30;
  job->record->bytes = CYCLE_BYTES / 2;
  const int failed = cycle_samples(job, &job->record->samples, &job->record->factor);
  job->f = f;
  free(slim);
  return failed;
}

int bench_solve(bench_job *job)
{
  gmg_report report;
  bench_record *r = job->record;
  for (int run = -1; run < job->runs; run++) {
    double seconds;
    if (solve(job, &report, &seconds)) return 1;
    if (run >= 0) bench_add(&r->samples, seconds);
  }
  r->cycles = report.cycles;
  r->factor = report.factor;
  snprintf(r->status, sizeof r->status, "%s", status_names[report.status]);
  set_floor(job);
  bench_record_note(r, "residual", report.residual / bench_norm2(job->f, job->cells));
  bench_record_note(r, "solution_norm", bench_norm2(job->u, job->cells));
  return 0;
}

/* Stores the solution of the discrete problem in `to`, from a solve to 1e-10. */
static int solve_exactly(bench_job *job, double *to)
{
  gmg_params params = job->params;
  gmg_solver *solver = NULL;
  params.fmg = 0, params.max_cycles = 100, params.check_every = 1, params.rtol = 1e-10;
  bench_zero(to, job->cells);
  gmg_status status = gmg_solver_create(job->context, &job->problem, &params, &solver);
  if (status == GMG_OK) status = gmg_solve(solver, job->f, to, NULL);
  gmg_solver_destroy(solver);
  return status == GMG_OK ? 0 : told(job, status);
}

int bench_fmg(bench_job *job)
{
  gmg_report report;
  bench_record *r = job->record;
  job->params.max_cycles = job->row->fmg;
  if (rebuild(job)) return 1;
  for (int run = -1; run < job->runs; run++) {
    double seconds;
    if (solve(job, &report, &seconds)) return 1;
    if (run >= 0) bench_add(&r->samples, seconds);
  }
  r->cycles = report.cycles;
  set_floor(job);
  if (solve_exactly(job, job->r)) return 1;
  const double algebraic = bench_distance(job->u, job->r, job->cells), scheme = bench_error(job->r, job->n);
  bench_record_note(r, "error_algebraic", algebraic);
  bench_record_note(r, "error_discretisation", scheme);
  bench_record_note(r, "error_total", bench_error(job->u, job->n));
  bench_record_note(r, "algebraic_over_discretisation", algebraic / scheme);
  bench_record_note(r, "solution_norm", bench_norm2(job->u, job->cells));
  return 0;
}

/* Records the time of the row in cycles of the same problem without checks, and that of `whole` unless it is NULL. */
static int note_in_cycles(bench_job *job, const bench_samples *whole)
{
  bench_samples cycle = {0};
  double factor;
  job->params.check_every = GMG_NONE;
  if (cycle_samples(job, &cycle, &factor)) return 1;
  const double seconds = bench_median(&cycle);
  bench_record_note(job->record, "in_cycles", bench_median(&job->record->samples) / seconds);
  if (whole) bench_record_note(job->record, "with_first_use_in_cycles", bench_median(whole) / seconds);
  return 0;
}

/* The first solve after create is slower than the second, because it touches the pages of fresh memory. So create is also recorded
 * together with this difference. */
int bench_create(bench_job *job)
{
  bench_samples whole = {0};
  job->params.check_every = GMG_NONE, job->params.max_cycles = SHORT_SOLVE;
  for (int run = -1; run < job->runs; run++) {
    double first, second;
    gmg_report report;
    gmg_solver_destroy(job->solver);
    job->solver = NULL;
    const double start = omp_get_wtime();
    const gmg_status status = gmg_solver_create(job->context, &job->problem, &job->params, &job->solver);
    const double create = omp_get_wtime() - start;
    if (status) return told(job, status);
    if (solve(job, &report, &first) || solve(job, &report, &second)) return 1;
    if (run < 0) continue;
    bench_add(&job->record->samples, create);
    bench_add(&whole, create + fmax(first - second, 0));
  }
  bench_record_note(job->record, "with_first_use", bench_median(&whole));
  return note_in_cycles(job, &whole);
}

int bench_memory(bench_job *job)
{
  gmg_plan_info plan;
  const gmg_status status = gmg_plan(job->context, &job->problem, &job->params, &plan);
  if (status) return told(job, status);
  snprintf(job->record->unit, sizeof job->record->unit, "bytes");
  bench_add(&job->record->samples, (double)plan.bytes);
  bench_record_note(job->record, "bytes_per_unknown", (double)plan.bytes / (double)job->cells);
  bench_record_note(job->record, "fine_fields", (double)plan.bytes / (double)job->cells / sizeof(double));
  return 0;
}

/* The contrast changes from call to call, so that no result of the previous call can be reused. */
int bench_update(bench_job *job)
{
  for (int run = -1; run < job->runs; run++) {
    bench_fill_ball(job->beta, job->n, job->row->contrast / (2 + run));
    const double start = omp_get_wtime();
    const gmg_status status = gmg_solver_update(job->solver, &job->problem);
    if (status) return told(job, status);
    if (run >= 0) bench_add(&job->record->samples, omp_get_wtime() - start);
  }
  bench_fill_ball(job->beta, job->n, job->row->contrast);
  return note_in_cycles(job, NULL);
}
