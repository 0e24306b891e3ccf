/* A measurement, and the JSON file of a run: a head with machine and build, and a list of records. Used by bench_cpu and its peers.
 * README.md lists the fields. */
#ifndef GMG_BENCH_RECORD_H
#define GMG_BENCH_RECORD_H

#include <stddef.h>

enum { BENCH_TEXT = 512, BENCH_SAMPLES = 256, BENCH_NOTES = 12 };

/* Samples of one quantity. */
typedef struct bench_samples {
  int count;
  double value[BENCH_SAMPLES];
} bench_samples;

void bench_add(bench_samples *s, double value); /* ignored if the array is full */
double bench_median(const bench_samples *s);
double bench_min(const bench_samples *s);
double bench_max(const bench_samples *s);

/* A number that only some records have, and its name in the file. */
typedef struct bench_note {
  const char *name; /* NULL: none */
  double value;
} bench_note;

/* A row, with what was solved: right-hand side, start, norm, tolerance, rounding floor. NaN: does not apply, and is left out of the
 * file (tolerance and floor: null). */
typedef struct bench_record {
  char name[64], type[8]; /* "f64" unless said otherwise */
  size_t n; /* unknowns along each of the three axes */
  char what[BENCH_TEXT], f[128], start[128], norm[128];
  double tolerance; /* of ||r|| / ||f|| */
  double floor;     /* rounding floor of ||r|| / ||f|| */
  char floor_of[128];
  char unit[16];
  bench_samples samples;
  double bytes;        /* compulsory, per unknown */
  double factor;       /* residual reduction per cycle */
  double cycles;       /* or iterations */
  char status[BENCH_TEXT];  /* "GMG_OK", or what went wrong */
  char skipped[BENCH_TEXT]; /* the reason, or "" */
  char setting[BENCH_TEXT]; /* of a peer: its options; or "" */
  bench_note note[BENCH_NOTES];
} bench_record;

void bench_record_start(bench_record *r, const char *name, size_t n);
void bench_record_note(bench_record *r, const char *name, double value);
void bench_record_print(const bench_record *r, double triad); /* prints one line; triad in bytes/s, or NaN */

struct cJSON;

/* Adds {program, commit, date, machine, cores, threads, compiler, flags, transparent_hugepage, triad}; `triad` in bytes/s may be
 * NULL. Returns 1 on success. */
int bench_header(struct cJSON *root, const char *program, int threads, const bench_samples *triad);

/* Writes the head and all records. Returns 0, or 1 after a message on stderr. */
int bench_write(const char *path, const char *program, int threads, const bench_samples *triad, const bench_record *records,
                int count);

#endif
