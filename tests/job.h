/* A problem that is solved in several processes, and in one. The processes are threads (ranks.h). Arrays are in host memory, also
   if the processes run on devices. Included by the tests of several processes. */
#ifndef GMG_TEST_JOB_H
#define GMG_TEST_JOB_H

#include "ranks.h"
#include "util.h"

enum { MOST_RANKS = 8, MOST_CYCLES = 100, JOB_TEXT = 512 };

typedef struct job job;
struct job {
  gmg_problem problem; /* whole, without arrays */
  gmg_params params;
  int cut[3];
  const size_t *cuts[3]; /* gmg_context_set_cuts(); NULL: chosen */
  size_t halo[3];        /* layers beyond a process's box in its f, u, r and z; NaN before the solve */
  const double *f, *beta, *beta_face[3], *sigma, *guess, *wall; /* whole arrays; wall: g on the upper face of axis 0 */
  double *u, *z, *r; /* whole results: of a solve, of gmg_precondition(), of gmg_residual() */
  /* What a process does with its solver after the solve, or NULL. Arrays are where the solver runs. Returns a status. */
  gmg_status (*then)(const job *j, int rank, gmg_context *c, gmg_solver *s, const gmg_problem *mine, const double *f, double *u);
  /* What each process reports: */
  gmg_status status[MOST_RANKS];
  gmg_report report[MOST_RANKS];
  double history[MOST_RANKS][MOST_CYCLES + 1];
  char text[MOST_RANKS][JOB_TEXT];
};

void solve_part(const gmg_transport *t, void *job); /* for run_ranks() */

/* A context of one of the processes, where sessions run (util.h). */
gmg_status create_context_of(const gmg_transport *t, const int cut[3], gmg_context **c);
void end_context_of(gmg_context *c);
void share_devices(void); /* Several processes may be on one device. Before the first call of CUDA. */

/* --- a process's box ----------------------------------------------------------------------------------------------------------- */

typedef struct {
  size_t first[3], n[3], whole[3];
} box;

size_t cells_of(const size_t n[3]);
box box_of(gmg_context *c, const gmg_problem *p);
/* Copies a process's box out of a whole array, or into it. extra: one more value along this axis. */
void copy_box(const box *b, int extra, double *whole, double *mine, int out);
/* Copies a process's box into new memory, with room for one more value along each axis. whole = NULL: zeros. */
double *take(const box *b, int extra, const double *whole);
/* The array where the process runs: a copy on its device, or the array itself. drop() copies it back. NULL stays NULL. */
double *use(double *mine, size_t n);
void drop(double *mine, double *used, size_t n);
void copy_back(double *mine, const double *used, size_t n);

/* --- the same in one process ----------------------------------------------------------------------------------------------------- */

typedef struct {
  session s;
  gmg_report report;
  gmg_status status;
  double *u, *z, *r;
} alone;

alone solve_alone(const job *j);
void end_alone(alone *x);

/* Fails unless all processes report this error, with these words in its text. */
void expect_error(const job *j, int ranks, gmg_status status, const char *words);

double distance(const double *x, const double *y, size_t n); /* ||x - y||_2 */
double *positive(size_t n, uint64_t seed);                   /* coefficients between 0.5 and 30 */

#endif
