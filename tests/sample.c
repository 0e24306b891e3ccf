#include "sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t pick(uint64_t *random, size_t n)
{
  const size_t i = (size_t)((uniform(random) + 0.5) * (double)n);
  return i < n ? i : n - 1;
}

static int chance(uint64_t *random, size_t percent) { return pick(random, 100) < percent; }

double log_between(uint64_t *random, double low, double high) { return low * pow(high / low, uniform(random) + 0.5); }

void *typed(const gmg_problem *p, const double *x, size_t n)
{
  float *single = calloc(n, sizeof *single);
  double *copy = calloc(n, sizeof *copy);
  for (size_t i = 0; i < n; i++) single[i] = (float)x[i], copy[i] = x[i];
  free(p->type == GMG_F32 ? (void *)copy : (void *)single);
  return p->type == GMG_F32 ? (void *)single : (void *)copy;
}

double *untyped(const gmg_problem *p, const void *x, size_t n)
{
  double *y = calloc(n, sizeof *y);
  for (size_t i = 0; i < n; i++) y[i] = p->type == GMG_F32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
  return y;
}

/* Rounds values to the problem's type. */
static double *held(const gmg_problem *p, double *x, size_t n)
{
  for (size_t i = 0; i < n && p->type == GMG_F32; i++) x[i] = (double)(float)x[i];
  return x;
}

static void random_sizes(uint64_t *r, size_t most, gmg_problem *p)
{
  size_t left = most, order = pick(r, 3);
  for (int i = 0; i < p->dim; i++) {
    const int a = (int)((i + order) % (size_t)p->dim);
    const size_t cap = p->dim - i == 1 ? left : (size_t)pow((double)left, 0.7);
    p->n[a] = 1 + pick(r, cap < 40 ? cap : 40);
    left /= p->n[a];
  }
}

static void random_walls(uint64_t *r, gmg_problem *p)
{
  const size_t wish = pick(r, 10); /* otherwise singular problems would be rare */
  for (int a = 0; a < p->dim; a++) {
    const int periodic = wish == 0 || chance(r, 20);
    for (int side = 0; side < 2; side++) {
      p->bc[a][side] = periodic ? GMG_PERIODIC : wish == 1 ? GMG_NEUMANN : (gmg_bc)pick(r, 3);
      p->robin[a][side][0] = chance(r, 15) ? 0 : log_between(r, 0.1, 10);
      const int no_slope = chance(r, 15) && p->centering == GMG_CELL && p->robin[a][side][0] > 0;
      p->robin[a][side][1] = no_slope ? 0 : log_between(r, 0.1, 10);
    }
  }
}

/* Random values around 1, over `decades` decades. */
static void *random_coefficient(uint64_t *r, const gmg_problem *p, size_t n, double decades)
{
  double *x = calloc(n, sizeof *x);
  for (size_t i = 0; i < n; i++) x[i] = pow(10, decades * uniform(r));
  void *out = typed(p, x, n);
  free(x);
  return out;
}

static size_t face_values(const gmg_problem *p, int axis)
{
  size_t n = 1;
  for (int a = 0; a < p->dim; a++) n *= p->n[a] + (a == axis);
  return n;
}

static void *random_sigma(uint64_t *r, const gmg_problem *p)
{
  const size_t n = unknowns(p), kind = pick(r, 4); /* 0: zero everywhere */
  double *x = calloc(n, sizeof *x);
  const double size = log_between(r, 0.1, 1000);
  for (size_t i = 0; i < n && kind > 0; i++) x[i] = kind == 1 && chance(r, 80) ? 0 : size * (uniform(r) + 0.5);
  void *out = typed(p, x, n);
  free(x);
  return out;
}

/* Widths that change by up to a third from one to the next. */
static double *random_coord(uint64_t *r, const gmg_problem *p, int a)
{
  double *x = calloc(p->n[a] + 2, sizeof *x), width = p->h[a];
  x[0] = uniform(r);
  for (size_t i = 1; i < p->n[a] + 2; i++) {
    x[i] = x[i - 1] + width;
    width = fmin(fmax(width * (1 + 0.6 * uniform(r)), 0.4 * p->h[a]), 2.5 * p->h[a]);
  }
  return x;
}

/* Whether the axis has a single vertex, which is on both walls: a slab, without positions. */
static int slab(const gmg_problem *p, int a)
{
  return p->centering == GMG_VERTEX && p->n[a] == 1 && p->bc[a][0] != GMG_DIRICHLET && p->bc[a][1] != GMG_DIRICHLET &&
         p->bc[a][0] != GMG_PERIODIC;
}

static void random_coefficients(uint64_t *r, gmg_problem *p)
{
  static const struct {
    int beta, sigma, stretched; /* at least one */
  } kinds[] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0, 0, 1}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
  const size_t kind = pick(r, COUNT(kinds));
  if (kinds[kind].beta) {
    const int faces = chance(r, 50);
    const double decades = 2 * (uniform(r) + 0.5);
    if (!faces) p->beta = random_coefficient(r, p, unknowns(p), decades);
    for (int a = 0; a < p->dim && faces; a++) p->beta_face[a] = random_coefficient(r, p, face_values(p, a), decades);
  }
  if (kinds[kind].sigma) p->sigma = random_sigma(r, p);
  for (int a = 0; a < p->dim && kinds[kind].stretched; a++)
    if ((a == 0 || chance(r, 60)) && !slab(p, a)) p->coord[a] = random_coord(r, p, a);
}

static void random_problem(uint64_t *r, size_t most, int coefficients, gmg_problem *p)
{
  static const size_t one[3] = {1, 1, 1};
  *p = gmg_problem_default(1 + (int)pick(r, 3), one);
  p->centering = pick(r, 2) ? GMG_CELL : GMG_VERTEX;
  p->type = chance(r, 25) ? GMG_F32 : GMG_F64;
  random_sizes(r, most, p);
  random_walls(r, p);
  const double width = log_between(r, 0.02, 1); /* the mesh width, which single axes multiply by another factor below */
  for (int a = 0; a < p->dim; a++) p->h[a] = width * (chance(r, 50) ? 1 : log_between(r, 0.2, 5));
  if (chance(r, 50)) p->shift = log_between(r, 1e-3, 1e4);
  if (coefficients) random_coefficients(r, p);
}

static void random_async(uint64_t *r, gmg_params *q)
{
  q->async.local = (gmg_local_kind)(GMG_LOCAL_RED_BLACK + pick(r, 3));
  q->async.order = (gmg_block_order)(GMG_ORDER_NATURAL + pick(r, 3));
  q->async.local_sweeps = q->chebyshev_degree = 1 + (int)pick(r, 4);
  q->async.overlap = count_or_none((int)pick(r, 3));
  q->async.passes = 1 + (int)pick(r, 2);
  for (int a = 0; a < 3; a++) q->async.block[a] = pick(r, 2) ? 1 + pick(r, 12) : 0;
}

static void random_params(uint64_t *r, sample *s)
{
  gmg_params *q = &s->q;
  *q = params_for_cycles();
  q->smoother = gmg_smoother_by_name(gmg_smoother_name((int)pick(r, 6)));
  if (!has_functions(q->smoother, s->p.type)) q->smoother = gmg_smoother_by_name("async");
  q->line_axes = (int)pick(r, (size_t)1 << s->p.dim);
  q->cycle = (gmg_cycle_kind)(GMG_CYCLE_V + pick(r, 3));
  q->fmg = chance(r, 25) ? 1 + (int)pick(r, 2) : 0;
  q->pre = (int)pick(r, 3), q->post = (int)pick(r, 3);
  if (q->pre + q->post == 0) q->post = 1;
  q->pre = count_or_none(q->pre), q->post = count_or_none(q->post);
  q->omega = chance(r, 20) ? 0.6 + 0.25 * (uniform(r) + 0.5) : 0; /* with larger weights Jacobi hardly smooths */
  random_async(r, q);
  q->async.seed = (unsigned long)pick(r, 1000);
  q->deterministic = chance(r, 40);
  q->restriction = (gmg_restriction)pick(r, 3);
  q->coarse = (gmg_coarse_kind)(GMG_COARSE_CG + pick(r, 2));
  q->coarse_cells = chance(r, 30) ? 1 + pick(r, 100) : 0;
  q->max_levels = chance(r, 20) ? 1 + (int)pick(r, 4) : 0;
  q->check_every = chance(r, 20) ? 2 : 1;
  q->max_cycles = 1000;
  q->accel = (gmg_accel)(GMG_ACCEL_NONE + pick(r, 3));
  s->threads = 1 + (int)pick(r, 2);
  q->symmetric = chance(r, 20);
  if (!q->symmetric && q->accel != GMG_ACCEL_CG) return;
  q->post = q->pre = q->pre > 0 ? q->pre : 1; /* makes the cycle symmetric */
  if (q->cycle == GMG_CYCLE_F) q->cycle = GMG_CYCLE_V;
  if (q->restriction == GMG_RESTRICT_AVERAGE) q->restriction = GMG_RESTRICT_AUTO;
  q->async.overlap = GMG_NONE;
  q->deterministic = 1;
}

/* Every third separable problem is solved directly, or by a hierarchy that ends in the direct solver. */
static void random_direct(uint64_t *r, sample *s)
{
  const gmg_problem *p = &s->p;
  const int separable = p->dim == 1 || (!p->beta && !p->beta_face[0] && !p->sigma), chosen = chance(r, 33), whole = chance(r, 60);
  if (!separable || !chosen) return;
  s->q.coarse = GMG_COARSE_TENSOR;
  if (whole) s->q.direct = GMG_DIRECT_ALWAYS;
}

/* Every second problem that can have them gets black box coarse grids. */
static void random_coarsening(uint64_t *r, sample *s)
{
  gmg_params *q = &s->q;
  const char *name = q->smoother->name;
  const int takes = strcmp(name, "red_black") != 0 && strcmp(name, "lines") != 0;
  if (!takes || q->fmg > 0 || q->restriction == GMG_RESTRICT_AVERAGE || q->coarse == GMG_COARSE_TENSOR || !chance(r, 50)) return;
  q->coarsening = GMG_COARSENING_BLACK_BOX;
}

/* Makes the streams of neighbouring seeds independent (mixing function of Steele, Lea, Flood 2014). */
static uint64_t scrambled(uint64_t x)
{
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

sample make_sample(uint64_t seed, size_t most, int coefficients)
{
  uint64_t r = scrambled(seed);
  sample s = {.coefficients = coefficients};
  random_problem(&r, most, coefficients, &s.p);
  random_params(&r, &s);
  const size_t n = unknowns(&s.p);
  s.f = held(&s.p, field(n, seed + 1), n);
  for (int a = 0; a < s.p.dim; a++)
    for (int side = 0; side < 2; side++)
      if (s.p.bc[a][side] != GMG_PERIODIC && chance(&r, 50))
        s.g[a][side] = held(&s.p, field(n / s.p.n[a], seed + 2 + (uint64_t)(2 * a + side)), n / s.p.n[a]);
  random_direct(&r, &s);
  random_coarsening(&r, &s);
  return s;
}

void free_sample(sample *s)
{
  free((void *)s->p.beta), free((void *)s->p.sigma), free(s->f);
  for (int a = 0; a < 3; a++) {
    free((void *)s->p.coord[a]), free((void *)s->p.beta_face[a]);
    free(s->g[a][0]), free(s->g[a][1]);
  }
  *s = (sample){0};
}

int sample_is_singular(const sample *s)
{
  double held = s->p.shift;
  for (int a = 0; a < s->p.dim; a++)
    for (int side = 0; side < 2; side++) {
      held += s->p.bc[a][side] == GMG_DIRICHLET;
      if (s->p.bc[a][side] == GMG_ROBIN) held += s->p.robin[a][side][0];
    }
  double *sigma = s->p.sigma ? untyped(&s->p, s->p.sigma, unknowns(&s->p)) : NULL;
  for (size_t i = 0; sigma && i < unknowns(&s->p); i++) held += sigma[i];
  free(sigma);
  return held == 0;
}
