#include "util.h"

#include "gmg_cuda.h"
#include "mg/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gmg_problem make_problem(int dim, size_t nx, size_t ny, size_t nz, gmg_centering centering, const char *bc)
{
  const size_t n[3] = {nx, ny, nz};
  const double unit[3] = {1, 1, 1};
  gmg_problem p = gmg_problem_default(dim, n);
  p.centering = centering;
  for (int a = 0; a < dim; a++)
    for (int side = 0; side < 2; side++) {
      const char kind = bc[2 * a + side];
      p.bc[a][side] = kind == 'd' ? GMG_DIRICHLET : kind == 'n' ? GMG_NEUMANN : kind == 'r' ? GMG_ROBIN : GMG_PERIODIC;
      p.robin[a][side][0] = 2;
      p.robin[a][side][1] = 0.5;
    }
  gmg_problem_set_box(&p, unit);
  return p;
}

gmg_problem shaped_problem(const shape *s) { return make_problem(s->dim, s->n[0], s->n[1], s->n[2], s->centering, s->bc); }

size_t unknowns(const gmg_problem *p)
{
  size_t n = 1;
  for (int a = 0; a < p->dim; a++) n *= p->n[a];
  return n;
}

double uniform(uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
  return (double)(*state >> 11) / 9007199254740992.0 - 0.5;
}

void fill_random(double *x, size_t n, uint64_t seed)
{
  uint64_t state = seed;
  for (size_t i = 0; i < n; i++) x[i] = uniform(&state);
}

double *field(size_t n, uint64_t seed)
{
  double *x = calloc(n, sizeof *x);
  if (seed) fill_random(x, n, seed);
  return x;
}

double norm2(const double *x, size_t n)
{
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i] * x[i];
  return sqrt(s);
}

/* --- where solvers run ----------------------------------------------------------------------------------------------- */

int on_device;

int without_device(void)
{
  gmg_context *c;
  const gmg_status status = gmg_context_create_cuda(0, NULL, &c);
  if (status != GMG_OK) {
    printf("skipped: %s\n", status == GMG_ERR_UNSUPPORTED ? "the library was built without CUDA, or not for this device"
                            : status == GMG_ERR_DEVICE    ? "no CUDA device or no driver"
                                                          : gmg_status_string(status));
    return SKIPPED;
  }
  gmg_context_destroy(c);
  return 0;
}

int for_device(int argc, char **argv)
{
  on_device = argc > 1 && strcmp(argv[argc - 1], "cuda") == 0;
  return on_device ? without_device() : 0;
}

void only(int argc, char **argv)
{
  if (argc > 1) cmocka_set_test_filter(argv[1]);
}

/* What the host has, where the exec's context runs; to be released by it. */
static void *copy_there(const gmg_exec *e, const void *from, size_t bytes)
{
  void *to = e->memory->alloc(e->context, bytes);
  assert_non_null(to);
  e->memory->upload(e->context, to, from, bytes);
  return to;
}

/* The problem with its arrays there, by one of the calls that take one. */
typedef struct {
  gmg_context *context;
  const gmg_params *params; /* NULL: to update the solver */
  gmg_solver **solver;
} taker;

static gmg_status give_there(const gmg_problem *p, taker to)
{
  const gmg_exec e = gmg_exec_make(to.context, p->type, 0);
  const size_t N = unknowns(p);
  gmg_problem there = *p;
  const void **const arrays[] = {&there.beta, &there.sigma, &there.beta_face[0], &there.beta_face[1], &there.beta_face[2]};
  void *copies[5] = {NULL};
  for (int i = 0; i < 5; i++)
    if (*arrays[i]) {
      const size_t reals = i < 2 ? N : N / p->n[i - 2] * (p->n[i - 2] + 1);
      *arrays[i] = copies[i] = copy_there(&e, *arrays[i], reals * e.real_size);
    }
  const gmg_status status = to.params ? gmg_solver_create(to.context, &there, to.params, to.solver)
                                      : gmg_solver_update(*to.solver, &there);
  for (int i = 0; i < 5; i++)
    if (copies[i]) e.memory->release(to.context, copies[i]);
  return status;
}

gmg_status create_there(gmg_context *context, const gmg_problem *p, const gmg_params *params, gmg_solver **solver)
{
  return give_there(p, (taker){context, params, solver});
}

gmg_status update_in(session *s, const gmg_problem *p) { return give_there(p, (taker){s->context, NULL, &s->solver}); }

session begin_solver(const gmg_problem *p, const gmg_params *params, int threads)
{
  session s = {0};
  if (on_device) assert_int_equal(gmg_context_create_cuda(0, NULL, &s.context), GMG_OK);
  else assert_int_equal(gmg_context_create_host(threads, &s.context), GMG_OK);
  if (on_device) assert_ok(s.context, create_there(s.context, p, params, &s.solver));
  else assert_ok(s.context, gmg_solver_create(s.context, p, params, &s.solver));
  return s;
}

/* Fields there: the first `in` of them hold what the host has; the last one comes back. */
static void fields_there(session *s, int in, const void *const here[], void *there[], int count)
{
  const gmg_exec *e = &s->solver->exec;
  const size_t bytes = s->solver->top->A.cells * e->real_size;
  for (int i = 0; i < count; i++) there[i] = i < in ? copy_there(e, here[i], bytes) : e->memory->alloc(e->context, bytes);
}

static void last_field_back(session *s, void *here, void *const there[], int count)
{
  const gmg_exec *e = &s->solver->exec;
  e->memory->download(e->context, here, there[count - 1], s->solver->top->A.cells * e->real_size);
  for (int i = 0; i < count; i++) e->memory->release(e->context, there[i]);
}

gmg_status solve_in(session *s, const void *f, void *u, gmg_report *report)
{
  void *there[2];
  if (!on_device) return gmg_solve(s->solver, f, u, report);
  fields_there(s, 2, (const void *const[]){f, u}, there, 2);
  const gmg_status status = gmg_solve(s->solver, there[0], there[1], report);
  last_field_back(s, u, there, 2);
  return status;
}

gmg_status precondition_in(session *s, const void *r, void *z)
{
  void *there[2];
  if (!on_device) return gmg_precondition(s->solver, r, z);
  fields_there(s, 1, (const void *const[]){r}, there, 2);
  const gmg_status status = gmg_precondition(s->solver, there[0], there[1]);
  last_field_back(s, z, there, 2);
  return status;
}

gmg_status residual_in(session *s, const void *f, const void *u, void *r)
{
  void *there[3];
  if (!on_device) return gmg_residual(s->solver, f, u, r);
  fields_there(s, 2, (const void *const[]){f, u}, there, 3);
  const gmg_status status = gmg_residual(s->solver, there[0], there[1], there[2]);
  last_field_back(s, r, there, 3);
  return status;
}

gmg_status set_values_in(session *s, int axis, int side, const void *g)
{
  if (!on_device) return gmg_set_boundary_values(s->solver, axis, side, g);
  const gmg_exec *e = &s->solver->exec;
  const gmg_operator *A = &s->solver->top->A;
  void *const there = copy_there(e, g, A->cells / A->n[axis] * e->real_size);
  const gmg_status status = gmg_set_boundary_values(s->solver, axis, side, there);
  e->memory->release(s->context, there);
  return status;
}

void end_solver(session *s)
{
  gmg_solver_destroy(s->solver);
  gmg_context_destroy(s->context);
}

static double factor_here(const gmg_problem *p, const gmg_params *params, int threads, int cycles)
{
  const size_t n = unknowns(p);
  double *f = field(n, 0), *u = field(n, 1);
  gmg_params q = *params;
  gmg_report r;
  q.rtol = 1e-300, q.max_cycles = cycles;
  session s = begin_solver(p, &q, threads);
  solve_in(&s, f, u, &r);
  end_solver(&s);
  free(f);
  free(u);
  return r.factor;
}

double measured_factor(const gmg_problem *p, const gmg_params *params, int threads, int cycles)
{
  const double factor = factor_here(p, params, threads, cycles);
  const int async = strcmp(params->smoother->name, "async") == 0;
  if (!on_device || (async && !(params->deterministic && params->block[0]))) return factor;
  on_device = 0;
  const double on_host = factor_here(p, params, 0, cycles);
  on_device = 1;
  if (!(fabs(factor - on_host) <= SAME_FACTOR))
    fail_msg("%s, %dD, %zu x %zu x %zu: factor %.4f on the device, %.4f on the host", params->smoother->name, p->dim, p->n[0],
             p->n[1], p->n[2], factor, on_host);
  return factor;
}

/* --- the reference ------------------------------------------------------------------------------------------------
   Finite volumes from the definition: a control volume about each unknown, fluxes through its faces. */

static int on_wall(const gmg_problem *p, int a, int side)
{
  return p->centering == GMG_VERTEX && (p->bc[a][side] == GMG_NEUMANN || p->bc[a][side] == GMG_ROBIN);
}

static double real_at(const gmg_problem *p, const void *x, size_t i)
{
  return p->type == GMG_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

/* What problem.coord holds for the axis, or would hold: cell faces, or nodes with the Dirichlet walls. */
static double given_position(const gmg_problem *p, int a, size_t i)
{
  return p->coord[a] ? p->coord[a][i] : (double)i * p->h[a];
}

static size_t first_node(const gmg_problem *p, int a) { return p->bc[a][0] == GMG_DIRICHLET; }

double axis_position(const gmg_problem *p, int a, size_t i)
{
  if (p->centering == GMG_CELL) return (given_position(p, a, i) + given_position(p, a, i + 1)) / 2;
  return given_position(p, a, i + first_node(p, a));
}

static double wall_position(const gmg_problem *p, int a, int side)
{
  const size_t n = p->n[a];
  if (p->centering == GMG_CELL) return given_position(p, a, side ? n : 0);
  if (on_wall(p, a, side)) return axis_position(p, a, side ? n - 1 : 0);
  return given_position(p, a, side ? n + first_node(p, a) : 0);
}

/* Distance from unknown i to the face of its control volume: between vertices half way to the neighbour. */
static double half(const gmg_problem *p, int a, size_t i, int side)
{
  const size_t n = p->n[a];
  const double x = axis_position(p, a, i);
  if (p->centering == GMG_CELL) return fabs(given_position(p, a, i + (size_t)side) - x);
  if (i != (side ? n - 1 : 0)) return fabs(axis_position(p, a, side ? i + 1 : i - 1) - x) / 2;
  if (p->bc[a][side] != GMG_PERIODIC) return fabs(wall_position(p, a, side) - x) / 2; /* 0 on the wall */
  return (given_position(p, a, n) - axis_position(p, a, n - 1)) / 2 + (axis_position(p, a, 0) - given_position(p, a, 0)) / 2;
}

double axis_volume(const gmg_problem *p, int a, size_t i)
{
  if (p->n[a] == 1 && on_wall(p, a, 0) && on_wall(p, a, 1)) return p->h[a]; /* a slab of thickness h */
  return half(p, a, i, 0) + half(p, a, i, 1);
}

void index_of(const gmg_problem *p, size_t c, size_t at[3])
{
  for (int a = 0; a < 3; a++) {
    at[a] = a < p->dim ? c % p->n[a] : 0;
    if (a < p->dim) c /= p->n[a];
  }
}

double cell_volume(const gmg_problem *p, size_t index)
{
  double v = 1;
  size_t at[3];
  index_of(p, index, at);
  for (int a = 0; a < p->dim; a++) v *= axis_volume(p, a, at[a]);
  return v;
}

/* Of an array with `more` values more than unknowns along one axis. */
static size_t flat(const gmg_problem *p, const size_t at[3], int axis, size_t more)
{
  size_t c = 0;
  for (int a = p->dim; a-- > 0;) c = c * (p->n[a] + (a == axis ? more : 0)) + at[a];
  return c;
}

static double beta_at(const gmg_problem *p, int a, const size_t at[3], size_t i)
{
  size_t there[3] = {at[0], at[1], at[2]};
  there[a] = i;
  return p->beta ? real_at(p, p->beta, flat(p, there, a, 0)) : 1;
}

static double face_at(const gmg_problem *p, int a, const size_t at[3], size_t face)
{
  size_t there[3] = {at[0], at[1], at[2]};
  there[a] = p->bc[a][0] == GMG_PERIODIC && face == p->n[a] ? 0 : face;
  return real_at(p, p->beta_face[a], flat(p, there, a, 1));
}

/* Between two unknowns: the two halves in series, or the face's coefficient over the distance. */
static double conductance(const gmg_problem *p, int a, const size_t at[3], int side)
{
  const size_t n = p->n[a], i = at[a], j = side ? (i + 1) % n : (i + n - 1) % n;
  const double mine = half(p, a, i, side), other = half(p, a, j, !side);
  if (p->beta_face[a]) return face_at(p, a, at, i + (size_t)side) / (mine + other);
  return 1 / (mine / beta_at(p, a, at, i) + other / beta_at(p, a, at, j));
}

/* A Robin wall beyond a cell: the line through two cells, but no more than a factor of 2 away from the cell. */
static double wall_beta(const gmg_problem *p, int a, const size_t at[3], int side)
{
  const size_t n = p->n[a], i = side ? n - 1 : 0, j = side ? n - 2 : 1;
  if (p->beta_face[a]) return face_at(p, a, at, side ? n : 0);
  const double own = beta_at(p, a, at, i);
  if (p->bc[a][side] != GMG_ROBIN || p->centering != GMG_CELL || n == 1) return own;
  const double x = axis_position(p, a, i), slope = (own - beta_at(p, a, at, j)) / (x - axis_position(p, a, j));
  return fmin(fmax(own + slope * (wall_position(p, a, side) - x), own / 2), 2 * own);
}

row1d dense_row(const gmg_problem *p, int a, const size_t at[3])
{
  const size_t n = p->n[a], i = at[a];
  const double v = axis_volume(p, a, i);
  row1d r = {0};
  for (int side = 0; side < 2; side++) {
    double *neighbour = side ? &r.above : &r.below;
    if (i != (side ? n - 1 : 0) || p->bc[a][side] == GMG_PERIODIC) {
      if (n == 1) continue; /* its own neighbour */
      *neighbour = -conductance(p, a, at, side) / v;
      r.diag -= *neighbour;
      continue;
    }
    const double alpha = p->robin[a][side][0], b = p->robin[a][side][1];
    const double distance = fabs(wall_position(p, a, side) - axis_position(p, a, i));
    const double beta = wall_beta(p, a, at, side);
    if (p->bc[a][side] == GMG_DIRICHLET) { /* flux beta (u - g) / distance */
      r.diag += beta / distance / v;
      r.source[side] = beta / distance / v;
    } else if (p->bc[a][side] == GMG_NEUMANN) { /* flux -g */
      r.source[side] = 1 / v;
    } else if (p->centering == GMG_VERTEX) { /* flux -beta (g - alpha u) / b */
      r.diag += beta * alpha / b / v;
      r.source[side] = beta / b / v;
    } else { /* wall value w from alpha w + b (w - u) / distance = g, flux beta (u - w) / distance */
      const double k = 1 / distance, w_u = b * k / (alpha + b * k), w_g = 1 / (alpha + b * k);
      r.diag += beta * k * (1 - w_u) / v;
      r.source[side] = beta * k * w_g / v;
    }
  }
  return r;
}

double *dense_matrix(const gmg_problem *p)
{
  const size_t N = unknowns(p);
  double *A = calloc(N * N, sizeof *A);
  for (size_t c = 0; c < N; c++) {
    size_t stride = 1, at[3];
    index_of(p, c, at);
    A[c * N + c] += p->shift + (p->sigma ? real_at(p, p->sigma, c) : 0);
    for (int a = 0; a < p->dim; a++) {
      const size_t n = p->n[a], i = at[a], base = c - i * stride;
      const row1d r = dense_row(p, a, at);
      A[c * N + c] += r.diag;
      A[c * N + base + (i > 0 ? i - 1 : n - 1) * stride] += r.below;
      A[c * N + base + (i < n - 1 ? i + 1 : 0) * stride] += r.above;
      stride *= n;
    }
  }
  return A;
}

double *dense_rhs(const gmg_problem *p, const double *f, double *const g[3][2])
{
  const size_t N = unknowns(p);
  double *b = calloc(N, sizeof *b);
  for (size_t c = 0; c < N; c++) {
    size_t at[3];
    index_of(p, c, at);
    b[c] = f[c];
    for (int a = 0; a < p->dim; a++) {
      const row1d r = dense_row(p, a, at);
      const int q = a == 0 ? 1 : 0, s = a == 2 ? 1 : 2;
      for (int side = 0; side < 2; side++)
        if (g[a][side]) b[c] += r.source[side] * g[a][side][at[s] * p->n[q] + at[q]];
    }
  }
  return b;
}

int dense_solve(double *a, double *b, size_t n)
{
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return 0;
    for (size_t j = 0; j < n && pivot != k; j++) {
      const double swap = a[k * n + j];
      a[k * n + j] = a[pivot * n + j], a[pivot * n + j] = swap;
    }
    const double swap = b[k];
    b[k] = b[pivot], b[pivot] = swap;
    for (size_t i = k + 1; i < n; i++) {
      const double m = a[i * n + k] / a[k * n + k];
      if (m == 0) continue; /* narrow bands are cheap */
      for (size_t j = k; j < n; j++) a[i * n + j] -= m * a[k * n + j];
      b[i] -= m * b[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
    b[k] /= a[k * n + k];
  }
  return 1;
}
