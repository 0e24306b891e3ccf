/* Ghosts (core/comm.h): no operation reads neighbours of a field that was written after its last exchange. The test wraps the
   solver's tables. An exchange marks an array as fresh, every operation that writes it marks it as stale. There is only one
   process, so nothing else would show a missing exchange. */
#include "boxes.h"

#include "internals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- which arrays are fresh ----------------------------------------------------------------------------------------------- */

enum { MOST_ARRAYS = 1024 };
static const void *fresh[MOST_ARRAYS];
static int fresh_layers[MOST_ARRAYS];
static int count, exchanges, checks;
static int inside; /* > 0 inside an operation, which computes on ghosts what it reads between its own steps */
static char complaint[200];

static int at(const void *x)
{
  int i = 0;
  while (i < count && fresh[i] != x) i++;
  return i;
}

static void make_layers_fresh(const void *x, int layers)
{
  const int i = at(x);
  assert_true(count < MOST_ARRAYS && layers > 0);
  if (i == count) fresh_layers[count++] = 0, fresh[i] = x;
  if (fresh_layers[i] < layers) fresh_layers[i] = layers;
}

static void make_fresh(const void *x) { make_layers_fresh(x, GMG_ALL_LAYERS); }

static void writes(const void *x)
{
  const int i = at(x);
  if (i < count) fresh[i] = fresh[--count], fresh_layers[i] = fresh_layers[count];
}

static void reads_layers(int layers, const char *operation, const char *what, const void *x)
{
  const int i = at(x);
  if (inside) return;
  checks++;
  if ((i == count || fresh_layers[i] < layers) && !complaint[0])
    snprintf(complaint, sizeof complaint, "%s reads stale ghosts of %s", operation, what);
}

static void reads(const char *operation, const char *what, const void *x) { reads_layers(GMG_ALL_LAYERS, operation, what, x); }
static void reads_one_layer(const char *operation, const char *what, const void *x) { reads_layers(1, operation, what, x); }

static void exchange(const gmg_exec *e, const gmg_operator *A, gmg_location location, int axis, int layers, const void *x)
{
  assert_true(e && A && A->cells > 0 && (x || location == GMG_AT_WALL)); /* nobody has the values of a periodic wall */
  assert_true(axis >= 0 && axis < A->dim && (location != GMG_AT_UNKNOWNS || axis == 0));
  exchanges++;
  if (x) make_layers_fresh(x, layers);
}

static void nobody(const gmg_exec *e, int n, double *values) { (void)e, (void)n, (void)values; }

static const gmg_comm_ops watched_comm = {.exchange = exchange, .sum = nobody, .max = nobody};

/* --- the tables --------------------------------------------------------------------------------------------------------------- */

static const gmg_operator_kind *kind;          /* the solver's own tables */
static const gmg_smoother_ops *smoother;
static const gmg_bottom_ops *bottom;

static const gmg_vector_ops *vector_of(const gmg_exec *e) { return gmg_host_backend.vector[e->type]; }
static const gmg_grid_ops *grid_of(const gmg_exec *e) { return gmg_host_backend.grid[e->type]; }
static const gmg_operator_ops *op_of(const gmg_exec *e) { return kind->ops[GMG_BACKEND_HOST][e->type]; }

/* Calls the real operation. Reads and writes inside it are not checked. */
#define REAL(call) (inside++, call, (void)inside--)
#define REAL_DOUBLE(x, call) (inside++, x = call, (void)inside--)

static void reads_coefficients(const char *operation, const gmg_operator *A)
{
  for (int a = 0; a < A->dim && A->face[0]; a++) reads(operation, "coefficients on faces", A->face[a]);
  if (A->sigma) reads(operation, "sigma", A->sigma);
}

static const void *padded_field; /* the last field that pad() wrote */

/* A constant is the same on ghosts. */
static void fill(const gmg_exec *e, size_t n, double a, void *x) { vector_of(e)->fill(e, n, a, x), make_fresh(x); }
static void copy(const gmg_exec *e, size_t n, const void *x, void *y) { vector_of(e)->copy(e, n, x, y), writes(y); }
static void axpy(const gmg_exec *e, size_t n, double a, const void *x, void *y) { vector_of(e)->axpy(e, n, a, x, y), writes(y); }
static void xpay(const gmg_exec *e, size_t n, const void *x, double a, void *y) { vector_of(e)->xpay(e, n, x, a, y), writes(y); }
static void correct(const gmg_exec *e, size_t n, gmg_correction c, int keep, void *x)
{
  vector_of(e)->correct(e, n, c, keep, x);
  if (c.z == padded_field && !keep) make_fresh(x); /* the n values include the ghosts */
  else writes(x);
}
static double cg_update(const gmg_exec *e, size_t n, gmg_cg_scalars *d, const void *p, const void *q, void *y, void *r,
                        gmg_wait wait)
{
  writes(y), writes(r);
  return vector_of(e)->cg_update(e, n, d, p, q, y, r, wait);
}
static void normalize_to_low(const gmg_exec *e, size_t n, const void *x, gmg_scale *s, void *y)
{
  vector_of(e)->normalize_to_low(e, n, x, s, y), writes(y);
}
static void scale_to_low(const gmg_exec *e, size_t n, const double *divisor, const void *x, void *y)
{
  vector_of(e)->scale_to_low(e, n, divisor, x, y), writes(y);
}
static void subtract_mean(const gmg_exec *e, size_t n, void *x) { vector_of(e)->subtract_mean(e, n, x), writes(x); }

static void remove_mean(const gmg_exec *e, const gmg_operator *A, double volume, void *x)
{
  grid_of(e)->remove_mean(e, A, volume, x), writes(x);
}
static gmg_deviation take_mean(const gmg_exec *e, const gmg_operator *A, double volume, const void *x, void *y)
{
  const gmg_deviation rest = grid_of(e)->take_mean(e, A, volume, x, y);
  return writes(y), rest;
}
static void transfer(const gmg_exec *e, const gmg_map map[3], const void *x, void *y, int add_to)
{
  reads("transfer", "what it maps", x);
  REAL(grid_of(e)->transfer(e, map, x, y, add_to)), writes(y);
}
static void prolong_faces(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *c, void *u)
{
  reads("prolong_faces", "the coarse field", c), reads_coefficients("prolong_faces", A);
  REAL(grid_of(e)->prolong_faces(e, A, map, c, u)), writes(u);
}
static void fold(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, void *f)
{
  grid_of(e)->fold(e, A, faces, f), writes(f);
}
static void harmonic_faces(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, gmg_array beta)
{
  reads("harmonic_faces", "beta", beta.values);
  grid_of(e)->harmonic_faces(e, A, faces, beta);
  for (int a = 0; a < A->dim; a++) writes(A->face[a]);
}
static void coarsen_walls(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_map map[3], int axis)
{
  reads("coarsen_walls", "coefficients on faces", A->face[axis]);
  grid_of(e)->coarsen_walls(e, A, C, map, axis), writes(C->face[axis]);
}
static void copy_faces(const gmg_exec *e, const gmg_operator *A, int axis, gmg_array beta_face)
{
  grid_of(e)->copy_faces(e, A, axis, beta_face), writes(A->face[axis]);
}
static void flux(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, int axis, const void *u, void *out, void *gradient)
{
  reads("flux", "u", u);
  grid_of(e)->flux(e, A, faces, axis, u, out, gradient);
}
/* The padded field has its own ghosts, which pad() fills. */
static void pad(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *u, void *padded)
{
  reads("pad", "u", u);
  for (int i = 0; i < 6; i++)
    if (faces->g[i / 2][i % 2]) reads("pad", "boundary values", faces->g[i / 2][i % 2]);
  grid_of(e)->pad(e, A, faces, u, padded), make_fresh(padded);
  padded_field = padded;
}

static void residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, void *r)
{
  reads_one_layer("residual", "u", u), reads_coefficients("residual", A);
  REAL(op_of(e)->residual(e, A, f, u, r)), writes(r);
}
static double measure_residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *divisor,
                               gmg_scale *s, void *r, double *f_norm, gmg_wait wait)
{
  double norm;
  reads_one_layer("measure_residual", "u", u), reads_coefficients("measure_residual", A);
  REAL_DOUBLE(norm, op_of(e)->measure_residual(e, A, f, u, divisor, s, r, f_norm, wait)), writes(r);
  return norm;
}
static int interpolated_residual(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *coarse, const void *f,
                                 void *u, int store, const double *divisor, void *r)
{
  int stored;
  reads("interpolated_residual", "the coarse field", coarse), reads_coefficients("interpolated_residual", A);
  REAL(stored = op_of(e)->interpolated_residual(e, A, map, coarse, f, u, store, divisor, r)), writes(u), writes(r);
  return stored;
}
static double correct_residual(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u,
                               const double *divisor,
                               gmg_scale *s, void *r, gmg_wait wait)
{
  double norm;
  reads_one_layer("correct_residual", "u", u), reads_one_layer("correct_residual", "the correction", c.z), reads_coefficients("correct_residual", A);
  REAL_DOUBLE(norm, op_of(e)->correct_residual(e, A, c, f, u, divisor, s, r, wait)), writes(u), writes(r);
  return norm;
}
/* Only a device has this operation. It does what the recorded work of a cycle does. */
static void loop_residual(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u, gmg_scale *s, void *r)
{
  reads_one_layer("loop_residual", "u", u), reads_coefficients("loop_residual", A);
  if (c.z) reads_one_layer("loop_residual", "the correction", c.z);
  if (c.z) REAL(vector_of(e)->correct(e, A->cells, c, 1, u));
  REAL((void)op_of(e)->measure_residual(e, A, f, u, NULL, s, r, NULL, GMG_ENQUEUE)), writes(u), writes(r);
}
static void loop_first_residual(const gmg_exec *e, const gmg_operator *A, const void *f, const void *u, const double *divisor,
                                gmg_scale *s, void *r)
{
  reads_one_layer("loop_first_residual", "u", u), reads_coefficients("loop_first_residual", A);
  REAL((void)op_of(e)->measure_residual(e, A, f, u, divisor, s, r, NULL, GMG_ENQUEUE)), writes(r);
}
static void apply(const gmg_exec *e, const gmg_operator *A, const void *u, void *v)
{
  reads_one_layer("apply", "u", u), reads_coefficients("apply", A);
  REAL(op_of(e)->apply(e, A, u, v)), writes(v);
}
static void over_diagonal(const gmg_exec *e, const gmg_operator *A, const void *f, void *v)
{
  REAL(op_of(e)->over_diagonal(e, A, f, v)), writes(v);
}
static double magnitude(const gmg_exec *e, const gmg_operator *A, const void *u)
{
  double norm;
  reads_one_layer("magnitude", "u", u), reads_coefficients("magnitude", A);
  REAL_DOUBLE(norm, op_of(e)->magnitude(e, A, u));
  return norm;
}
static void cg_direction(const gmg_exec *e, const gmg_operator *A, const void *z, gmg_cg_scalars *d, const double *unit,
                         const void *last, void *p, const void *x, void *q)
{
  reads_one_layer("cg_direction", "the correction", z), reads_coefficients("cg_direction", A);
  REAL(op_of(e)->cg_direction(e, A, z, d, unit, last, p, x, q)), writes(q);
}
static void restrict_residual(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u, void *r,
                              void *coarse)
{
  reads("restrict_residual", "u", u), reads("restrict_residual", "f", f), reads_coefficients("restrict_residual", A);
  REAL(op_of(e)->restrict_residual(e, A, map, f, u, r, coarse)), writes(r), writes(coarse);
}

/* The operations that a smoother calls are watched, too. */
static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  reads("sweep", "u", u), reads("sweep", "f", f), reads_coefficients("sweep", l->A);
  smoother->sweep(l, state, f, u, steps, leg), writes(u);
}
static void sweep_from_zero(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  reads("sweep_from_zero", "f", f), reads_coefficients("sweep_from_zero", l->A);
  smoother->sweep_from_zero(l, state, f, u, steps, leg), writes(u);
}

/* The bottom must not exchange: one process solves it. */
static void solve_bottom(const gmg_exec *e, const gmg_bottom_problem *p, void *state, int level, void *f, void *u,
                         gmg_cycle_kind cycle, gmg_start start)
{
  const int before = exchanges;
  REAL(bottom->solve(e, p, state, level, f, u, cycle, start)), writes(f), writes(u);
  assert_int_equal(exchanges, before);
}

/* --- fused legs, as on a device ----------------------------------------------------------------------------------------------- */

static int buffered; /* 1: double-buffered legs, for which u alternates between two fields */

static int presmooth_restrict(const gmg_smoother_level *l, void *state, const void *f, void *u, void *to, int steps, gmg_start start,
                              const gmg_map *map, void *coarse)
{
  const size_t bytes = l->A->cells * l->exec->real_size;
  reads("a fused leg", "f", f), reads_coefficients("a fused leg", l->A);
  if (start == GMG_FROM_CURRENT) reads("a fused leg", "u", u);
  else memset(u, 0, bytes);
  REAL(smoother->sweep(l, state, f, u, steps, GMG_LEG_DOWN));
  if (to != u) memcpy(to, u, bytes);
  REAL(op_of(l->exec)->restrict_residual(l->exec, l->A, map, f, to, to == u ? l->scratch : u, coarse));
  writes(u), writes(to), writes(coarse);
  return 1;
}

/* Refuses to prolong if it is not double-buffered, so the cycle calls it twice. */
static int postsmooth_update(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg,
                             const gmg_update_target *to)
{
  const size_t n = l->A->cells;
  if (!buffered && to->coarse) return 0;
  reads("a fused leg", "f", f), reads("a fused leg", "u", u), reads_coefficients("a fused leg", l->A);
  if (to->coarse) reads("a fused leg", "the coarse field", to->coarse);
  if (to->coarse) REAL(grid_of(l->exec)->transfer(l->exec, to->prolong, to->coarse, u, 1));
  REAL(smoother->sweep(l, state, f, u, steps, leg));
  double *x = to->x;
  if (l->A->type == GMG_F64) memcpy(x, u, n * sizeof *x);
  for (size_t c = 0; c < n && l->A->type == GMG_F32; c++)
    x[c] = (to->scale ? *to->scale : 1) * (double)((const float *)u)[c] + (to->keep ? x[c] : 0);
  writes(u), writes(x);
  return 1;
}

static int double_buffered(const gmg_smoother_level *l, const void *state, const gmg_map *prolong)
{
  (void)state, (void)prolong;
  return buffered && l->A->type == GMG_F64;
}

static int takes_base(const gmg_smoother_level *l, const void *state, int steps, const gmg_update_target *to)
{
  (void)l, (void)state, (void)steps, (void)to;
  return 0;
}

static const gmg_fused_ops fused = {presmooth_restrict, postsmooth_update, double_buffered, takes_base};

/* --- a watched solver --------------------------------------------------------------------------------------------------------- */

static void begin_watching(void) { count = exchanges = checks = inside = 0, complaint[0] = 0; }

static session watched_solver(const gmg_problem *p, const gmg_params *params)
{
  session s = {.problem = *p};
  begin_watching();
  assert_int_equal(gmg_context_create_host(2, &s.context), GMG_OK);
  s.context->comm = &watched_comm;
  assert_ok(s.context, gmg_solver_create(s.context, p, params, &s.solver));
  return s;
}

/* Replaces the solver's tables by watching ones. */
static void watch(gmg_solver *s)
{
  static gmg_vector_ops vector[2];
  static gmg_grid_ops grid[2];
  static const gmg_operator_ops op = {residual, measure_residual, interpolated_residual, correct_residual, loop_residual,
                                      loop_first_residual, apply, over_diagonal, magnitude, cg_direction, restrict_residual};
  static gmg_backend_tables tables;
  static gmg_operator_kind watched_kind;
  static gmg_smoother_ops watched_smoother;
  static gmg_bottom_ops watched_bottom;
  tables = gmg_host_backend;
  for (int type = 0; type < 2; type++) {
    vector[type] = *gmg_host_backend.vector[type], grid[type] = *gmg_host_backend.grid[type];
    gmg_vector_ops *v = &vector[type];
    v->fill = fill, v->copy = copy, v->axpy = axpy, v->xpay = xpay, v->correct = correct, v->cg_update = cg_update;
    v->normalize_to_low = normalize_to_low, v->scale_to_low = scale_to_low, v->subtract_mean = subtract_mean;
    gmg_grid_ops *g = &grid[type];
    g->remove_mean = remove_mean, g->take_mean = take_mean, g->transfer = transfer, g->prolong_faces = prolong_faces;
    g->fold = fold, g->flux = flux, g->pad = pad;
    g->harmonic_faces = harmonic_faces, g->coarsen_walls = coarsen_walls, g->copy_faces = copy_faces;
    tables.vector[type] = v, tables.grid[type] = g;
  }
  kind = s->finest->A.kind, smoother = s->mg.smoother[0], bottom = s->coarsest_bottom.ops;
  watched_kind = *kind, watched_kind.ops[GMG_BACKEND_HOST][0] = watched_kind.ops[GMG_BACKEND_HOST][1] = &op;
  for (int l = 0; l < s->levels; l++) s->level[l].A.kind = &watched_kind;
  for (int l = 0; l < s->outer_levels; l++) s->outer[l].A.kind = &watched_kind;
  watched_smoother = *smoother, watched_smoother.sweep = sweep;
  if (smoother->sweep_from_zero) watched_smoother.sweep_from_zero = sweep_from_zero;
  watched_bottom = *bottom, watched_bottom.solve = solve_bottom;
  s->exec.tables = s->low_exec.tables = &tables;
  s->vector = s->exec.vector = tables.vector[s->exec.type], s->low_exec.vector = tables.vector[s->low_exec.type];
  s->grid = tables.grid[s->exec.type], s->mg.grid = tables.grid[s->levels_exec->type];
  for (int l = 0; l < s->levels; l++) s->mg.op[l] = &op, s->mg.smoother[l] = &watched_smoother;
  s->op = &op, s->mg.bottom.ops = s->coarsest_bottom.ops = &watched_bottom;
}

static void give_fused_legs(gmg_solver *s)
{
  for (int l = 0; l + 1 < s->levels; l++) s->mg.fused[l] = &fused, gmg_choose_legs(&s->mg, l);
}

/* --- cases -------------------------------------------------------------------------------------------------------------------- */

typedef struct {
  const char *name, *bc;
  int dim;
  gmg_centering centering;
  const char *smoother;
  int coefficients; /* 1: beta; 2: coefficients on faces; 3: sigma; 4: a box stencil */
  int values;       /* 1: boundary values are set */
  gmg_precision precision;
  gmg_accel accel;
  gmg_cycle_kind cycle;
  int fmg, pre, legs; /* legs: 1 fused, 2 double-buffered */
  int check_every, max_levels;
  double rtol;
} watched_case;

#define SAME GMG_PRECISION_SAME
#define MIXED GMG_PRECISION_MIXED
#define NONE GMG_ACCEL_NONE
#define FLEXIBLE GMG_ACCEL_FLEXIBLE_CG
static const watched_case cases[] = {
    {"V", "dnrdpp", 3, GMG_CELL, "red_black", 0, 0, SAME, NONE, GMG_CYCLE_V, 0, 2, 0, 1, 0, 1e-8},
    {"W", "dnrdpp", 3, GMG_CELL, "async", 0, 0, SAME, NONE, GMG_CYCLE_W, 0, 1, 0, 1, 0, 1e-8},
    {"F, presmoothing off", "dddd", 2, GMG_VERTEX, "jacobi", 0, 0, SAME, NONE, GMG_CYCLE_F, 0, 0, 0, 1, 0, 1e-6},
    {"unmeasured", "dddd", 2, GMG_VERTEX, "red_black", 0, 1, SAME, NONE, GMG_CYCLE_V, 0, 1, 0, 0, 0, 1e-8},
    {"mixed", "dddn", 2, GMG_CELL, "red_black", 0, 1, MIXED, NONE, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-8},
    {"mixed, singular", "nnpp", 2, GMG_CELL, "gauss_seidel", 0, 0, MIXED, NONE, GMG_CYCLE_W, 0, 1, 0, 2, 0, 1e-8},
    {"mixed, unmeasured", "dddn", 2, GMG_CELL, "async", 0, 0, MIXED, NONE, GMG_CYCLE_V, 0, 1, 0, 0, 0, 1e-8},
    {"singular", "nnnn", 2, GMG_VERTEX, "chebyshev", 0, 0, SAME, NONE, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-8},
    {"start", "dddd", 2, GMG_CELL, "red_black", 0, 0, SAME, NONE, GMG_CYCLE_V, 1, 1, 0, 1, 0, 1e-8},
    {"start with boundary values", "drdnpp", 3, GMG_VERTEX, "red_black", 0, 1, SAME, NONE, GMG_CYCLE_V, 2, 1, 0, 1, 0, 1e-8},
    {"start with coefficients", "dddd", 2, GMG_CELL, "red_black", 1, 0, SAME, FLEXIBLE, GMG_CYCLE_V, 1, 2, 0, 1, 0, 1e-8},
    {"mixed start", "dddd", 2, GMG_CELL, "red_black", 0, 0, MIXED, NONE, GMG_CYCLE_V, 2, 1, 0, 1, 0, 1e-8},
    {"mixed start with boundary values", "dndr", 2, GMG_CELL, "red_black", 0, 1, MIXED, NONE, GMG_CYCLE_V, 2, 1, 0, 1, 0, 1e-8},
    {"mixed start, outer levels", "dd", 1, GMG_VERTEX, "red_black", 0, 0, MIXED, NONE, GMG_CYCLE_V, 2, 1, 0, 1, 0, 1e-3},
    {"mixed start, outer levels, with values", "dn", 1, GMG_CELL, "red_black", 0, 1, MIXED, NONE, GMG_CYCLE_V, 2, 1, 0, 1, 0, 1e-3},
    {"mixed start, singular", "nnnn", 2, GMG_CELL, "red_black", 0, 0, MIXED, FLEXIBLE, GMG_CYCLE_V, 1, 1, 0, 1, 0, 1e-8},
    {"CG", "dddd", 2, GMG_CELL, "red_black", 2, 0, SAME, GMG_ACCEL_CG, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-8},
    {"flexible CG", "dddd", 2, GMG_CELL, "async", 1, 0, SAME, FLEXIBLE, GMG_CYCLE_V, 0, 2, 0, 1, 0, 1e-8},
    {"flexible CG, mixed", "ddpp", 2, GMG_CELL, "red_black", 3, 1, MIXED, FLEXIBLE, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-8},
    {"to the floor", "dddd", 2, GMG_CELL, "red_black", 0, 0, SAME, FLEXIBLE, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-30},
    {"to the floor, mixed", "dddd", 2, GMG_CELL, "red_black", 0, 0, MIXED, NONE, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-30},
    {"one level, unmeasured", "dddd", 2, GMG_VERTEX, "red_black", 0, 0, SAME, NONE, GMG_CYCLE_V, 0, 1, 0, 0, 1, 1e-8},
    {"one level", "dddd", 2, GMG_VERTEX, "red_black", 0, 0, SAME, NONE, GMG_CYCLE_V, 0, 1, 0, 1, 1, 1e-8},
    {"box", "dddd", 2, GMG_VERTEX, "async", 4, 0, MIXED, NONE, GMG_CYCLE_V, 1, 1, 0, 1, 0, 1e-8},
    {"box by operations, Jacobi", "dndn", 2, GMG_VERTEX, "jacobi", 4, 0, SAME, NONE, GMG_CYCLE_V, 0, 2, 0, 1, 0, 1e-6},
    {"box by operations, Chebyshev", "dndn", 2, GMG_VERTEX, "chebyshev", 4, 0, SAME, FLEXIBLE, GMG_CYCLE_V, 0, 2, 0, 1, 0, 1e-8},
    {"fused", "dddd", 2, GMG_CELL, "red_black", 0, 0, MIXED, NONE, GMG_CYCLE_W, 0, 1, 1, 1, 0, 1e-8},
    {"fused, at once", "dddd", 2, GMG_CELL, "red_black", 0, 0, SAME, NONE, GMG_CYCLE_W, 1, 1, 2, 1, 0, 1e-8},
};

static void *random_array(size_t n, uint64_t seed)
{
  double *x = field(n, seed);
  for (size_t i = 0; i < n; i++) x[i] = 1 + 0.5 * x[i];
  return x;
}

/* The problem of a case. Its arrays are to be freed. */
static gmg_problem problem_of(const watched_case *k, gmg_stencil *box, double *arrays[3])
{
  static const size_t sizes[4][3] = {{0}, {4000, 1, 1}, {70, 66, 1}, {21, 18, 16}};
  const size_t *size = sizes[k->dim];
  gmg_problem p = make_problem(k->dim, size[0], size[1], size[2], k->centering, k->bc);
  const size_t n = unknowns(&p), room = n + n / (p.n[0] < p.n[1] ? p.n[0] : p.n[1]);
  for (int i = 0; i < 3; i++) arrays[i] = random_array(room, 3 + (uint64_t)i);
  if (k->coefficients == 1) p.beta = arrays[0];
  if (k->coefficients == 2) p.beta_face[0] = arrays[0], p.beta_face[1] = arrays[1];
  if (k->coefficients == 3) p.sigma = arrays[2], p.beta = arrays[0];
  if (k->coefficients == 4) *box = box_of_entries(&p, &box_fv1), p.stencil = box;
  return p;
}

static gmg_params params_of(const watched_case *k)
{
  gmg_params q = params_for_cycles();
  q.smoother = gmg_smoother_by_name(k->smoother), q.precision = k->precision, q.accel = k->accel, q.cycle = k->cycle;
  q.fmg = k->fmg, q.pre = count_or_none(k->pre), q.post = 1 + (k->pre == 0), q.rtol = k->rtol, q.max_levels = k->max_levels;
  q.check_every = count_or_none(k->check_every), q.max_cycles = k->check_every ? 60 : 4;
  return q;
}

static void expect_fresh(const watched_case *k, const char *call)
{
  if (complaint[0]) fail_msg("%s, %s: %s", k->name, call, complaint);
}

static void run_case(const watched_case *k)
{
  double *arrays[3], *f, *u;
  gmg_stencil box;
  gmg_problem p = problem_of(k, &box, arrays);
  const gmg_params q = params_of(k);
  const size_t n = unknowns(&p);
  session s = watched_solver(&p, &q);
  gmg_report report;
  f = field(n, 7), u = field(n, 8);
  for (int i = 0; i < 2 * k->dim && k->values; i++)
    if (p.bc[i / 2][i % 2] != GMG_PERIODIC) assert_ok(s.context, gmg_set_boundary_values(s.solver, i / 2, i % 2, arrays[1]));
  watch(s.solver);
  if (k->dim == 1) assert_true(s.solver->outer_levels > 2);
  if (k->legs) buffered = k->legs == 2, give_fused_legs(s.solver);
  const gmg_status status = gmg_solve(s.solver, f, u, &report);
  if (status != (k->rtol < 1e-20 ? GMG_STAGNATED : GMG_OK)) fail_msg("%s: %s", k->name, gmg_context_error(s.context));
  expect_fresh(k, "gmg_solve");
  assert_ok(s.context, gmg_residual(s.solver, f, u, arrays[0]));
  expect_fresh(k, "gmg_residual");
  assert_ok(s.context, gmg_precondition(s.solver, f, u));
  expect_fresh(k, "gmg_precondition");
  if (checks < 3) fail_msg("%s: %d checks", k->name, checks);
  end_solver(&s);
  free(f), free(u);
  for (int i = 0; i < 3; i++) free(arrays[i]);
}

static void no_operation_reads_stale_ghosts(void **state)
{
  (void)state;
  for (int i = 0; i < COUNT(cases); i++) run_case(&cases[i]);
}

/* Updates of coefficients on all levels, in both precisions, and fluxes find fresh ghosts. */
static void coefficients_and_fluxes_are_fresh(void **state)
{
  (void)state;
  for (int coefficients = 1; coefficients <= 3; coefficients++)
    for (int mixed = 0; mixed < 2; mixed++) {
      const watched_case k = {"update", "dndd", 2, GMG_CELL, "red_black", coefficients, 0, mixed ? MIXED : SAME, FLEXIBLE,
                              GMG_CYCLE_V, mixed, 2, 0, 1, 0, 1e-8};
      double *arrays[3], *more[3];
      gmg_stencil box;
      const gmg_problem p = problem_of(&k, &box, arrays), next = problem_of(&k, &box, more);
      const gmg_params q = params_of(&k);
      session s = watched_solver(&p, &q);
      watch(s.solver);
      checks = 0;
      assert_ok(s.context, gmg_solver_update(s.solver, &next));
      expect_fresh(&k, "gmg_solver_update");
      assert_true(checks > 0);
      for (int l = 0; l < s.solver->levels; l++) reads_coefficients("the next solve", &s.solver->level[l].A);
      for (int l = 0; l < s.solver->outer_levels; l++) reads_coefficients("the next solve", &s.solver->outer[l].A);
      expect_fresh(&k, "gmg_solver_update");
      double *out = field(2 * unknowns(&p), 0);
      void *fluxes[3] = {out, NULL, NULL};
      assert_ok(s.context, gmg_flux(s.solver, more[1], fluxes, NULL));
      expect_fresh(&k, "gmg_flux");
      end_solver(&s);
      free(out);
      for (int i = 0; i < 3; i++) free(arrays[i]), free(more[i]);
    }
}

/* A watched solver of a case without a stencil. Its arrays are to be freed. */
static session watched_case_of(const watched_case *k, double *arrays[3])
{
  const gmg_problem p = problem_of(k, NULL, arrays);
  const gmg_params q = params_of(k);
  const session s = watched_solver(&p, &q);
  watch(s.solver);
  return s;
}

/* The cycle that searches the level of a divergence finds fresh ghosts. */
static void a_watched_cycle_finds_fresh_ghosts(void **state)
{
  (void)state;
  const watched_case k = {"divergence", "dddd", 2, GMG_CELL, "red_black", 0, 0, SAME, NONE, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-8};
  double *arrays[3];
  session s = watched_case_of(&k, arrays);
  (void)gmg_watched_cycle(&s.solver->mg, arrays[0], arrays[1], GMG_CYCLE_V);
  expect_fresh(&k, "gmg_watched_cycle");
  end_solver(&s);
  for (int i = 0; i < 3; i++) free(arrays[i]);
}

/* A cycle with asynchronous halos exchanges f of each level that it smooths, and u when it comes back. */
static void asynchronous_halos_exchange_once(void **state)
{
  (void)state;
  for (int kind = 0; kind < 2; kind++)
    for (int legs = 0; legs < 3; legs += 2) {
      const watched_case k = {"asynchronous halos", "dndd", 2, GMG_CELL, "red_black", 0, 0, SAME, NONE,
                              kind ? GMG_CYCLE_W : GMG_CYCLE_V, 0, 1, legs, 1, 3, 1e-8};
      double *arrays[3];
      session s = watched_case_of(&k, arrays);
      if (legs) buffered = 1, give_fused_legs(s.solver);
      s.solver->mg.refresh = gmg_refresh_of(GMG_HALOS_ASYNC);
      exchanges = 0;
      assert_ok(s.context, gmg_precondition(s.solver, arrays[0], arrays[1]));
      assert_int_equal(s.solver->levels, 3);
      assert_int_equal(exchanges, kind ? 3 : 2); /* W: also u before the second visit to level 1 */
      end_solver(&s);
      for (int i = 0; i < 3; i++) free(arrays[i]);
    }
}

static int yes(gmg_context *c) { return (void)c, 1; }
static void begins(gmg_context *c, int measures_first) { (void)c, (void)measures_first; }

/* The work that a device records as a loop finds fresh ghosts. */
static void recorded_loops_find_fresh_ghosts(void **state)
{
  (void)state;
  static const gmg_graph_ops graph = {.measures_first = yes, .loop_body_begin = begins};
  static const watched_case loops[] = {
      {"loop", "dddd", 2, GMG_CELL, "red_black", 0, 0, SAME, NONE, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-8},
      {"mixed loop", "dddd", 2, GMG_CELL, "red_black", 0, 0, MIXED, NONE, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-8},
      {"fused loop", "dddd", 2, GMG_CELL, "red_black", 0, 0, SAME, NONE, GMG_CYCLE_V, 0, 1, 1, 1, 0, 1e-8},
      {"fused mixed loop", "dddd", 2, GMG_CELL, "red_black", 0, 0, MIXED, NONE, GMG_CYCLE_V, 0, 1, 1, 1, 0, 1e-8},
  };
  for (int i = 0; i < COUNT(loops); i++) {
    const watched_case *k = &loops[i];
    double *arrays[3];
    session s = watched_case_of(k, arrays);
    if (k->legs) buffered = 0, give_fused_legs(s.solver);
    s.solver->exec.graph = &graph;
    for (int cycle = 0; cycle < 2; cycle++) s.solver->method->loop(s.solver, arrays[0], arrays[1]);
    s.solver->exec.graph = NULL;
    expect_fresh(k, "a loop");
    assert_true(checks > 10);
    end_solver(&s);
    for (int a = 0; a < 3; a++) free(arrays[a]);
  }
}

/* A user's smoother that asks for residuals finds fresh ghosts between its steps. */
static void residuals_of_smoothers_exchange(void **state)
{
  (void)state;
  const watched_case k = {"gmg_level_residual", "dddd", 2, GMG_CELL, "red_black", 0, 0, SAME, NONE, GMG_CYCLE_V, 0, 1, 0, 1, 0, 1e-8};
  double *arrays[3];
  gmg_stencil box;
  const gmg_problem p = problem_of(&k, &box, arrays);
  const gmg_params q = params_of(&k);
  session s = watched_solver(&p, &q);
  watch(s.solver);
  gmg_level_residual(&s.solver->level[0].view, arrays[0], arrays[1], arrays[2]);
  expect_fresh(&k, "a sweep");
  end_solver(&s);
  for (int i = 0; i < 3; i++) free(arrays[i]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_operation_reads_stale_ghosts), cmocka_unit_test(coefficients_and_fluxes_are_fresh),
      cmocka_unit_test(a_watched_cycle_finds_fresh_ghosts), cmocka_unit_test(asynchronous_halos_exchange_once),
                                     cmocka_unit_test(recorded_loops_find_fresh_ghosts),
      cmocka_unit_test(residuals_of_smoothers_exchange)};
  return run_selected(tests);
}
