/* The rows of bench_cpu. cpu.c has their table, rows.c the ways to measure, and run.c what they have in common. */
#ifndef GMG_BENCH_ROWS_H
#define GMG_BENCH_ROWS_H

#include "gmg.h"
#include "problems.h"
#include "record.h"

struct bench_row;

/* A row being measured at one size. */
typedef struct bench_job {
  const struct bench_row *row;
  gmg_context *context;
  int runs;
  size_t n, cells;
  gmg_problem problem;
  gmg_params params;
  gmg_solver *solver; /* of problem and params */
  double *f, *u, *r, *beta;
  bench_record *record;
  char error[BENCH_TEXT]; /* why a measurement returned 1 */
} bench_job;

typedef int bench_measure(bench_job *job); /* 0 on success */

typedef struct bench_row {
  const char *name, *what;
  bench_measure *measure;
  const char *smoother; /* NULL: the default */
  bench_rhs rhs;
  double rtol;     /* 0: none */
  double contrast; /* of the cell-wise beta; 0: beta = 1 */
  int check_every, fmg;
  int every_size; /* 0: at the largest size of the run only */
  gmg_precision precision;
  int directly; /* 1: GMG_DIRECT_ALWAYS; 0: GMG_DIRECT_NEVER */
} bench_row;

bench_measure bench_triad_row, bench_residual, bench_cycle, bench_cycle_float, bench_solve, bench_fmg, bench_create, bench_memory, bench_update;

/* Measures a row at size n into *record. Returns 0, also if the row is skipped because gmg does not support it; 1 if it failed,
 * after a message on stderr. */
int bench_run(const bench_row *row, gmg_context *context, size_t n, int runs, bench_record *record);

#endif
