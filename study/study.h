/* What the experiments of the study share: the command line, where to run, fields and problems with h = 1, clocks around a smoother,
 * and the JSON file. An experiment declares a study_program, begins a study, adds records to it and ends it. Built on what the demos
 * (demo.h: parsing, contexts, fields) and the measurements (record.h: samples, the file's header) have.
 *
 * Functions that can fail return 0 on success and an exit code otherwise, having told stderr why: 1 for a run that failed, 2 for a
 * command line that makes no sense. What cannot be added to the JSON is remembered, and no file is written. */
#ifndef GMG_STUDY_H
#define GMG_STUDY_H

#include "../bench/record.h"
#include "../demos/demo.h"
#include "gmg_smoother.h"

struct cJSON;

/* How much is done: --quick, nothing, --full. */
enum { STUDY_QUICK, STUDY_DEFAULT, STUDY_FULL, STUDY_SCALES };

typedef struct study_program {
  const char *name;    /* of the program, also in the JSON */
  const char *summary; /* for --help */
  const char *const *parts; /* experiments that --only can name, NULL at the end */
  int least, most;     /* --n */
} study_program;

typedef struct study_options {
  int scale; /* STUDY_QUICK, ... */
  int quick, full;
  int n, runs; /* 0: as the scale has it */
  const char *only;
} study_options;

/* Somewhere to run. Host and device have one each; `demo` says where, for the demo_...() functions. */
typedef struct study_place {
  demo_options demo;
  gmg_context *context; /* NULL: there is none */
} study_place;

enum { STUDY_HOST, STUDY_DEVICE };

typedef struct study {
  const study_program *about;
  study_options options;
  study_place place[2];
  const char *no_device; /* why there is none, or NULL */
  struct cJSON *root, *results;
  double start; /* of the clock */
  int complete; /* 0 once something could not be added to the JSON */
} study;

/* --- options, contexts, the file (study.c) --- */

/* Reads the command line, creates the contexts, begins the JSON. Returns -1 where the program should go on, else its exit code
 * (0 after --help). */
int study_begin(study *s, const study_program *about, int argc, char **argv);
/* Writes the file, unless code says that the study failed, and ends everything. Returns the exit code. */
int study_end(study *s, int code);
int study_wants(const study *s, const char *part); /* by --only */
const study_place *study_best(const study *s);      /* the device, or the host where there is none */
double study_now(void);                             /* seconds */
/* A line with the time since the start. */
void study_say(const study *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A new record of the part, at the end of the list. Numbers that are not finite are left out. */
struct cJSON *study_record(study *s, const char *part);
void study_number(study *s, struct cJSON *record, const char *name, double value);
void study_text(study *s, struct cJSON *record, const char *name, const char *value);
void study_spread(study *s, struct cJSON *record, const char *name, const bench_samples *samples); /* median, min, max, runs */
void study_numbers(study *s, struct cJSON *record, const char *name, const double *value, size_t count);

/* --- problems and fields (study.c) --- */

/* -Lap u + eps u = f with h = 1 and unknowns between Dirichlet walls: in 1D tridiag(-1, 2 + eps, -1). */
gmg_problem study_problem(int dim, size_t n, double eps);
void study_fill(const gmg_problem *p, void *field, double value);

/* --- a clock around a smoother (clock.c) --- */

/* Does what the inner smoother does, and counts the seconds of its sweeps: on a device time of the stream, between events. */
typedef struct study_clock study_clock;
study_clock *study_clock_create(const gmg_smoother *inner);      /* NULL: out of memory */
const gmg_smoother *study_clock_smoother(const study_clock *c); /* for gmg_params::smoother, until the clock ends */
double study_clock_seconds(study_clock *c);                      /* since the last call of this; blocks */
void study_clock_destroy(study_clock *c);

#endif
