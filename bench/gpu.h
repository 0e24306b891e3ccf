/* What the measurements on a CUDA device share: the command line and the file, fields, solvers on the device. Needs no library
   besides the CUDA runtime, so the JSON is written without cJSON. An error that a row does not expect ends the program with a
   message on stderr. */
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include "gmg_cuda.h"
#include "gmg_smoother.h"

#include <stddef.h>

/* --- the command line, the file and its records (gpu_record.c) --- */

enum { MAX_RUNS = 100 };

typedef struct {
  double sample[MAX_RUNS]; /* sorted */
  int count;
} bench_gpu_samples;

typedef struct {
  const char *program, *json, *only, *commit;
  int runs;
  double most; /* unknowns; sizes beyond it are left out */
  double copy; /* bytes a second, read and written */
} bench_options;

extern bench_options bench_gpu_options;

void bench_gpu_add(bench_gpu_samples *s, double x);
double bench_gpu_median(const bench_gpu_samples *s);
__attribute__((noreturn)) void bench_gpu_stop(const char *what, const char *why);
int bench_gpu_wanted(const char *name); /* 1 if --only selects the row */

/* Reads the command line, finds the device, measures its copy and opens the file. Returns -1 if the program shall
   continue, otherwise its exit code: 0 after --help, 2 for a wrong option, 77 without a device. what: text for --help. */
int bench_begin(int argc, char **argv, const char *program, const char *what, int runs);
int bench_end(void); /* returns the exit code: 2 if --only contains a name that is not a row's */

/* Writes a record. bytes: compulsory bytes of the whole row; 0: not recorded. extra: further members, each after a comma. */
void bench_gpu_row(const char *name, const char *unit, const bench_gpu_samples *s, double bytes, const char *extra);
/* Writes the record of a row that could not be measured, with the reason. */
void bench_gpu_skipped_row(const char *name, const char *why, const char *extra);

/* --- fields (gpu_fields.c) --- */

double *bench_gpu_device_field(size_t n);            /* of zeros */
double *bench_gpu_device_field_or_null(size_t n);    /* NULL: not enough memory */
double *bench_gpu_uploaded(const double *from, size_t n);
/* Uniform in -0.5..0.5, on the device. Value i depends on the seed and i alone. */
void bench_gpu_fill_random(double *x, size_t n, unsigned long seed);
double *bench_gpu_random_field(size_t n, unsigned long seed);
void bench_gpu_manufactured(int dim, size_t n, double *f, double *u); /* host */
double *bench_gpu_ball(size_t n);                                     /* host */

/* --- solvers (gpu_solver.c) --- */

typedef struct {
  gmg_context *context;
  gmg_solver *solver;
  gmg_problem problem;
  gmg_params params;
  size_t cells;
} bench_gpu_run;

double bench_gpu_now(void); /* seconds, after all work on the device */
bench_gpu_run bench_gpu_begin_run(int dim, size_t n); /* default parameters, but no direct solves: rows that want them say so */
void bench_gpu_resize(bench_gpu_run *r, int dim, size_t n); /* sets another problem, and destroys the solver */
void bench_gpu_build(bench_gpu_run *r);
gmg_status bench_gpu_try_build(bench_gpu_run *r);
void bench_gpu_end_run(bench_gpu_run *r);

/* Seconds of a solve from a zero guess. */
double bench_gpu_solve(bench_gpu_run *r, const double *f, double *u, gmg_report *report);
bench_gpu_samples bench_gpu_solve_time(bench_gpu_run *r, const double *f, double *u, gmg_report *report);
bench_gpu_samples bench_gpu_create_time(bench_gpu_run *r);
bench_gpu_samples bench_gpu_cycle_time(bench_gpu_run *r, const double *f, double *u); /* of one cycle, unmeasured; rebuilds */
gmg_plan_info *bench_gpu_plan(bench_gpu_run *r);                            /* free() it */

/* Rows of single operations of the cycle on the finest level, in double: a smoothing step; that and the residual, restricted
   (gpu_operations.c). */
void bench_gpu_pass_row(const char *name, bench_gpu_run *r, const double *f, double *u);
void bench_gpu_down_leg_row(const char *name, bench_gpu_run *r, const double *f, double *u);

/* Members of every record of a solve, besides tolerance and floor. */
#define SOLVED                                                                                               \
  ", \"floor_of\": \"this f: where a solve to 1e-17 ended\", \"f\": \"uniform in -0.5..0.5, splitmix64\", "    \
  "\"start\": \"zero\", \"norm\": \"2-norm of the residual over that of f\""

/* The rounding floor of ||r|| / ||f|| for this f. Creates a new solver. */
double bench_gpu_measured_floor(bench_gpu_run *r, const double *f, double *u);
/* The tolerance `least`, or, if larger, the smallest power of ten that is at least ten times the floor. */
double bench_gpu_tolerance_above(double floor, double least);

/* Compulsory bytes of a V(1,1) cycle per unknown (bench/README.md). */
double bench_gpu_cycle_bytes(int dim, gmg_precision precision);

#endif
