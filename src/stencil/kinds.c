/* The registry of operators. A kind is a folder that defines gmg_NAME, and a line here. Called by operator.c and mg. */
#include "stencil/operator.h"

/* A problem gets the first kind that applies to it. The last applies to all. */
#define KINDS(ROW) \
  ROW(box_arrays)  \
  ROW(box_stencil) \
  ROW(seven_point)

#define DECLARED(name) extern const gmg_operator_kind gmg_##name;
KINDS(DECLARED)

#define LISTED(name) &gmg_##name,
static const gmg_operator_kind *const registry[] = {KINDS(LISTED)};

const gmg_operator_kind *gmg_operator_kind_of(const gmg_problem *p)
{
  int i = 0;
  while (registry[i]->applies_to && !registry[i]->applies_to(p)) i++;
  return registry[i];
}
