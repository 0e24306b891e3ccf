/* What the tuner tries: the parameters of gmg and their values, as options of the demos and as C. */
#ifndef GMG_DEMO_VARIANTS_H
#define GMG_DEMO_VARIANTS_H

#include "demo.h"

enum { PARAMETERS = 19 };
enum { ASYNC = 1, CHEBYSHEV = 2, OTHERS = 4, ANY = 7, WEIGHTED = ASYNC | OTHERS }; /* kinds of smoothers */

/* One parameter: its option in the demos, its member in gmg_params, and what to try, as the option and (unless NULL: the same) C
 * have it. Those that decide most come first. */
typedef struct parameter {
  const char *option, *member;
  const char *value[12], *in_c[12];
  unsigned smoothers; /* that it matters to */
  int dim;            /* 0: any */
} parameter;

extern const parameter parameters[PARAMETERS];

/* Value v of parameter i: "--overlap 2", "params.overlap = 2;" */
void option_text(int i, int v, char *text, size_t size);
void c_text(int i, int v, char *text, size_t size);
unsigned kind_of(const gmg_smoother *s);

#endif
