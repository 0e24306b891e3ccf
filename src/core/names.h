/* Names of the public enumerators, for error texts. Calls context.h; used by smoothers and mg. */
#ifndef GMG_CORE_NAMES_H
#define GMG_CORE_NAMES_H

#include "context.h"

/* The enumerators of a type from 0 on. */
typedef struct gmg_names {
  int count;
  const char *const *name;
} gmg_names;

extern const gmg_names gmg_type_names, gmg_centering_names, gmg_bc_names, gmg_cycle_names, gmg_accel_names, gmg_coarse_names,
    gmg_direct_names, gmg_halos_names, gmg_local_names, gmg_order_names, gmg_assignment_names, gmg_restriction_names,
    gmg_coarsening_names, gmg_precision_names;

const char *gmg_name_of(const gmg_names *names, int value); /* never NULL */

/* Refuses a value that is not an enumerator. The text has the field, the value and all names. */
gmg_status gmg_check_enumerator(gmg_context *c, const char *field, int value, const gmg_names *names);

#endif
