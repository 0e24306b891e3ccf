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

/* --- a few of the cases ---------------------------------------------------------------------------------------------- */

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

gmg_status flux_in(session *s, const void *u, void *flux[], void *gradient[])
{
  if (!on_device) return gmg_flux(s->solver, u, flux, gradient);
  const gmg_exec *e = &s->solver->exec;
  const gmg_operator *A = &s->solver->top->A;
  void *const values = copy_there(e, u, A->cells * e->real_size), *there[2][3] = {{NULL}};
  for (int a = 0; a < A->dim; a++)
    for (int k = 0; k < 2; k++) there[k][a] = e->memory->alloc(e->context, gmg_face_count(A, a) * e->real_size);
  const gmg_status status = gmg_flux(s->solver, values, there[0], there[1]);
  e->memory->release(e->context, values);
  for (int a = 0; a < A->dim; a++)
    for (int k = 0; k < 2; k++) {
      e->memory->download(e->context, k ? gradient[a] : flux[a], there[k][a], gmg_face_count(A, a) * e->real_size);
      e->memory->release(e->context, there[k][a]);
    }
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
