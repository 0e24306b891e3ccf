/* CUDA against the host, which is the oracle: every operation on every level, every smoother, cycles and solves. Skipped, with
   the reason, where the library is built without CUDA or no device is there. */
#include "gmg_cuda.h"
#include "media.h"

#include "mg/solver.h"

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>
#endif
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 }; /* to CTest */

/* The same solver on both. */
typedef struct {
  gmg_context *context[2];
  gmg_solver *solver[2];
} both;
enum { HOST, DEVICE };

static both begin_both(const gmg_problem *p, const gmg_params *q, const char *name)
{
  both b;
  gmg_problem on_device = *p;
  size_t N = unknowns(p), real = p->type == GMG_F64 ? sizeof(double) : sizeof(float);
  assert_int_equal(gmg_context_create_host(2, &b.context[HOST]), GMG_OK);
  assert_int_equal(gmg_context_create_cuda(0, NULL, &b.context[DEVICE]), GMG_OK);
  const gmg_exec e = gmg_exec_make(b.context[DEVICE], p->type, 0);
  const void **const arrays[] = {&on_device.beta, &on_device.sigma, &on_device.beta_face[0], &on_device.beta_face[1],
                                 &on_device.beta_face[2]};
  void *copies[5] = {NULL};
  for (int i = 0; i < 5; i++) {
    if (!*arrays[i]) continue;
    const size_t bytes = (i < 2 ? N : N / p->n[i - 2] * (p->n[i - 2] + 1)) * real;
    copies[i] = e.memory->alloc(e.context, bytes);
    assert_non_null(copies[i]);
    e.memory->upload(e.context, copies[i], *arrays[i], bytes);
    *arrays[i] = copies[i];
  }
  for (int i = 0; i < 2; i++) {
    const gmg_status status = gmg_solver_create(b.context[i], i ? &on_device : p, q, &b.solver[i]);
    if (status != GMG_OK) fail_msg("%s on the %s: %s", name, i ? "device" : "host", gmg_context_error(b.context[i]));
  }
  for (int i = 0; i < 5; i++)
    if (copies[i]) e.memory->release(e.context, copies[i]);
  return b;
}

static void end_both(both *b)
{
  for (int i = 0; i < 2; i++) {
    assert_int_equal(b->solver[i]->exec.memory->health(b->context[i]), GMG_OK);
    gmg_solver_destroy(b->solver[i]);
    gmg_context_destroy(b->context[i]);
  }
}

/* A field in both memories, from doubles. */
typedef struct {
  void *at[2];
  size_t n;
  gmg_exec exec[2];
} twin;

static twin begin_twin(const gmg_exec *host, const gmg_exec *device, size_t n, uint64_t seed)
{
  twin t = {.n = n, .exec = {*host, *device}};
  double *values = field(n, seed);
  for (int i = 0; i < 2; i++) {
    t.at[i] = t.exec[i].memory->alloc(t.exec[i].context, n * t.exec[i].real_size);
    assert_non_null(t.at[i]);
    (void)gmg_exec_write_reals(&t.exec[i], t.at[i], n, values);
  }
  free(values);
  return t;
}

static void end_twin(twin *t)
{
  for (int i = 0; i < 2; i++) t->exec[i].memory->release(t->exec[i].context, t->at[i]);
}

static double epsilon_of(const gmg_exec *e) { return gmg_type_traits_of(e->type)->epsilon; }

/* Largest difference over the largest value, in units of the last place; ends both arrays' lives on the host. */
static double ulps(const gmg_exec *host, const gmg_exec *device, const void *a, const void *b, size_t n)
{
  double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y), largest = 0, most = 0;
  gmg_exec_read_reals(host, a, n, x);
  gmg_exec_read_reals(device, b, n, y);
  for (size_t i = 0; i < n; i++) {
    largest = fmax(largest, fabs(x[i]));
    if (!(fabs(x[i] - y[i]) <= most)) most = fabs(x[i] - y[i]); /* NaN too */
  }
  free(x), free(y);
  return most == 0 ? 0 : most / largest / epsilon_of(host);
}

static void same(const char *name, const char *what, const gmg_exec *host, const gmg_exec *device, const void *a, const void *b,
                 size_t n, double limit)
{
  const double u = ulps(host, device, a, b, n);
  if (!(u <= limit)) fail_msg("%s, %s: host and device differ by %g units in the last place, limit %g", name, what, u, limit);
}

static void same_twin(const char *name, const char *what, const twin *t, double limit)
{
  same(name, what, &t->exec[HOST], &t->exec[DEVICE], t->at[HOST], t->at[DEVICE], t->n, limit);
}

static void same_number(const char *name, const char *what, const gmg_exec *e, double a, double b, double limit)
{
  if (!(fabs(a - b) <= limit * epsilon_of(e) * fabs(a)))
    fail_msg("%s, %s: host %.17g, device %.17g", name, what, a, b);
}

/* --- operations ------------------------------------------------------------------------------------------------------ */

#define ON_BOTH(i) for (int i = 0; i < 2; i++)

static void vectors(const char *name, const gmg_exec *h, const gmg_exec *d, size_t n)
{
  twin x = begin_twin(h, d, n, 1), y = begin_twin(h, d, n, 2), r = begin_twin(h, d, n, 3), slim = begin_twin(h, d, n, 4);
  double norm[2], stepped[2];
  gmg_range range[2];
  ON_BOTH(i) {
    const gmg_exec *e = i ? d : h;
    const gmg_vector_ops *v = e->vector;
    norm[i] = v->norm2(e, n, x.at[i]);
    range[i] = v->range(e, n, x.at[i]);
    v->axpy(e, n, 0.3, x.at[i], y.at[i]);
    v->xpay(e, n, y.at[i], -1.7, r.at[i]);
    v->add(e, n, 0.25, r.at[i]);
    stepped[i] = v->step(e, n, 0.7, x.at[i], y.at[i], r.at[i], x.at[i], 3, NULL);
    v->narrow(e, n, 2, y.at[i], slim.at[i]);
    v->widen(e, n, 0.5, slim.at[i], y.at[i]);
  }
  same_number(name, "norm2", h, norm[0], norm[1], 64);
  same_number(name, "step", h, stepped[0], stepped[1], 64);
  same_number(name, "least", h, range[0].least, range[1].least, 0);
  same_number(name, "most", h, range[0].most, range[1].most, 0);
  assert_near(range[0].mean, range[1].mean, 1e-14);
  same_twin(name, "axpy, narrow, widen", &y, 8 * FLT_EPSILON / epsilon_of(h));
  same_twin(name, "xpay and add", &r, 8);
  same_twin(name, "step's residual", &x, 8);
  ON_BOTH(i) {
    const gmg_exec *e = i ? d : h;
    const double nan = NAN;
    e->vector->fill(e, n, 2.5, r.at[i]);
    e->vector->copy(e, n, r.at[i], y.at[i]);
    e->vector->fill(e, n, 0, r.at[i]);
    (void)gmg_exec_write_reals(e, (char *)x.at[i] + n / 2 * e->real_size, 1, &nan);
    assert_true(isnan(e->vector->range(e, n, x.at[i]).most));
    assert_true(isnan(e->vector->norm2(e, n, x.at[i])));
  }
  same_twin(name, "fill", &r, 0);
  same_twin(name, "copy", &y, 0);
  end_twin(&x), end_twin(&y), end_twin(&r), end_twin(&slim);
}

/* What one level's operator does. */
static void operations(const char *name, const both *b, int l)
{
  gmg_solver *const *s = b->solver;
  gmg_level *L[2] = {&s[0]->level[l], &s[1]->level[l]};
  const gmg_exec *e[2] = {s[0]->levels_exec, s[1]->levels_exec};
  const size_t n = L[0]->A.cells;
  twin u = begin_twin(e[0], e[1], n, 11), f = begin_twin(e[0], e[1], n, 12);
  twin r = begin_twin(e[0], e[1], n, 0), q = begin_twin(e[0], e[1], n, 0);
  double norm[2], f_norm[2], magnitude[2], dot[2], mean[2], corrected[2];
  gmg_pair pair[2];
  for (int a = 0; a < 3; a++)
    if (L[0]->A.face[a])
      same(name, "coefficients on faces", e[0], e[1], L[0]->A.face[a], L[1]->A.face[a], gmg_face_count(&L[0]->A, a), 64);
  if (L[0]->A.sigma) same(name, "sigma", e[0], e[1], L[0]->A.sigma, L[1]->A.sigma, n, 64);
  ON_BOTH(i) {
    const gmg_stencil_ops *S = gmg_stencil_of(e[i]);
    S->residual(e[i], &L[i]->A, f.at[i], u.at[i], r.at[i]);
    norm[i] = S->residual_norm(e[i], &L[i]->A, f.at[i], u.at[i], &f_norm[i]);
    magnitude[i] = S->magnitude(e[i], &L[i]->A, u.at[i]);
    dot[i] = S->dot(e[i], &L[i]->A, u.at[i], u.at[i]);
    mean[i] = S->dot(e[i], &L[i]->A, f.at[i], NULL) / L[i]->volume;
    S->apply(e[i], &L[i]->A, u.at[i], q.at[i]);
  }
  const double A = 64; /* a few roundings of terms of that size */
  same_twin(name, "residual", &r, A), same_twin(name, "operator", &q, A);
  same_number(name, "residual norm", e[0], norm[0], norm[1], A), same_number(name, "norm of f", e[0], f_norm[0], f_norm[1], A);
  same_number(name, "magnitude", e[0], magnitude[0], magnitude[1], A), same_number(name, "inner product", e[0], dot[0], dot[1], A);
  assert_near(mean[0], mean[1], A * epsilon_of(e[0]));
  ON_BOTH(i) {
    const gmg_stencil_ops *S = gmg_stencil_of(e[i]);
    S->over_diagonal(e[i], &L[i]->A, f.at[i], r.at[i]);
    pair[i] = S->direct_apply(e[i], &L[i]->A, (gmg_correction){.z = f.at[i], .scale = 0.5}, 0.25, u.at[i], f.at[i], q.at[i]);
  }
  same_twin(name, "over the diagonal", &r, A), same_twin(name, "direction", &u, A), same_twin(name, "its image", &q, A);
  same_number(name, "<p, A p>", e[0], pair[0].first, pair[1].first, A);
  same_number(name, "<p, r>", e[0], pair[0].second, pair[1].second, A);
  ON_BOTH(i) {
    const gmg_stencil_ops *S = gmg_stencil_of(e[i]);
    corrected[i] = S->correct_residual(e[i], &L[i]->A, (gmg_correction){.z = r.at[i], .scale = -1}, f.at[i], u.at[i], 0.125, q.at[i]);
  }
  same_twin(name, "correction", &u, A), same_number(name, "norm after it", e[0], corrected[0], corrected[1], A);
  end_twin(&u), end_twin(&f), end_twin(&r), end_twin(&q);
}

static void transfers(const char *name, const both *b, int l)
{
  gmg_solver *const *s = b->solver;
  gmg_level *L[2] = {&s[0]->level[l], &s[1]->level[l]};
  const gmg_exec *e[2] = {s[0]->levels_exec, s[1]->levels_exec};
  const size_t n = L[0]->A.cells, m = s[0]->level[l + 1].A.cells;
  twin u = begin_twin(e[0], e[1], n, 21), f = begin_twin(e[0], e[1], n, 22), r = begin_twin(e[0], e[1], n, 0);
  twin coarse = begin_twin(e[0], e[1], m, 23), fine = begin_twin(e[0], e[1], n, 24);
  ON_BOTH(i) {
    const gmg_stencil_ops *S = gmg_stencil_of(e[i]);
    if (L[i]->by_faces) S->prolong_faces(e[i], &L[i]->A, L[i]->prolong, coarse.at[i], fine.at[i]);
    else S->tensor(e[i], L[i]->prolong, coarse.at[i], fine.at[i], 1);
    S->restrict_residual(e[i], &L[i]->A, L[i]->restrict_, f.at[i], u.at[i], r.at[i], coarse.at[i]);
  }
  /* the host takes weights that nearly repeat for repeating: 1e-12 of them (map.c) */
  same_twin(name, "prolongation", &fine, 1024), same_twin(name, "restriction", &coarse, 1024);
  end_twin(&u), end_twin(&f), end_twin(&r), end_twin(&coarse), end_twin(&fine);
}

static void boundaries(const char *name, const both *b)
{
  gmg_solver *const *s = b->solver;
  gmg_level *L[2] = {s[0]->top, s[1]->top};
  const gmg_exec *e[2] = {&s[0]->exec, &s[1]->exec};
  const gmg_operator *A = &L[0]->A;
  const size_t padded = (A->n[0] + 2) * (A->n[1] + 2) * (A->n[2] + 2);
  twin u = begin_twin(e[0], e[1], A->cells, 31), p = begin_twin(e[0], e[1], padded, 0);
  for (int a = 0; a < A->dim; a++) {
    const size_t faces = gmg_face_count(A, a);
    twin g = begin_twin(e[0], e[1], A->cells / A->n[a], 40 + (uint64_t)a);
    twin flux = begin_twin(e[0], e[1], faces, 0), slope = begin_twin(e[0], e[1], faces, 0);
    for (int side = 0; side < 2; side++)
      ON_BOTH(i) if (L[i]->faces.g[a][side]) assert_ok(b->context[i], gmg_set_boundary_values(s[i], a, side, g.at[i]));
    ON_BOTH(i) gmg_stencil_of(e[i])->flux(e[i], &L[i]->A, &L[i]->faces, a, u.at[i], flux.at[i], slope.at[i]);
    same_twin(name, "flux", &flux, 64), same_twin(name, "gradient", &slope, 64);
    end_twin(&g), end_twin(&flux), end_twin(&slope);
  }
  ON_BOTH(i) gmg_stencil_of(e[i])->pad(e[i], &L[i]->A, &L[i]->faces, u.at[i], p.at[i]);
  ON_BOTH(i) gmg_stencil_of(e[i])->fold(e[i], &L[i]->A, &L[i]->faces, u.at[i]);
  same_twin(name, "ghosts", &p, 64), same_twin(name, "boundary values", &u, 64);
  end_twin(&u), end_twin(&p);
}

/* --- smoothers and solves -------------------------------------------------------------------------------------------- */

static void smoothers(const char *name, const gmg_problem *p)
{
  static const char *const names[] = {"jacobi", "gauss_seidel", "red_black", "chebyshev", "async", "async"};
  for (int k = 0; k < 6; k++) {
    gmg_params q = gmg_params_default();
    q.smoother = gmg_smoother_by_name(names[k]);
    q.deterministic = 1, q.precision = GMG_PRECISION_SAME;
    if (k == 5) q.local = GMG_LOCAL_JACOBI, q.local_sweeps = 3, q.omega = 0.7;
    if (names[k][0] == 'a') q.block[0] = 16, q.block[1] = 8, q.block[2] = 4; /* the same on both: rates depend on it */
    both b = begin_both(p, &q, name);
    for (int l = 0; l + 1 < b.solver[0]->levels && l < 2; l++)
      for (int leg = 0; leg < 3; leg++) {
        gmg_level *L[2] = {&b.solver[0]->level[l], &b.solver[1]->level[l]};
        const gmg_exec *e[2] = {b.solver[0]->levels_exec, b.solver[1]->levels_exec};
        const gmg_smoother_ops *ops[2] = {b.solver[0]->smoother, b.solver[1]->smoother};
        twin u = begin_twin(e[0], e[1], L[0]->A.cells, 51), f = begin_twin(e[0], e[1], L[0]->A.cells, 52);
        ON_BOTH(i) {
          if (leg == 0 && ops[i]->sweep_from_zero) ops[i]->sweep_from_zero(&L[i]->view, L[i]->smoother, f.at[i], u.at[i], 2, GMG_LEG_DOWN);
          else if (leg == 0) {
            e[i]->vector->fill(e[i], u.n, 0, u.at[i]);
            ops[i]->sweep(&L[i]->view, L[i]->smoother, f.at[i], u.at[i], 2, GMG_LEG_DOWN);
          } else
            ops[i]->sweep(&L[i]->view, L[i]->smoother, f.at[i], u.at[i], 2, leg == 1 ? GMG_LEG_UP : GMG_LEG_UP_REVERSED);
        }
        same_twin(name, names[k], &u, 1024);
        end_twin(&u), end_twin(&f);
      }
    end_both(&b);
  }
}

/* Solves: as many cycles, the same solution. */
static void solves(const char *name, const gmg_problem *p, gmg_params q, int more)
{
  both b = begin_both(p, &q, name);
  const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
  gmg_report r[2];
  twin f = begin_twin(e[0], e[1], unknowns(p), 61), u = begin_twin(e[0], e[1], unknowns(p), 0);
  ON_BOTH(i) {
    const gmg_status status = gmg_solve(b.solver[i], f.at[i], u.at[i], &r[i]);
    if (status > GMG_DIVERGED) fail_msg("%s, solve on the %s: %s", name, i ? "device" : "host", gmg_context_error(b.context[i]));
  }
  print_message("%-34s host %2d cycles, %s; device %2d, %s\n", name, r[0].cycles, gmg_status_string(r[0].status), r[1].cycles,
                gmg_status_string(r[1].status));
  assert_int_equal(r[0].status, r[1].status);
  assert_true(abs(r[0].cycles - r[1].cycles) <= more);
  const double difference = ulps(e[0], e[1], u.at[0], u.at[1], u.n) * epsilon_of(e[0]);
  if (r[0].status == GMG_OK) assert_below(difference, p->type == GMG_F64 ? 1e-5 : 1e-2);
  ON_BOTH(i) { /* a cycle as a preconditioner */
    e[i]->vector->fill(e[i], u.n, NAN, u.at[i]);
    assert_ok(b.context[i], gmg_precondition(b.solver[i], f.at[i], u.at[i]));
    assert_true(isfinite(e[i]->vector->norm2(e[i], u.n, u.at[i])));
  }
  end_twin(&f), end_twin(&u);
  end_both(&b);
}

typedef struct {
  const char *name;
  shape shape;
} plain_case;

static const plain_case plain[] = {
    {"1D cells", {1, {1000, 1, 1}, GMG_CELL, "dn"}},           {"1D vertices, periodic", {1, {65, 1, 1}, GMG_VERTEX, "pp"}},
    {"2D cells, Robin", {2, {67, 33, 1}, GMG_CELL, "drnd"}},   {"2D vertices, odd periodic", {2, {33, 31, 1}, GMG_VERTEX, "pppp"}},
    {"3D cells", {3, {32, 32, 32}, GMG_CELL, "dddddd"}},       {"3D vertices", {3, {31, 17, 20}, GMG_VERTEX, "ndrdpp"}},
    {"3D odd periodic, singular", {3, {25, 15, 17}, GMG_CELL, "pppppp"}}, {"3D thin box", {3, {40, 40, 5}, GMG_CELL, "ddddnn"}},
    {"one unknown", {3, {1, 1, 1}, GMG_CELL, "dddddd"}},       {"3D a prime", {3, {37, 3, 2}, GMG_VERTEX, "ddnnpp"}}};
enum { PLAIN = sizeof plain / sizeof *plain };

static void everything(const char *name, const gmg_problem *p)
{
  gmg_params q = gmg_params_default();
  q.precision = GMG_PRECISION_SAME;
  both b = begin_both(p, &q, name);
  vectors(name, &b.solver[0]->exec, &b.solver[1]->exec, unknowns(p));
  for (int l = 0; l < b.solver[0]->levels; l++) operations(name, &b, l);
  for (int l = 0; l + 1 < b.solver[0]->levels; l++) transfers(name, &b, l);
  boundaries(name, &b);
  end_both(&b);
  q.symmetric = 1, q.smoother = gmg_smoother_by_name("red_black"); /* other transfers */
  b = begin_both(p, &q, name);
  for (int l = 0; l + 1 < b.solver[0]->levels; l++) transfers(name, &b, l);
  end_both(&b);
}

static void operations_agree(void **state)
{
  (void)state;
  for (int type = 0; type < 2; type++)
    for (int i = 0; i < PLAIN; i++) {
      gmg_problem p = shaped_problem(&plain[i].shape);
      p.type = (gmg_type)type;
      everything(plain[i].name, &p);
    }
}

/* Media are in double. */
static void operations_agree_in_media(void **state)
{
  (void)state;
  for (int dim = 1; dim <= 3; dim++)
    for (int centering = 0; centering < 2; centering++) {
      const size_t n = dim == 3 ? 21 : 64;
      medium m[] = {ball(dim, n, 1e4, (gmg_centering)centering), wavy(dim, n, 0.9, (gmg_centering)centering),
                    stretched(dim, n, 5, (gmg_centering)centering), absorbing(dim, n, 1e4, (gmg_centering)centering)};
      static const char *const names[] = {"ball", "wavy", "stretched", "absorbing"};
      for (int i = 0; i < 4; i++) {
        if (i == 0 && centering == 0) m[i].p.bc[0][0] = GMG_ROBIN, m[i].p.robin[0][0][0] = 2, m[i].p.robin[0][0][1] = 1;
        if (i == 1) m[i].p.bc[0][0] = m[i].p.bc[0][1] = GMG_PERIODIC;
        everything(names[i], &m[i].p);
        free_medium(&m[i]);
      }
    }
}

static void smoothers_agree(void **state)
{
  (void)state;
  for (int i = 0; i < PLAIN; i++) {
    gmg_problem p = shaped_problem(&plain[i].shape);
    smoothers(plain[i].name, &p);
  }
  medium m[] = {ball(3, 20, 1e2, GMG_CELL), absorbing(2, 40, 1e4, GMG_CELL), stretched(3, 18, 4, GMG_VERTEX)};
  for (int i = 0; i < 3; i++) {
    smoothers("medium", &m[i].p);
    free_medium(&m[i]);
  }
}

static void solves_agree(void **state)
{
  static const char *const names[] = {"jacobi", "red_black", "chebyshev", "async"};
  (void)state;
  for (int i = 0; i < PLAIN; i++)
    for (int k = 0; k < 4; k++) {
      gmg_problem p = shaped_problem(&plain[i].shape);
      gmg_params q = gmg_params_default();
      q.smoother = gmg_smoother_by_name(names[k]);
      p.type = (gmg_type)((i + k) % 2);
      q.deterministic = 1;
      solves(plain[i].name, &p, q, k == 3 ? 2 : 1); /* async has other blocks on the host */
    }
  for (int k = 0; k < 3; k++) { /* F cycles, full multigrid, CG, Cholesky */
    const gmg_problem p = make_problem(3, 48, 40, 36, GMG_CELL, "ddnnpp");
    gmg_params q = gmg_params_default();
    if (k == 0) q.cycle = GMG_CYCLE_F, q.coarse = GMG_COARSE_CHOLESKY;
    if (k == 1) q.fmg = 1;
    if (k == 2) q.accel = GMG_ACCEL_CG, q.smoother = gmg_smoother_by_name("red_black");
    solves(k == 0 ? "F, Cholesky" : k == 1 ? "full multigrid" : "CG", &p, q, 1);
  }
}

static void hard_solves_agree(void **state)
{
  (void)state;
  medium m[] = {ball(3, 48, 1e4, GMG_CELL), ball(3, 47, 1e-4, GMG_VERTEX), ball(3, 48, 1e6, GMG_CELL), stretched(3, 48, 10, GMG_CELL),
                absorbing(3, 48, 1e8, GMG_CELL), checkerboard(2, 64, 1e3, GMG_CELL)};
  static const char *const names[] = {"ball 1e4", "ball 1e-4, vertices", "ball 1e6", "stretch 10", "sigma 1e8", "checkerboard"};
  for (int i = 0; i < 6; i++) {
    gmg_params q = gmg_params_default();
    solves(names[i], &m[i].p, q, 3);
    q.precision = GMG_PRECISION_SAME;
    solves(names[i], &m[i].p, q, 3);
    free_medium(&m[i]);
  }
}

/* The asynchronous smoother many times over: a band, not a number. */
static void asynchronous_band(void **state)
{
  (void)state;
  for (int dim = 1; dim <= 3; dim++)
    for (int large = 0; large < 2; large++) {
      const size_t n = dim == 1 ? (large ? 1000000 : 4000) : dim == 2 ? (large ? 1024 : 100) : (large ? 128 : 40);
      const gmg_problem p = make_problem(dim, n, dim > 1 ? n : 1, dim > 2 ? n : 1, GMG_CELL, "dddddd");
      gmg_params q = gmg_params_default();
      q.precision = GMG_PRECISION_SAME, q.rtol = 0, q.atol = 1e-300, q.max_cycles = 5;
      both b;
      assert_int_equal(gmg_context_create_cuda(0, NULL, &b.context[DEVICE]), GMG_OK);
      assert_ok(b.context[DEVICE], gmg_solver_create(b.context[DEVICE], &p, &q, &b.solver[DEVICE]));
      const gmg_exec *e = &b.solver[DEVICE]->exec;
      twin u = begin_twin(e, e, unknowns(&p), 71), f = begin_twin(e, e, unknowns(&p), 0);
      double factor[100];
      for (int run = 0; run < 100; run++) { /* f = 0: the error itself */
        gmg_report r;
        e->vector->copy(e, u.n, u.at[0], u.at[1]);
        (void)gmg_solve(b.solver[DEVICE], f.at[0], u.at[1], &r);
        double v = pow(r.residual / r.residual0, 1.0 / r.cycles);
        int at = run;
        for (; at > 0 && factor[at - 1] > v; at--) factor[at] = factor[at - 1];
        factor[at] = v;
      }
      print_message("async, %dD, %zu an axis: factor %.4f, %.4f, %.4f (least, median, most of 100)\n", dim, n, factor[0], factor[50],
                    factor[99]);
      assert_below(factor[99], 0.12);
      end_twin(&u), end_twin(&f);
      gmg_solver_destroy(b.solver[DEVICE]);
      gmg_context_destroy(b.context[DEVICE]);
    }
}

/* Bad devices, blocks and coefficients get a status and a text. */
static void refusals(void **state)
{
  gmg_context *c;
  gmg_solver *s;
  (void)state;
  assert_int_equal(gmg_context_create_cuda(-1, NULL, &c), GMG_ERR_ARGUMENT);
  assert_null(c);
  assert_int_equal(gmg_context_create_cuda(1000, NULL, &c), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_context_create_cuda(0, NULL, NULL), GMG_ERR_ARGUMENT);
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  const gmg_problem p = make_problem(3, 64, 64, 64, GMG_CELL, "dddddd");
  gmg_params q = gmg_params_default();
  q.block[0] = q.block[1] = q.block[2] = 64;
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(c), "params.block = 64 x 64 x 64"));
  q = gmg_params_default();
  q.local = GMG_LOCAL_GAUSS_SEIDEL;
  assert_int_equal(gmg_solver_create(c, &p, &q, &s), GMG_ERR_UNSUPPORTED);
  assert_non_null(strstr(gmg_context_error(c), "params.local"));
  const gmg_problem huge = make_problem(3, 8192, 8192, 8192, GMG_CELL, "dddddd");
  q = gmg_params_default();
  assert_int_equal(gmg_solver_create(c, &huge, &q, &s), GMG_ERR_MEMORY);
  assert_ok(c, gmg_solver_create(c, &p, &q, &s)); /* and a smaller one works */
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
}

/* NaN in f is found on both. */
static void nan_in_f(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(3, 32, 32, 32, GMG_CELL, "dddddd");
  const gmg_params q = gmg_params_default();
  both b = begin_both(&p, &q, "NaN in f");
  const gmg_exec *e[2] = {&b.solver[0]->exec, &b.solver[1]->exec};
  twin f = begin_twin(e[0], e[1], unknowns(&p), 81), u = begin_twin(e[0], e[1], unknowns(&p), 0);
  const double nan = NAN;
  gmg_status status[2];
  ON_BOTH(i) {
    (void)gmg_exec_write_reals(e[i], (char *)f.at[i] + 1000 * sizeof(double), 1, &nan);
    status[i] = gmg_solve(b.solver[i], f.at[i], u.at[i], NULL);
    print_message("NaN in f: %s: %s\n", gmg_status_string(status[i]), gmg_context_error(b.context[i]));
  }
  assert_int_equal(status[0], status[1]);
  assert_int_not_equal(status[1], GMG_OK);
  end_twin(&f), end_twin(&u);
  f = begin_twin(e[0], e[1], unknowns(&p), 82), u = begin_twin(e[0], e[1], unknowns(&p), 0);
  ON_BOTH(i) assert_ok(b.context[i], gmg_solve(b.solver[i], f.at[i], u.at[i], NULL)); /* still usable */
  end_twin(&f), end_twin(&u);
  end_both(&b);
}

#ifdef GMG_CUDA
/* Solvers and contexts leave no device memory behind. */
static void rounds(void **state)
{
  (void)state;
  const gmg_problem p = make_problem(2, 100, 60, 1, GMG_CELL, "ddnn");
  const gmg_params q = gmg_params_default();
  size_t before = 0, now = 0, all;
  for (int turn = 0; turn < 1000; turn++) {
    gmg_context *c;
    gmg_solver *s;
    void *f, *u;
    assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
    assert_ok(c, gmg_solver_create(c, &p, &q, &s));
    assert_int_equal(cudaMalloc(&f, unknowns(&p) * sizeof(double)), cudaSuccess);
    assert_int_equal(cudaMalloc(&u, unknowns(&p) * sizeof(double)), cudaSuccess);
    assert_int_equal(cudaMemset(f, 1, unknowns(&p) * sizeof(double)), cudaSuccess);
    assert_int_equal(cudaMemset(u, 0, unknowns(&p) * sizeof(double)), cudaSuccess);
    if (turn % 10 == 0) assert_true(gmg_solve(s, f, u, NULL) <= GMG_STAGNATED);
    cudaFree(f), cudaFree(u);
    gmg_solver_destroy(s);
    gmg_context_destroy(c);
    assert_int_equal(cudaMemGetInfo(&now, &all), cudaSuccess);
    if (turn == 20) before = now;
  }
  assert_true(before - now < (1 << 22) || now > before);
}

/* Two solvers on streams of their own, each used by its own thread: what each computes alone. */
typedef struct {
  unsigned long seed;
  double *u;
  int failed;
} work;

static void *solve_alone(void *argument)
{
  work *w = argument;
  const gmg_problem p = make_problem(3, 40, 40, 40, GMG_CELL, "dddddd");
  const size_t N = unknowns(&p);
  gmg_params q = gmg_params_default();
  gmg_context *c;
  gmg_solver *s;
  cudaStream_t stream;
  double *f = field(N, w->seed), *device_f, *device_u;
  q.deterministic = 1;
  w->failed = cudaSetDevice(0) || cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) ||
              cudaMalloc((void **)&device_f, N * sizeof *f) ||
              cudaMalloc((void **)&device_u, N * sizeof *f) || cudaMemcpy(device_f, f, N * sizeof *f, cudaMemcpyHostToDevice) ||
              gmg_context_create_cuda(0, stream, &c) || gmg_solver_create(c, &p, &q, &s);
  for (int turn = 0; turn < 20 && !w->failed; turn++) {
    w->failed |= cudaMemsetAsync(device_u, 0, N * sizeof *f, stream) || gmg_solve(s, device_f, device_u, NULL) != GMG_OK;
    w->failed |= cudaMemcpyAsync(w->u, device_u, N * sizeof *f, cudaMemcpyDeviceToHost, stream) || cudaStreamSynchronize(stream);
  }
  if (w->failed) return NULL;
  gmg_solver_destroy(s);
  gmg_context_destroy(c);
  cudaFree(device_f), cudaFree(device_u), cudaStreamDestroy(stream);
  free(f);
  return NULL;
}

static void two_streams(void **state)
{
  (void)state;
  enum { N = 40 * 40 * 40 };
  work alone[2], together[2];
  pthread_t thread[2];
  for (int i = 0; i < 2; i++) {
    alone[i] = (work){91 + (unsigned long)i, field(N, 0), 0}, together[i] = (work){91 + (unsigned long)i, field(N, 0), 0};
    solve_alone(&alone[i]);
    assert_false(alone[i].failed);
  }
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, solve_alone, &together[i]), 0);
  for (int i = 0; i < 2; i++) {
    pthread_join(thread[i], NULL);
    assert_false(together[i].failed);
    assert_memory_equal(alone[i].u, together[i].u, N * sizeof(double));
    free(alone[i].u), free(together[i].u);
  }
}
#endif

int main(void)
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
  const struct CMUnitTest tests[] = {cmocka_unit_test(operations_agree), cmocka_unit_test(operations_agree_in_media),
                                     cmocka_unit_test(smoothers_agree),  cmocka_unit_test(solves_agree),
                                     cmocka_unit_test(hard_solves_agree), cmocka_unit_test(asynchronous_band),
                                     cmocka_unit_test(refusals),
#ifdef GMG_CUDA
                                     cmocka_unit_test(rounds), cmocka_unit_test(two_streams),
#endif
                                     cmocka_unit_test(nan_in_f)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
