#include "util.h"

#include <math.h>
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

session begin_solver(const gmg_problem *p, const gmg_params *params, int threads)
{
  session s = {0};
  assert_int_equal(gmg_context_create_host(threads, &s.context), GMG_OK);
  assert_ok(s.context, gmg_solver_create(s.context, p, params, &s.solver));
  return s;
}

void end_solver(session *s)
{
  gmg_solver_destroy(s->solver);
  gmg_context_destroy(s->context);
}

double measured_factor(const gmg_problem *p, const gmg_params *params, int threads, int cycles)
{
  const size_t n = unknowns(p);
  double *f = calloc(n, sizeof *f), *u = calloc(n, sizeof *u);
  gmg_params q = *params;
  gmg_report r;
  q.rtol = 1e-300, q.max_cycles = cycles;
  fill_random(u, n, 1);
  session s = begin_solver(p, &q, threads);
  gmg_solve(s.solver, f, u, &r);
  end_solver(&s);
  free(f);
  free(u);
  return r.factor;
}

/* --- the reference ------------------------------------------------------------------------------------------------ */

static int on_wall(const gmg_problem *p, int a, int side)
{
  return p->centering == GMG_VERTEX && (p->bc[a][side] == GMG_NEUMANN || p->bc[a][side] == GMG_ROBIN);
}

double axis_position(const gmg_problem *p, int a, size_t i)
{
  if (p->centering == GMG_CELL) return ((double)i + 0.5) * p->h[a];
  return ((double)i + (p->bc[a][0] == GMG_DIRICHLET)) * p->h[a];
}

double axis_volume(const gmg_problem *p, int a, size_t i)
{
  double v = p->h[a];
  if (p->n[a] == 1 && on_wall(p, a, 0) && on_wall(p, a, 1)) return v; /* a slab of thickness h */
  if (i == 0 && on_wall(p, a, 0)) v /= 2;
  if (i == p->n[a] - 1 && on_wall(p, a, 1)) v /= 2;
  return v;
}

double cell_volume(const gmg_problem *p, size_t index)
{
  double v = 1;
  for (int a = 0; a < p->dim; a++) {
    v *= axis_volume(p, a, index % p->n[a]);
    index /= p->n[a];
  }
  return v;
}

/* Finite volumes: fluxes through the two faces of the control volume, divided by its length. */
row1d dense_row(const gmg_problem *p, int a, size_t i)
{
  const double h = p->h[a], v = axis_volume(p, a, i);
  row1d r = {0};
  for (int side = 0; side < 2; side++) {
    double *neighbour = side ? &r.above : &r.below;
    const double alpha = p->robin[a][side][0], beta = p->robin[a][side][1];
    if (i != (side ? p->n[a] - 1 : 0)) { /* flux (u - u_neighbour) / h */
      *neighbour = -1 / (h * v);
      r.diag += 1 / (h * v);
      continue;
    }
    switch (p->bc[a][side]) {
      case GMG_PERIODIC:
        *neighbour = p->n[a] > 1 ? -1 / (h * v) : 0;
        r.diag += p->n[a] > 1 ? 1 / (h * v) : 0;
        break;
      case GMG_DIRICHLET: { /* flux (u - g) / distance */
        const double distance = p->centering == GMG_CELL ? h / 2 : h;
        r.diag += 1 / (distance * v);
        r.source[side] = 1 / (distance * v);
        break;
      }
      case GMG_NEUMANN: /* flux -g */
        r.source[side] = 1 / v;
        break;
      case GMG_ROBIN: /* flux -(g - alpha w) / beta with the wall value w */
        if (p->centering == GMG_VERTEX) {
          r.diag += alpha / beta / v;
          r.source[side] = 1 / beta / v;
        } else { /* (w - u) / (h/2) = (g - alpha w) / beta, flux (u - w) / (h/2) */
          const double k = 2 / h, w_u = beta * k / (alpha + beta * k), w_g = 1 / (alpha + beta * k);
          r.diag += k * (1 - w_u) / v;
          r.source[side] = k * w_g / v;
        }
        break;
    }
  }
  return r;
}

double *dense_matrix(const gmg_problem *p)
{
  const size_t N = unknowns(p);
  double *A = calloc(N * N, sizeof *A);
  for (size_t c = 0; c < N; c++) {
    size_t stride = 1;
    A[c * N + c] += p->shift;
    for (int a = 0; a < p->dim; a++) {
      const size_t n = p->n[a], i = c / stride % n, base = c - i * stride;
      const row1d r = dense_row(p, a, i);
      A[c * N + c] += r.diag;
      A[c * N + base + (i > 0 ? i - 1 : n - 1) * stride] += r.below;
      A[c * N + base + (i < n - 1 ? i + 1 : 0) * stride] += r.above;
      stride *= n;
    }
  }
  return A;
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
