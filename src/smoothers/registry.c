/* The registry of built-in smoothers. A smoother NAME is a folder that defines gmg_smoother_NAME, and a line here. Called through
   the API, and by mg and offload. */
#include "smoother.h"

#include "core/comm.h"
#include "stencil/black_box/black_box.h"

#include <string.h>

/* The order of gmg_smoother_name(). */
#define SMOOTHERS(ROW) \
  ROW(jacobi)          \
  ROW(gauss_seidel)    \
  ROW(red_black)       \
  ROW(chebyshev)       \
  ROW(async)           \
  ROW(lines)

#define DECLARED(name) extern const gmg_builtin_smoother gmg_smoother_##name;
SMOOTHERS(DECLARED)

#define LISTED(name) &gmg_smoother_##name,
static const gmg_builtin_smoother *const registry[] = {SMOOTHERS(LISTED)};

enum { COUNT = sizeof registry / sizeof *registry };

const gmg_builtin_smoother *gmg_builtin_at(int i) { return i >= 0 && i < COUNT ? registry[i] : NULL; }

const gmg_builtin_smoother *gmg_builtin_of(const gmg_smoother *s)
{
  for (int i = 0; i < COUNT; i++)
    if (s == &registry[i]->base) return registry[i];
  return NULL;
}

const gmg_smoother *gmg_smoother_by_name(const char *name)
{
  for (int i = 0; name && i < COUNT; i++)
    if (strcmp(registry[i]->base.name, name) == 0) return &registry[i]->base;
  return NULL;
}

const char *gmg_smoother_name(int i)
{
  const gmg_builtin_smoother *b = gmg_builtin_at(i);
  return b ? b->base.name : NULL;
}

unsigned gmg_smoother_traits(const gmg_params *params, int threads)
{
  return params->smoother->traits ? params->smoother->traits(params, threads) : 0;
}

unsigned gmg_traits_of_fixed_map(const gmg_params *params, int threads)
{
  (void)params, (void)threads;
  return GMG_SMOOTHER_DETERMINISTIC | GMG_SMOOTHER_ADJOINT | GMG_SMOOTHER_LINEAR;
}

const gmg_smoother_ops *gmg_smoother_ops_of(const gmg_params *p, const gmg_exec *e, const gmg_operator_kind *kind)
{
  const gmg_builtin_smoother *b = gmg_builtin_of(p->smoother);
  const gmg_smoother_ops *own = p->smoother->ops[e->context->backend][e->type];
  if (kind == &gmg_seven_point) return own;
  if (!b) return gmg_smoother_traits(p, e->threads) & kind->smoother_trait ? own : NULL;
  const gmg_smoother_ops *arrays = kind == &gmg_box_arrays ? b->box_arrays[e->context->backend][e->type] : NULL;
  const gmg_smoother_ops *box = kind->smoother_trait ? b->box[e->context->backend][e->type] : NULL;
  return arrays ? arrays : box ? box : b->any;
}

/* Fused legs belong to the smoother's own functions, of which box stencils may have others. */
const gmg_fused_ops *gmg_fused_of(const gmg_params *p, const gmg_exec *e, const gmg_operator_kind *kind)
{
  const gmg_builtin_smoother *b = gmg_builtin_of(p->smoother);
  const gmg_smoother_ops *own = p->smoother->ops[e->context->backend][e->type];
  return b && gmg_smoother_ops_of(p, e, kind) == own ? b->fused[e->context->backend][e->type] : NULL;
}

const gmg_smoother *gmg_smoother_for(const gmg_medium *m, const gmg_exec *e, const gmg_operator_kind *kind)
{
  for (int i = 0; i < COUNT; i++) {
    const gmg_params p = {.smoother = &registry[i]->base};
    if (registry[i]->suits && gmg_smoother_ops_of(&p, e, kind) && registry[i]->suits(m)) return p.smoother;
  }
  return NULL;
}

int gmg_smoother_likes_black_box(const gmg_medium *m, const gmg_params *params)
{
  const gmg_builtin_smoother *b = gmg_builtin_of(params->smoother);
  return b && b->likes_black_box && b->likes_black_box(m);
}

void gmg_smoothers_resolve(const gmg_problem *problem, gmg_params *params)
{
  for (int i = 0; i < COUNT; i++) {
    if (registry[i]->choose) registry[i]->choose(problem, params);
    gmg_options_resolve(registry[i]->options, params);
  }
}

void gmg_smoother_adapt(const gmg_medium *m, gmg_params *params)
{
  const gmg_builtin_smoother *b = gmg_builtin_of(gmg_offloaded(params->smoother));
  if (b && b->adapt) b->adapt(m, params);
}

unsigned gmg_exact_axes(const gmg_params *params)
{
  const gmg_builtin_smoother *b = gmg_builtin_of(gmg_offloaded(params->smoother));
  return b && b->exact_axes ? b->exact_axes(params) : 0;
}

double gmg_over_correction_of_smoother(const gmg_operator *A, const gmg_params *params, double mirrored)
{
  const gmg_builtin_smoother *b = gmg_builtin_of(gmg_offloaded(params->smoother));
  return b && b->over_correction ? b->over_correction(A, params, mirrored) : 1;
}

int gmg_bottom_sweeps(const gmg_params *params, const gmg_operator *A)
{
  const gmg_builtin_smoother *b = gmg_builtin_of(params->smoother);
  return b && A->kind == &gmg_seven_point && b->bottom_sweeps ? b->bottom_sweeps(params, A) : 0;
}

void gmg_half_sweep_weights(const gmg_operator *A, const gmg_params *params, gmg_leg leg, double weight[GMG_HALF_SWEEPS])
{
  const gmg_builtin_smoother *b = gmg_builtin_of(params->smoother);
  if (b && b->half_sweep_weights) b->half_sweep_weights(A, params, leg, weight);
  else
    for (int h = 0; h < GMG_HALF_SWEEPS; h++) weight[h] = params->smoother->weight(A, params);
}

int gmg_ghosts_of_smoother(const gmg_params *params, const gmg_problem *p, int relaxes_ghosts)
{
  const gmg_builtin_smoother *b = gmg_builtin_of(params->smoother);
  int periodic = 0;
  for (int a = 0; a < p->dim; a++) periodic |= p->bc[a][0] == GMG_PERIODIC;
  return b && b->ghosts ? b->ghosts(params, periodic, relaxes_ghosts) : 0;
}

gmg_symbol_function *gmg_symbol_of(const gmg_smoother *s)
{
  const gmg_builtin_smoother *b = gmg_builtin_of(gmg_offloaded(s));
  return b ? b->symbol : NULL;
}

const gmg_preset *gmg_preset_at(int i)
{
  for (int b = 0; b < COUNT; b++)
    if (registry[b]->preset.name && i-- == 0) return &registry[b]->preset;
  return NULL;
}

void gmg_options_set_default(const gmg_option *table, gmg_params *params)
{
  for (const gmg_option *o = table; o && o->name; o++) {
    char *member = (char *)params + o->offset;
    const int integer = o->type == GMG_OPTION_ENUM ? 0 : (int)o->fallback;
    if (o->type == GMG_OPTION_DOUBLE) memset(member, 0, sizeof(double));
    else if (o->type == GMG_OPTION_SIZES) memset(member, 0, sizeof params->async.block);
    else memcpy(member, &integer, sizeof integer);
  }
}

void gmg_options_resolve(const gmg_option *table, gmg_params *params)
{
  for (const gmg_option *o = table; o && o->name; o++) {
    void *member = (char *)params + o->offset;
    const int integer = (int)o->fallback;
    if (o->type == GMG_OPTION_SIZES) continue;
    if (o->type == GMG_OPTION_DOUBLE) {
      if (*(double *)member == 0) *(double *)member = o->fallback;
    } else if (*(int *)member == 0) memcpy(member, &integer, sizeof integer);
    else if (o->type == GMG_OPTION_COUNT && *(int *)member == GMG_NONE) memset(member, 0, sizeof integer);
  }
}

void gmg_set_default_options(gmg_params *params)
{
  for (int i = 0; i < COUNT; i++) gmg_options_set_default(registry[i]->options, params);
}

void gmg_level_residual(const gmg_smoother_level *level, const void *f, const void *u, void *r)
{
  gmg_exchange(level->exec, level->A, u);
  gmg_operator_of(level->exec, level->A)->residual(level->exec, level->A, f, u, r);
}
