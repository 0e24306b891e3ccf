#include "util.h"

#include "gmg_cuda.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gmg_params params_for_cycles(void)
{
  gmg_params q = gmg_params_default();
  q.direct = GMG_DIRECT_NEVER, q.coarsening = GMG_COARSENING_DISCRETIZE, q.check_every = 1;
  return q;
}

gmg_params params_for_cycles_of(const gmg_problem *p)
{
  gmg_params q = params_for_cycles();
  if (p->beta || p->beta_face[0]) q.cycle = GMG_CYCLE_F;
  return q;
}

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
static const char *pattern = "*"; /* of names of tests */

int for_device(int argc, char **argv)
{
  on_device = argc > 1 && strcmp(argv[argc - 1], "cuda") == 0;
  if (argc > 2) pattern = argv[1];
  return on_device ? without_device() : 0;
}

/* --- selection of cases ---------------------------------------------------------------------------------------------- */

static size_t number_in(const char *variable, size_t otherwise)
{
  const char *text = getenv(variable);
  const size_t n = text ? strtoul(text, NULL, 10) : 0;
  return n > 0 ? n : otherwise;
}

static size_t cases, cases_taken;
static void say_cases(void) { printf("cases taken: %zu of %zu\n", cases_taken, cases); }

int taken(size_t unknowns)
{
  static size_t every, most, fit;
  if (!every) {
    every = number_in("GMG_TEST_EVERY", 1), most = number_in("GMG_TEST_MOST", SIZE_MAX);
    if (every > 1 || most < SIZE_MAX) atexit(say_cases);
  }
  cases++;
  if (unknowns > most || fit++ % every) return 0;
  cases_taken++;
  return 1;
}

int share_of(int count)
{
  const int every = (int)number_in("GMG_TEST_EVERY", 1);
  return (count + every - 1) / every;
}

void only(int argc, char **argv)
{
  if (argc > 1) pattern = argv[1];
}

int run_selected_of(const struct CMUnitTest *tests, size_t count)
{
  size_t matching = 0;
  for (size_t t = 0; t < count; t++) matching += fnmatch(pattern, tests[t].name, 0) == 0;
  if (!matching) {
    fprintf(stderr, "no test matches \"%s\"\n", pattern);
    return 2;
  }
  cmocka_set_test_filter(pattern);
  return _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
}

/* --- arrays where a solver runs -------------------------------------------------------------------------------------- */

static void *alloc_in(int device, size_t bytes)
{
  void *p = device ? device_alloc(bytes) : malloc(bytes);
  assert_non_null(p);
  return p;
}

static void release_in(int device, void *p)
{
  if (device) device_release(p);
  else free(p);
}

static void copy_in(int device, void *to, const void *from, size_t bytes)
{
  if (device) device_copy(to, from, bytes);
  else memcpy(to, from, bytes);
}

static void *new_copy_in(int device, const void *from, size_t bytes)
{
  void *to = alloc_in(device, bytes);
  copy_in(device, to, from, bytes);
  return to;
}

static size_t bytes_of_real(const gmg_problem *p) { return p->type == GMG_F32 ? sizeof(float) : sizeof(double); }

size_t place_in(const gmg_problem *p, const size_t n[3], const gmg_array_layout *l, size_t i, size_t j, size_t k)
{
  const size_t row = p->dim > 1 && l->row ? l->row : n[0], plane = p->dim > 2 && l->plane ? l->plane : row * (p->dim > 1 ? n[1] : 1);
  return l->first + i + j * row + k * plane;
}

size_t elements_of(const gmg_problem *p, const size_t n[3], const gmg_array_layout *l)
{
  return place_in(p, n, l, n[0] - 1, p->dim > 1 ? n[1] - 1 : 0, p->dim > 2 ? n[2] - 1 : 0) + 1;
}

static size_t bytes_of_f(const gmg_problem *p) { return elements_of(p, p->n, &p->f_layout) * bytes_of_real(p); }
static size_t bytes_of_u(const gmg_problem *p) { return elements_of(p, p->n, &p->u_layout) * bytes_of_real(p); }
static size_t faces_of(const gmg_problem *p, int axis) { return unknowns(p) / p->n[axis] * (p->n[axis] + 1); }

/* The size of a stencil of a program that was compiled before stencils had arrays. */
enum { SMALL_STENCIL = offsetof(gmg_stencil, array) };

/* Calls gmg_plan() if info is given, gmg_solver_update() without params, otherwise gmg_solver_create(), with copies of the
   problem's arrays, which are freed afterwards. */
static gmg_status give_copies(int device, const gmg_problem *p, gmg_context *context, const gmg_params *params, gmg_solver **solver,
                              gmg_plan_info *info)
{
  gmg_problem there = *p;
  gmg_stencil box = p->stencil && p->stencil->size != SMALL_STENCIL ? *p->stencil : (gmg_stencil){0};
  enum { ARRAYS = 5 + 27 };
  const void **arrays[ARRAYS] = {&there.beta, &there.sigma, &there.beta_face[0], &there.beta_face[1], &there.beta_face[2]};
  void *copies[ARRAYS] = {NULL};
  for (int e = 0; e < 27; e++) arrays[5 + e] = &(&box.array[0][0][0])[e];
  if (p->stencil && p->stencil->size != SMALL_STENCIL) there.stencil = &box;
  for (int i = 0; i < ARRAYS; i++)
    if (*arrays[i]) {
      const size_t n[3] = {p->n[0] + (i == 2), p->n[1] + (i == 3), p->n[2] + (i == 4)};
      *arrays[i] = copies[i] = new_copy_in(device, *arrays[i], elements_of(p, n, &p->coefficient_layout) * bytes_of_real(p));
    }
  const gmg_status status = info     ? gmg_plan(context, &there, params, info)
                            : params ? gmg_solver_create(context, &there, params, solver)
                                     : gmg_solver_update(*solver, &there);
  for (int i = 0; i < ARRAYS; i++)
    if (copies[i]) release_in(device, copies[i]);
  return status;
}

gmg_status create_on_device(gmg_context *context, const gmg_problem *p, const gmg_params *params, gmg_solver **solver)
{
  return give_copies(1, p, context, params, solver, NULL);
}

gmg_status plan_in(session *s, const gmg_problem *p, const gmg_params *params, gmg_plan_info *info)
{
  return give_copies(on_device, p, s->context, params, NULL, info);
}

gmg_status update_in(session *s, const gmg_problem *p) { return give_copies(on_device, p, s->context, NULL, &s->solver, NULL); }

session begin_solver(const gmg_problem *p, const gmg_params *params, int threads)
{
  session s = {.problem = *p};
  if (on_device) assert_int_equal(gmg_context_create_cuda(0, NULL, &s.context), GMG_OK);
  else assert_int_equal(gmg_context_create_host(threads, &s.context), GMG_OK);
  if (on_device) assert_ok(s.context, create_on_device(s.context, p, params, &s.solver));
  else assert_ok(s.context, gmg_solver_create(s.context, p, params, &s.solver));
  return s;
}

/* Calls with copies of the arrays on the device. Afterwards they are copied back, so that elements that the call did not write stay
   unchanged. */
gmg_status solve_in(session *s, const void *f, void *u, gmg_report *report)
{
  const size_t bytes = bytes_of_u(&s->problem);
  if (!on_device) return gmg_solve(s->solver, f, u, report);
  void *const F = new_copy_in(1, f, bytes_of_f(&s->problem)), *const U = new_copy_in(1, u, bytes);
  const gmg_status status = gmg_solve(s->solver, F, U, report);
  copy_in(1, u, U, bytes);
  release_in(1, F), release_in(1, U);
  return status;
}

gmg_status precondition_in(session *s, const void *r, void *z)
{
  const size_t bytes = bytes_of_u(&s->problem);
  if (!on_device) return gmg_precondition(s->solver, r, z);
  void *const R = new_copy_in(1, r, bytes_of_f(&s->problem)), *const Z = new_copy_in(1, z, bytes);
  const gmg_status status = gmg_precondition(s->solver, R, Z);
  copy_in(1, z, Z, bytes);
  release_in(1, R), release_in(1, Z);
  return status;
}

gmg_status residual_in(session *s, const void *f, const void *u, void *r)
{
  const size_t bytes = bytes_of_f(&s->problem);
  if (!on_device) return gmg_residual(s->solver, f, u, r);
  void *const F = new_copy_in(1, f, bytes), *const U = new_copy_in(1, u, bytes_of_u(&s->problem)), *const R = new_copy_in(1, r, bytes);
  const gmg_status status = gmg_residual(s->solver, F, U, R);
  copy_in(1, r, R, bytes);
  release_in(1, F), release_in(1, U), release_in(1, R);
  return status;
}

gmg_status set_values_in(session *s, int axis, int side, const void *g)
{
  const gmg_problem *p = &s->problem;
  if (!on_device) return gmg_set_boundary_values(s->solver, axis, side, g);
  void *const there = new_copy_in(1, g, unknowns(p) / p->n[axis] * bytes_of_real(p));
  const gmg_status status = gmg_set_boundary_values(s->solver, axis, side, there);
  release_in(1, there);
  return status;
}

gmg_status flux_in(session *s, const void *u, void *flux[], void *gradient[])
{
  const gmg_problem *p = &s->problem;
  if (!on_device) return gmg_flux(s->solver, u, flux, gradient);
  void *const values = new_copy_in(1, u, bytes_of_u(p)), *there[2][3] = {{NULL}};
  for (int a = 0; a < p->dim; a++)
    for (int k = 0; k < 2; k++) there[k][a] = alloc_in(1, faces_of(p, a) * bytes_of_real(p));
  const gmg_status status = gmg_flux(s->solver, values, there[0], there[1]);
  release_in(1, values);
  for (int a = 0; a < p->dim; a++)
    for (int k = 0; k < 2; k++) {
      copy_in(1, k ? gradient[a] : flux[a], there[k][a], faces_of(p, a) * bytes_of_real(p));
      release_in(1, there[k][a]);
    }
  return status;
}

void end_solver(session *s)
{
  gmg_solver_destroy(s->solver);
  gmg_context_destroy(s->context);
}

void update_as_new(session *s, const gmg_problem *p, const gmg_params *params, const double *f, double *u, gmg_report *report)
{
  const size_t n = unknowns(p);
  double *v = field(n, 0);
  memset(u, 0, n * sizeof *u);
  assert_ok(s->context, update_in(s, p));
  assert_ok(s->context, solve_in(s, f, u, report));
  session fresh = begin_solver(p, params, 2);
  assert_ok(fresh.context, solve_in(&fresh, f, v, NULL));
  end_solver(&fresh);
  assert_memory_equal(u, v, n * sizeof *u);
  free(v);
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

int has_functions(const gmg_smoother *smoother, gmg_type type)
{
  return smoother->ops[on_device ? GMG_BACKEND_CUDA : GMG_BACKEND_HOST][type] != NULL;
}

int is_asynchronous(const gmg_params *params)
{
  gmg_params plain = *params;
  plain.deterministic = 0;
  if (!params->smoother) return 1; /* async, unless gmg chooses another */
  return params->smoother->traits && !(params->smoother->traits(&plain, 1) & GMG_SMOOTHER_DETERMINISTIC);
}

/* Whether the device relaxes values across a seam, or images beyond a wall, in an order of its own. */
static int has_own_order(const gmg_problem *p)
{
  int own = 0;
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) {
      const gmg_bc wall = p->bc[a][side];
      const int mirrors = p->centering == GMG_VERTEX && (wall == GMG_NEUMANN || wall == GMG_ROBIN);
      own |= mirrors || (wall == GMG_PERIODIC && p->n[a] % 2);
    }
  return own && p->dim == 3;
}

double measured_factor(const gmg_problem *p, const gmg_params *params, int threads, int cycles)
{
  const double factor = factor_here(p, params, threads, cycles);
  const int same_arithmetic = !is_asynchronous(params) || (params->deterministic && params->async.block[0]);
  if (!on_device || !same_arithmetic) return factor;
  on_device = 0;
  const double on_host = factor_here(p, params, 0, cycles);
  on_device = 1;
  if (is_asynchronous(params) && has_own_order(p) ? !(factor - on_host <= OWN_ORDER_FACTOR) : !(fabs(factor - on_host) <= SAME_FACTOR))
    fail_msg("%s, %dD, %zu x %zu x %zu: factor %.4f on the device, %.4f on the host", params->smoother->name, p->dim, p->n[0],
             p->n[1], p->n[2], factor, on_host);
  return factor;
}

gmg_report solve_random(const char *name, const gmg_problem *p, const gmg_params *params, uint64_t seed)
{
  const size_t n = unknowns(p);
  double *f = field(n, seed), *u = field(n, 0);
  gmg_report r;
  session s = begin_solver(p, params, 2);
  const gmg_status status = solve_in(&s, f, u, &r);
  if (status != GMG_OK) fail_msg("%s: %s: %s", name, gmg_status_string(status), gmg_context_error(s.context));
  end_solver(&s);
  free(f), free(u);
  return r;
}
