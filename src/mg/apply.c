/* Calls that apply a cycle or the operator once, without a solve: gmg_precondition(), gmg_residual(), gmg_flux(). Called through
   the API. */
#include "mg/iterate/iterate.h"
#include "mg/parts/parts.h"

#include <stdint.h>

static void precondition(gmg_solver *s, const void *r, void *z)
{
  if (s->singular) { /* only the compatible part of r has a solution */
    gmg_array_copy(&s->exec, s->layouts.f, r, s->layouts_with_f_eff.f, s->f_eff);
    gmg_project(s, &s->exec, s->finest, s->f_eff);
    r = s->f_eff;
  }
  s->corrections->apply(s, gmg_packed_rhs(s, r), z);
  gmg_project_u(s, z);
}

static gmg_status check_precondition(gmg_solver *s, const void *r, const void *z)
{
  if (!r || !z) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "%s is NULL", r ? "z" : "r");
  const gmg_array in = gmg_reach_of_f(&s->mine, r), out = gmg_reach_of_u(&s->mine, z);
  if (gmg_overlap(s->problem.type, in, out)) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "z = %p overlaps r = %p", z, r);
  return gmg_check_usable(s, "gmg_precondition");
}

gmg_status gmg_precondition(gmg_solver *s, const void *r, void *z)
{
  if (!s) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_agree(s->context, check_precondition(s, r, z)));
  const gmg_array in = gmg_array_of_f(&s->mine, r), out = gmg_array_of_u(&s->mine, z);
  GMG_WITH_DEVICE(s->context);
  GMG_RUNNING(s, "gmg_precondition");
  void *u = gmg_place_of_u(s, (void *)out.values);
  gmg_replay(s, precondition, gmg_take_f(s, in.values), u);
  gmg_give_u(s, u, (void *)out.values);
  return gmg_status_or_failure(s, GMG_OK);
}

static gmg_status check_residual(gmg_solver *s, const void *f, const void *u, const void *r)
{
  if (!f || !u || !r) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "%s is NULL", !f ? "f" : !u ? "u" : "r");
  const gmg_array rhs = gmg_reach_of_f(&s->mine, f), at = gmg_reach_of_u(&s->mine, u), out = gmg_reach_of_f(&s->mine, r);
  if (gmg_overlap(s->problem.type, out, at)) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "r = %p overlaps u = %p", r, u);
  if (gmg_overlap(s->problem.type, out, rhs)) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "r = %p overlaps f = %p", r, f);
  return gmg_check_usable(s, "gmg_residual");
}

gmg_status gmg_residual(gmg_solver *s, const void *f, const void *u, void *r)
{
  if (!s) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_agree(s->context, check_residual(s, f, u, r)));
  const gmg_array rhs = gmg_array_of_f(&s->mine, f), at = gmg_array_of_u(&s->mine, u), out = gmg_array_of_f(&s->mine, r);
  GMG_WITH_DEVICE(s->context);
  const void *f_eff = gmg_effective_rhs(s, gmg_take_f(s, rhs.values), NULL, NULL), *u_eff = gmg_take_u(s, at.values);
  const gmg_residual_layouts layouts = {gmg_layout_of_rhs(s, f_eff), s->layouts.u, s->layouts.f};
  gmg_operator A = gmg_operator_on_arrays(s, f_eff);
  if (A.caller_layouts || !gmg_is_packed(s->layouts.f)) A.caller_layouts = &layouts;
  void *r_eff = gmg_place_of_r(s, f_eff, (void *)out.values);
  gmg_exchange_one_layer(&s->exec, &A, u_eff);
  s->op->residual(&s->exec, &A, f_eff, u_eff, r_eff);
  gmg_give_f(s, r_eff, (void *)out.values);
  return gmg_status_or_failure(s, GMG_OK);
}

/* Outputs of gmg_flux() must not share memory with u or with each other. */
static gmg_status check_outputs(gmg_solver *s, const void *u, void *const flux[3], void *const gradient[3])
{
  const gmg_layout at = gmg_array_of_u(&s->mine, NULL).layout;
  const char *begin[7] = {u}, *end[7] = {u};
  end[0] += (gmg_offset(at, at.n[0] - 1, at.n[1] - 1, at.n[2] - 1) + 1) * s->exec.real_size;
  int count = 1;
  for (int i = 0; i < 2 * s->problem.dim; i++) {
    void *const *list = i % 2 ? gradient : flux;
    if (!list || !list[i / 2]) continue;
    const size_t faces = gmg_own_face(s, i / 2) * (s->mine.n[i / 2] + 1);
    begin[count] = list[i / 2], end[count] = begin[count] + faces * s->exec.real_size;
    for (int k = 0; k < count; k++)
      if ((uintptr_t)begin[k] < (uintptr_t)end[count] && (uintptr_t)begin[count] < (uintptr_t)end[k])
        return gmg_fail(s->context, GMG_ERR_ARGUMENT, "%s[%d] = %p overlaps %s", i % 2 ? "gradient" : "flux", i / 2,
                        list[i / 2], k == 0 ? "u" : "another output");
    count++;
  }
  return GMG_OK;
}

static gmg_status check_flux(gmg_solver *s, const void *u, void *const flux[3], void *const gradient[3])
{
  if (!u) return gmg_fail(s->context, GMG_ERR_ARGUMENT, "u is NULL");
  GMG_TRY(gmg_check_readable(s, "gmg_flux"));
  if (!s->finest->A.kind->takes_boundary_values)
    return gmg_fail(s->context, GMG_ERR_UNSUPPORTED, "gmg_flux: a %s has no fluxes through faces", s->finest->A.kind->name);
  u = gmg_array_of_u(&s->mine, u).values;
  return check_outputs(s, u, flux, gradient);
}

gmg_status gmg_flux(gmg_solver *s, const void *u, void *const flux[3], void *const gradient[3])
{
  if (!s) return GMG_ERR_ARGUMENT;
  GMG_TRY(gmg_agree(s->context, check_flux(s, u, flux, gradient)));
  GMG_WITH_DEVICE(s->context);
  GMG_TRY(gmg_agree(s->context, gmg_create_room_for_flux(s)));
  const gmg_level *L = s->finest;
  const gmg_operator A = gmg_operator_on_arrays(s, s->f_eff);
  const void *with_ghosts = gmg_copy_of_u(s, gmg_array_of_u(&s->mine, u).values);
  gmg_exchange(&s->exec, &A, with_ghosts);
  for (int a = 0; a < s->problem.dim; a++) {
    void *out[2] = {flux ? flux[a] : NULL, gradient ? gradient[a] : NULL}, *faces[2];
    gmg_places_of_faces(s, out, faces);
    if (out[0] || out[1]) s->grid->flux(&s->exec, &A, &L->faces, a, with_ghosts, faces[0], faces[1]);
    gmg_give_faces(s, a, faces, out);
  }
  return gmg_status_or_failure(s, GMG_OK);
}
