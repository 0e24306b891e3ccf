/* Names of enumerators, in the order of gmg.h. Called by the checks of smoothers and mg. */
#include "names.h"

#include <stdio.h>

#define NAMES(table, ...)                                 \
  static const char *const table##_list[] = {__VA_ARGS__}; \
  const gmg_names table = {sizeof table##_list / sizeof *table##_list, table##_list};

NAMES(gmg_type_names, "GMG_F64", "GMG_F32")
NAMES(gmg_centering_names, "GMG_CELL", "GMG_VERTEX")
NAMES(gmg_bc_names, "GMG_DIRICHLET", "GMG_NEUMANN", "GMG_ROBIN", "GMG_PERIODIC")
NAMES(gmg_cycle_names, "GMG_CYCLE_AUTO", "GMG_CYCLE_V", "GMG_CYCLE_W", "GMG_CYCLE_F")
NAMES(gmg_accel_names, "GMG_ACCEL_AUTO", "GMG_ACCEL_NONE", "GMG_ACCEL_CG", "GMG_ACCEL_FLEXIBLE_CG")
NAMES(gmg_coarse_names, "GMG_COARSE_AUTO", "GMG_COARSE_CG", "GMG_COARSE_DENSE", "GMG_COARSE_TENSOR")
NAMES(gmg_direct_names, "GMG_DIRECT_AUTO", "GMG_DIRECT_NEVER", "GMG_DIRECT_ALWAYS")
NAMES(gmg_halos_names, "GMG_HALOS_AUTO", "GMG_HALOS_EXACT", "GMG_HALOS_ASYNC")
NAMES(gmg_local_names, "GMG_LOCAL_AUTO", "GMG_LOCAL_RED_BLACK", "GMG_LOCAL_JACOBI", "GMG_LOCAL_GAUSS_SEIDEL")
NAMES(gmg_order_names, "GMG_ORDER_AUTO", "GMG_ORDER_NATURAL", "GMG_ORDER_TWO_COLOUR", "GMG_ORDER_RANDOM", "GMG_ORDER_BACKWARD")
NAMES(gmg_assignment_names, "GMG_ASSIGN_AUTO", "GMG_ASSIGN_STATIC", "GMG_ASSIGN_DYNAMIC")
NAMES(gmg_coarsening_names, "GMG_COARSENING_AUTO", "GMG_COARSENING_DISCRETIZE", "GMG_COARSENING_BLACK_BOX")
NAMES(gmg_restriction_names, "GMG_RESTRICT_AUTO", "GMG_RESTRICT_AVERAGE", "GMG_RESTRICT_ADJOINT")
NAMES(gmg_precision_names, "GMG_PRECISION_AUTO", "GMG_PRECISION_SAME", "GMG_PRECISION_MIXED")

const char *gmg_name_of(const gmg_names *names, int value)
{
  return value >= 0 && value < names->count ? names->name[value] : "no enumerator";
}

gmg_status gmg_check_enumerator(gmg_context *c, const char *field, int value, const gmg_names *names)
{
  char list[200] = "";
  size_t used = 0;
  if (value >= 0 && value < names->count) return GMG_OK;
  for (int i = 0; i < names->count && used < sizeof list; i++) {
    const char *before = i == 0 ? "" : i + 1 < names->count ? ", " : " or ";
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", before, names->name[i]);
  }
  return gmg_fail(c, GMG_ERR_ARGUMENT, "%s = %d: must be %s", field, value, list);
}
