/* Finds the value of f, of u or of the boundary values that makes a norm NaN or infinite, and names it in the error text. Called by
   solve.c. */
#include "iterate.h"

#include <math.h>

/* Called if no value of f is bad. Names the largest boundary value, on the face that contributes most to the right-hand side. */
static gmg_status refuse_face(gmg_solver *s, double norm)
{
  const gmg_faces *F = &s->finest->faces;
  double most = 0, value = 0;
  int axis = 0, side = 0;
  size_t at = 0;
  for (int i = 0; i < 2 * s->problem.dim; i++) {
    const size_t n = s->finest->A.cells / s->finest->A.n[i / 2];
    size_t place;
    if (!F->g[i / 2][i % 2]) continue;
    const double g = gmg_find_largest(&s->exec, gmg_layout_of_list(n), F->g[i / 2][i % 2], &place);
    const double share = fabs(g * F->fold[i / 2][i % 2]);
    if (share > most) most = share, value = g, at = place, axis = i / 2, side = i % 2;
  }
  if (value == 0) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "the norm of f (%g) overflows", norm);
  return gmg_fail(s->context, GMG_ERR_ARGUMENT,
                  "boundary value g[%zu] = %g on axis %d, side %d: too large, the norm of the right-hand "
                  "side that it is folded into is %g",
                  at, value, axis, side, norm);
}

gmg_status gmg_refuse_rhs(gmg_solver *s, const void *f, double norm)
{
  const gmg_array given = gmg_array_of_f(&s->mine, NULL);
  GMG_TRY(gmg_check_values(&s->exec, given.layout, given.skipped, s->parts ? s->copies.given_f : f, "f", ""));
  if (s->parts) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "%s", ""); /* another process has it */
  return refuse_face(s, norm);
}

gmg_status gmg_refuse_guess(gmg_solver *s, const void *u, double norm)
{
  const gmg_array given = gmg_array_of_u(&s->mine, NULL);
  GMG_TRY(gmg_check_values(&s->exec, given.layout, given.skipped, s->parts ? s->copies.given_u : u, "u", " (the guess)"));
  if (s->parts) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "%s", ""); /* another process has it */
  /* u is in range, but A u is not */
  size_t i;
  const double value = gmg_find_largest(&s->exec, s->layouts.u, u, &i);
  return gmg_fail(s->context, GMG_ERR_ARGUMENT, "u[%zu] = %g (the guess): too large, the norm of the residual of u is %g",
                  s->problem.u_layout.first + i, value, norm);
}
