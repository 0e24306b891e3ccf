/* gmg_set_boundary_values() and gmg_set_boundary_constant(): store the values of a face. Called through the API. */
#include "mg/solver.h"

#include <math.h>
#include <stdio.h>

/* The face that (axis, side) names, or an error. */
static gmg_status find_face(gmg_solver *s, int axis, int side, void **g, size_t *cells)
{
  const gmg_operator_kind *kind = s->finest->A.kind;
  if (!kind->takes_boundary_values)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "boundary values: a %s takes none, its walls are 0", kind->name);
  if (axis < 0 || axis >= s->problem.dim)
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "axis = %d: must be from 0 to %d", axis, s->problem.dim - 1);
  if (side < 0 || side > 1) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "side = %d: must be 0 or 1", side);
  *g = s->finest->faces.g[axis][side];
  *cells = s->finest->A.cells / s->finest->A.n[axis];
  if (!*g)
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "axis = %d, side = %d: a periodic face takes no boundary values", axis,
                    side);
  return GMG_OK;
}

gmg_status gmg_set_boundary_values(gmg_solver *s, int axis, int side, const void *g)
{
  void *face = NULL;
  size_t cells = 0;
  if (!s) return GMG_ERR_ARGUMENT;
  if (!g) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "g is NULL");
  GMG_TRY(gmg_check_idle(s, "gmg_set_boundary_values"));
  GMG_TRY(find_face(s, axis, side, &face, &cells));
  GMG_WITH_DEVICE(s->context);
  const double norm = s->vector->norm2(&s->exec, cells, g);
  GMG_TRY(gmg_status_or_failure(s, GMG_OK));
  if (!isfinite(norm)) {
    char where[60];
    snprintf(where, sizeof where, " on axis %d, side %d", axis, side);
    GMG_TRY(gmg_check_values(&s->exec, gmg_layout_of_list(cells), 0, g, "g", where));
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "g%s changed while it was read", where);
  }
  s->vector->copy(&s->exec, cells, g, face);
  if (norm != 0) s->has_boundary_values = 1;
  return gmg_status_or_failure(s, GMG_OK);
}

gmg_status gmg_set_boundary_constant(gmg_solver *s, int axis, int side, double g)
{
  void *face = NULL;
  size_t cells = 0;
  if (!s) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_check_idle(s, "gmg_set_boundary_constant"));
  GMG_TRY(find_face(s, axis, side, &face, &cells));
  if (!(fabs(g) <= gmg_type_traits_of(s->problem.type)->largest))
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "g = %g on axis %d, side %d: must be finite in the problem's type", g, axis,
                    side);
  if (!(fabs(g) < gmg_largest_to_square(cells)))
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "g = %g on axis %d, side %d: too large, the sum of squares overflows", g, axis,
                    side);
  GMG_WITH_DEVICE(s->context);
  s->vector->fill(&s->exec, cells, g, face);
  if (g != 0) s->has_boundary_values = 1;
  return gmg_status_or_failure(s, GMG_OK);
}
