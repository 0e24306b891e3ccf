/* Shared by the experiments of the study: the command line, places to run, fields and problems with h = 1, clocks around a
 * smoother, and the JSON file. An experiment declares a study_program, whose parts add records. Uses the demos (demo.h: parsing,
 * contexts, fields) and the measurements (record.h: samples, the file's header).
 *
 * Functions that can fail return 0 on success and an exit code otherwise, after a message on stderr: 1 for a run that failed, 2
 * for an invalid command line. If something cannot be added to the JSON, no file is written at the end. */
#ifndef GMG_STUDY_H
#define GMG_STUDY_H

#include "../bench/record.h"
#include "../demos/demo.h"
#include "gmg_smoother.h"

#include <stdint.h>

struct cJSON;

/* The default parameters, but always with cycles, which the study is about. */
gmg_params study_params(void);

/* Scales: --quick, the default, --full. */
enum { STUDY_QUICK, STUDY_DEFAULT, STUDY_FULL, STUDY_SCALES };

struct study;

/* A part that --only can name. Returns 0, or an exit code after a message on stderr. */
typedef struct study_part {
  const char *name; /* NULL ends a list */
  int (*run)(struct study *s);
} study_part;

typedef struct study_program {
  const char *name;    /* name of the program, also in the JSON */
  const char *summary; /* for --help */
  const study_part *parts; /* the parts in the order of the run */
  int least, most;     /* limits of --n */
} study_program;

typedef struct study_options {
  int scale; /* STUDY_QUICK, ... */
  int quick, full;
  int n, runs; /* 0: the value of the scale */
  const char *only;
} study_options;

/* A place to run. Host and device each have one; `demo` gives the place to the demo_...() functions. */
typedef struct study_place {
  demo_options demo;
  gmg_context *context; /* NULL: there is no such place */
} study_place;

enum { STUDY_HOST, STUDY_DEVICE };

typedef struct study {
  const study_program *about;
  study_options options;
  study_place place[2];
  const char *no_device; /* the reason why there is no device, or NULL */
  struct cJSON *root, *results;
  double start, saved; /* start: time of the start. saved: time of the last write of the file, 0: not written yet */
  int complete; /* 0 if something could not be added to the JSON */
} study;

/* --- options, contexts, parts (study.c) --- */

/* The main function of a program: reads the command line, creates the contexts, runs the parts, and writes the file if no part
 * failed. Returns the exit code. */
int study_main(const study_program *about, int argc, char **argv);
const study_place *study_best(const study *s);        /* the device, or the host where there is none */
int study_is_device(const study_place *place);
double study_now(void);                                /* seconds */
/* Prints a line with the time since the start. */
void study_say(const study *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- the file, with a line for each record (json.c) --- */

/* A new record of the part, at the end of the list. Numbers that are not finite are left out. */
struct cJSON *study_record(study *s, const char *part);
void study_number(study *s, struct cJSON *record, const char *name, double value);
void study_text(study *s, struct cJSON *record, const char *name, const char *value);
void study_where(study *s, struct cJSON *record, const study_place *place);                /* "where": device or host */
void study_spread(study *s, struct cJSON *record, const char *name, const bench_samples *samples); /* median, min, max (6 digits), runs */
void study_numbers(study *s, struct cJSON *record, const char *name, const double *value, size_t count, int digits);
double study_rounded(double x, int digits); /* rounded to `digits` digits, because others are noise and make files long */

/* Writes the file of --json: a line for each field and for each record. A longer run also writes its records every five seconds to
 * a file of this name with the suffix .part, which is removed at the end. */
int study_write(study *s);

/* --- problems, fields, random numbers (fields.c) --- */

/* -Lap u + eps u = f with h = 1 and unknowns between Dirichlet walls: in 1D tridiag(-1, 2 + eps, -1). */
gmg_problem study_problem(int dim, size_t n, double eps);
void study_fill(const gmg_problem *p, void *field, double value);
/* Fills the guess by demo_field_random(), where the solver runs. again: u.here still holds the values of an earlier call with the
   same seed, unless the solver's array is the same. */
int study_start(const study_place *at, const gmg_problem *p, unsigned long seed, int again, const demo_array *u);

uint64_t study_random(uint64_t *state); /* splitmix64 (Steele, Lea, Flood 2014), with the same numbers on all machines */
double study_uniform(uint64_t *state);  /* from 0 to 1 */
/* Sets order[] to the numbers of count[0] x count[1] x count[2] blocks in this order. */
void study_order_blocks(const size_t count[3], gmg_block_order kind, uint64_t seed, int *order);

/* The traits of a smoother that does what `inner` does. */
unsigned study_traits_of(const gmg_smoother *inner, const gmg_params *p, int threads);

/* --- a clock around a smoother (clock.c) --- */

/* A smoother that does what the inner one does, and measures the seconds of its sweeps. On a device this is time of the stream,
   between events. */
typedef struct study_clock study_clock;
study_clock *study_clock_create(const gmg_smoother *inner);      /* NULL: out of memory */
const gmg_smoother *study_clock_smoother(const study_clock *c); /* for gmg_params::smoother; valid until the clock is destroyed */
double study_clock_seconds(study_clock *c);                      /* seconds since the last call of this function; waits for the device */
void study_clock_destroy(study_clock *c);

#endif
