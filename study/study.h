/* What the experiments of the study share: the command line, where to run, fields and problems with h = 1, clocks around a smoother,
 * and the JSON file. An experiment declares a study_program, whose parts add records to the study. Built on what the demos (demo.h:
 * parsing, contexts, fields) and the measurements (record.h: samples, the file's header) have.
 *
 * Functions that can fail return 0 on success and an exit code otherwise, having told stderr why: 1 for a run that failed, 2 for a
 * command line that makes no sense. What cannot be added to the JSON is remembered, and no file is written. */
#ifndef GMG_STUDY_H
#define GMG_STUDY_H

#include "../bench/record.h"
#include "../demos/demo.h"
#include "gmg_smoother.h"

#include <stdint.h>

struct cJSON;

/* How much is done: --quick, nothing, --full. */
enum { STUDY_QUICK, STUDY_DEFAULT, STUDY_FULL, STUDY_SCALES };

struct study;

/* An experiment that --only can name. Returns 0 or an exit code, having told stderr why. */
typedef struct study_part {
  const char *name; /* NULL ends a list */
  int (*run)(struct study *s);
} study_part;

typedef struct study_program {
  const char *name;    /* of the program, also in the JSON */
  const char *summary; /* for --help */
  const study_part *parts; /* run in this order */
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
  double start, saved; /* of the clock; when the file was last written, 0: not yet */
  int complete; /* 0 once something could not be added to the JSON */
} study;

/* --- options, contexts, parts (study.c) --- */

/* All of a program: reads the command line, creates the contexts, runs the parts, writes the file unless one of them failed. Returns
 * the exit code. */
int study_main(const study_program *about, int argc, char **argv);
const study_place *study_best(const study *s);        /* the device, or the host where there is none */
int study_is_device(const study_place *place);
double study_now(void);                                /* seconds */
/* A line with the time since the start. */
void study_say(const study *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- the file: a line to a record (json.c) --- */

/* A new record of the part, at the end of the list. Numbers that are not finite are left out. */
struct cJSON *study_record(study *s, const char *part);
void study_number(study *s, struct cJSON *record, const char *name, double value);
void study_text(study *s, struct cJSON *record, const char *name, const char *value);
void study_where(study *s, struct cJSON *record, const study_place *place);                /* "where": device or host */
void study_spread(study *s, struct cJSON *record, const char *name, const bench_samples *samples); /* median, min, max (6 digits), runs */
void study_numbers(study *s, struct cJSON *record, const char *name, const double *value, size_t count, int digits);
double study_rounded(double x, int digits); /* to so many digits: more are noise, and make files long */

/* Writes --json's file: a line to a field, and to a record of the results below them. A run that takes longer keeps what it has so far
 * in that name with .part behind it, written anew every five seconds, which is gone in the end. */
int study_write(study *s);

/* --- problems, fields, chance (fields.c) --- */

/* -Lap u + eps u = f with h = 1 and unknowns between Dirichlet walls: in 1D tridiag(-1, 2 + eps, -1). */
gmg_problem study_problem(int dim, size_t n, double eps);
void study_fill(const gmg_problem *p, void *field, double value);
/* demo_field_random() into a guess, there. again: u.here has had it before, and has it still where the solver's u is another. */
int study_start(const study_place *at, const gmg_problem *p, unsigned long seed, int again, const demo_array *u);

uint64_t study_random(uint64_t *state); /* splitmix64 (Steele, Lea, Flood 2014): the same everywhere */
double study_uniform(uint64_t *state);  /* in 0..1 */
/* The numbers of count[0] x count[1] x count[2] blocks in an order. */
void study_order_blocks(const size_t count[3], gmg_block_order kind, uint64_t seed, int *order);

/* What a smoother promises that does what `inner` does. */
unsigned study_traits_of(const gmg_smoother *inner, const gmg_params *p, int threads);

/* --- a clock around a smoother (clock.c) --- */

/* Does what the inner smoother does, and counts the seconds of its sweeps: on a device time of the stream, between events. */
typedef struct study_clock study_clock;
study_clock *study_clock_create(const gmg_smoother *inner);      /* NULL: out of memory */
const gmg_smoother *study_clock_smoother(const study_clock *c); /* for gmg_params::smoother, until the clock ends */
double study_clock_seconds(study_clock *c);                      /* since the last call of this; blocks */
void study_clock_destroy(study_clock *c);

#endif
