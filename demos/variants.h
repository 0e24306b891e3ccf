/* What the tuner tries: the parameters of gmg and their values, as options of the demos and as C; and how times are compared. */
#ifndef GMG_DEMO_VARIANTS_H
#define GMG_DEMO_VARIANTS_H

#include "demo.h"

enum { PARAMETERS = 22 };
enum { ASYNC = 1, CHEBYSHEV = 2, OTHERS = 4, ANY = 7, WEIGHTED = ASYNC | OTHERS }; /* kinds of smoothers */

/* One parameter: its option in the demos, its member in gmg_params, and the values to try: for the option, and for C if they
 * differ (otherwise NULL). The most important parameters come first. */
typedef struct parameter {
  const char *option, *member;
  const char *value[12], *in_c[12];
  unsigned smoothers; /* that use it */
  int dim;            /* 0: any */
  int on_device;      /* 1: only on a CUDA device */
} parameter;

extern const parameter demo_parameters[PARAMETERS];

/* Value v of parameter i: "--overlap 2", "params.async.overlap = 2;" */
void demo_option_text(int i, int v, char *text, size_t size);
void demo_c_text(int i, int v, char *text, size_t size);
unsigned demo_kind_of(const gmg_smoother *s);

enum { RUNS = 3, ROUNDS = 5 }; /* samples of a trial, and of the two that are compared in the end */

/* A choice of values (-1: that of the start), and its results. */
typedef struct trial {
  int choice[PARAMETERS];
  gmg_params params;
  gmg_status status;
  double seconds[ROUNDS]; /* sorted */
  int runs, cycles;       /* runs: 0 if it did not end with GMG_OK, 1 if it was hopeless */
  double factor;
} trial;

double demo_middle(const trial *t); /* the median; infinite without runs */
double demo_spread(const trial *t); /* of the middle three: with ROUNDS samples an outlier on either side does not count */
void demo_add_time(trial *t, double seconds);
/* Whether a is faster than b by more than the spread of either, and was measured `runs` times, that is, always succeeded. */
int demo_is_faster(const trial *a, const trial *b, int runs);

#endif
