/* gmg_set_boundary_values() and gmg_set_boundary_constant(): store the values of a face. Called through the API. */
#include "mg/parts/parts.h"

#include <math.h>
#include <stdio.h>

/* A face: where its values are stored, and how many of them this process has. values = NULL: it has none, because the wall belongs
   to other processes. */
typedef struct {
  void *values;
  size_t cells;
} wall;

/* The face that (axis, side) names, or an error. */
static gmg_status find_face(gmg_solver *s, int axis, int side, wall *face)
{
  const gmg_operator_kind *kind = s->finest->A.kind;
  if (!kind->takes_boundary_values)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "boundary values: a %s takes none, its walls are 0", kind->name);
  if (axis < 0 || axis >= s->problem.dim)
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "axis = %d: must be from 0 to %d", axis, s->problem.dim - 1);
  if (side < 0 || side > 1) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "side = %d: must be 0 or 1", side);
  if (s->problem.bc[axis][side] == GMG_PERIODIC)
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "axis = %d, side = %d: a periodic face takes no boundary values", axis,
                    side);
  face->values = s->finest->faces.g[axis][side];
  face->cells = face->values ? gmg_own_face(s, axis) : 0;
  return GMG_OK;
}

static gmg_status check_values(gmg_solver *s, int axis, int side, const void *g, wall *face)
{
  GMG_TRY(gmg_check_idle(s, "gmg_set_boundary_values"));
  GMG_TRY(find_face(s, axis, side, face));
  return g || face->cells == 0 ? GMG_OK : gmg_fail(s->context, GMG_ERR_ARGUMENT, "g is NULL");
}

/* Called if the norm of g is not finite. */
static gmg_status refuse_values(gmg_solver *s, int axis, int side, const void *g, wall face)
{
  char where[60];
  snprintf(where, sizeof where, " on axis %d, side %d", axis, side);
  GMG_TRY(gmg_check_values(&s->exec, gmg_layout_of_list(face.cells), 0, g, "g", where));
  if (s->parts) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "%s", ""); /* another process has it */
  return gmg_fail(s->context, GMG_ERR_ARGUMENT, "g%s changed while it was read", where);
}

gmg_status gmg_set_boundary_values(gmg_solver *s, int axis, int side, const void *g)
{
  wall face = {NULL, 0};
  if (!s) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_agree(s->context, check_values(s, axis, side, g, &face)));
  GMG_WITH_DEVICE(s->context);
  const double norm = s->vector->norm2(&s->exec, face.cells, g);
  GMG_TRY(gmg_status_or_failure(s, GMG_OK));
  if (!isfinite(norm)) return gmg_agree(s->context, refuse_values(s, axis, side, g, face));
  if (face.cells) gmg_take_face(s, axis, g, face.values);
  if (norm != 0) s->has_boundary_values = 1;
  return gmg_status_or_failure(s, GMG_OK);
}

static gmg_status check_constant(gmg_solver *s, int axis, int side, double g, wall *face)
{
  GMG_TRY(gmg_check_idle(s, "gmg_set_boundary_constant"));
  GMG_TRY(find_face(s, axis, side, face));
  if (!(fabs(g) <= gmg_type_traits_of(s->problem.type)->largest))
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "g = %g on axis %d, side %d: must be finite in the problem's type", g, axis,
                    side);
  if (!(fabs(g) < gmg_largest_to_square(face->cells)))
    return gmg_fail(s->context, GMG_ERR_ARGUMENT, "g = %g on axis %d, side %d: too large, the sum of squares overflows", g, axis,
                    side);
  return GMG_OK;
}

gmg_status gmg_set_boundary_constant(gmg_solver *s, int axis, int side, double g)
{
  wall face = {NULL, 0};
  if (!s) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_agree(s->context, check_constant(s, axis, side, g, &face)));
  GMG_WITH_DEVICE(s->context);
  if (face.values) s->vector->fill(&s->exec, s->finest->A.cells / s->finest->A.n[axis], g, face.values);
  if (g != 0) s->has_boundary_values = 1;
  return gmg_status_or_failure(s, GMG_OK);
}
