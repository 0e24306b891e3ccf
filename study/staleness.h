/* Shared by the parts of study_staleness: grids, the engine on the device or the host, a setting and its ages, records. */
#ifndef GMG_STUDY_STALENESS_H
#define GMG_STUDY_STALENESS_H

#include "stale.h"

#include <limits.h>

enum { MOST_GRIDS = 7 };

typedef struct grid {
  int dim;
  size_t n;
  int passes; /* number of passes in "ages" and "relation", most passes in "rate" */
} grid;

/* Lists of grids end with a dimension of 0. */
typedef struct scale {
  grid ages[MOST_GRIDS], relation[MOST_GRIDS], rate[MOST_GRIDS], smoother[MOST_GRIDS];
  int runs, smoother_runs, sparse; /* sparse: also the host records only every SPARSEth pass */
  grid large[MOST_GRIDS];          /* grids of "ages" with few settings */
} scale;

scale study_staleness_scale(const study *s);

extern const char *const study_staleness_assignments[STALE_ASSIGNMENTS];
extern const char *const study_staleness_orders[]; /* index: gmg_block_order */

int study_staleness_units(const study *s); /* workers without oversubscription: the host's threads, the device's multiprocessors */
int study_staleness_run(const study *s, stale_grid *g, int passes, double *seconds); /* 1 on success */
int study_staleness_fail(const study *s, const char *what);

enum { SPARSE = 16 }; /* on a device every SPARSEth pass is recorded, if there are enough, because recording disturbs */

enum { ALL_BLOCKS = INT_MAX }; /* workers: one for every block */

/* A setting with blocks of 128 unknowns of a row, the paper's thread block. fold: oversubscription; 0: one worker. static: blocks
   are slabs, `waves` for each worker. sync and static on a device: a worker for every row. */
stale_setting study_staleness_setting(const study *s, const grid *at, int assignment, gmg_block_order order, int fold, int waves);

/* Ages of several runs: box plots of the neighbours' ages, and the mean over all couplings. */
enum { BOX = 10 };
typedef struct ages_of_runs {
  bench_samples box[BOX], mean;
} ages_of_runs;
enum { BOX_MEAN, BOX_LEAST, BOX_MEDIAN = 4, BOX_MOST = 7, BOX_FRESH };

void study_staleness_add_ages(ages_of_runs *m, const stale_box *b);
void study_staleness_record_ages(study *s, struct cJSON *r, const ages_of_runs *m); /* records medians */

struct cJSON *study_staleness_begin_record(study *s, const char *part, const char *paper, const stale_setting *w,
                                           const stale_grid *g, int fold);
/* Records four digits, more than runs have in common. */
void study_staleness_record_number(study *s, struct cJSON *r, const char *name, double value);

int study_staleness_ages(study *s);        /* staleness_ages.c */
int study_staleness_connections(study *s);
int study_staleness_relation(study *s);
int study_staleness_rates(study *s);       /* staleness_rate.c */
int study_staleness_recording(study *s);
int study_staleness_smoothers(study *s);   /* staleness_smoother.c */

#endif
