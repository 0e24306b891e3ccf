/* See exact.h. Everything is a product of tables along the axes, so no function is evaluated twice. */
#include "exact.h"
#include "ranks.h"

#include <math.h>
#include <stdlib.h>

static const double TAU = 6.283185307179586;

/* Function of one axis, s = x / L from 0 to 1; derivative 0, 1 or 2 with respect to s. */
static double along(int periodic, int axis, double s, int derivative)
{
  if (periodic) {
    const double phase = TAU * s + 0.4 + axis, factor = pow(TAU, derivative);
    return (derivative == 0 ? 1.5 : 0) + factor * sin(phase + derivative * TAU / 4);
  }
  const double growth = 0.7, wave = 2.5 + 0.2 * axis, phase = wave * s + 0.5 + 0.3 * axis;
  return pow(growth, derivative) * exp(growth * s) + pow(wave, derivative) * cos(phase + derivative * TAU / 4);
}

static int fill_axis(const gmg_problem *p, const demo_box *box, int a, demo_exact *e)
{
  const size_t n = box->n[a], first = box->first[a];
  const int periodic = p->bc[a][0] == GMG_PERIODIC;
  const double length = demo_length(p, a);
  e->value[a] = calloc(n, sizeof(double));
  e->second[a] = calloc(n, sizeof(double));
  e->volume[a] = calloc(n, sizeof(double));
  if (!e->value[a] || !e->second[a] || !e->volume[a]) return 0;
  for (size_t i = 0; i < n; i++) {
    const double s = demo_position(p, a, first + i) / length;
    e->value[a][i] = along(periodic, a, s, 0);
    e->second[a][i] = along(periodic, a, s, 2) / (length * length);
    e->volume[a][i] = demo_volume(p, a, first + i);
  }
  for (int side = 0; side < 2; side++) {
    e->wall[a][side] = along(periodic, a, side, 0);
    e->slope[a][side] = (side ? 1 : -1) * along(periodic, a, side, 1) / length;
  }
  return 1;
}

/* A missing axis has one unknown of value and volume 1. */
static int fill_missing(int a, demo_exact *e)
{
  e->value[a] = calloc(1, sizeof(double));
  e->second[a] = calloc(1, sizeof(double));
  e->volume[a] = calloc(1, sizeof(double));
  if (!e->value[a] || !e->second[a] || !e->volume[a]) return 0;
  *e->value[a] = *e->volume[a] = 1;
  return 1;
}

int demo_exact_create(const gmg_problem *p, const demo_box *box, demo_exact *e)
{
  int ok = 1;
  *e = (demo_exact){.n = {box->n[0], box->n[1], box->n[2]}};
  for (int a = 0; a < 3; a++) ok = ok && (a < p->dim ? fill_axis(p, box, a, e) : fill_missing(a, e));
  if (!ok) demo_exact_destroy(e);
  return ok;
}

void demo_exact_destroy(demo_exact *e)
{
  for (int a = 0; a < 3; a++) {
    free(e->value[a]);
    free(e->second[a]);
    free(e->volume[a]);
    e->value[a] = e->second[a] = e->volume[a] = NULL;
  }
}

void demo_exact_rhs(const gmg_problem *p, const demo_exact *e, void *f)
{
  size_t at = 0;
  for (size_t k = 0; k < e->n[2]; k++)
    for (size_t j = 0; j < e->n[1]; j++)
      for (size_t i = 0; i < e->n[0]; i++) {
        const double x = e->value[0][i], y = e->value[1][j], z = e->value[2][k];
        const double laplacian = e->second[0][i] * y * z + x * e->second[1][j] * z + x * y * e->second[2][k];
        demo_set(p->type, f, at++, p->shift * x * y * z - laplacian);
      }
}

void demo_exact_face(const gmg_problem *p, const demo_exact *e, int axis, int side, void *g)
{
  const double u = e->wall[axis][side], slope = e->slope[axis][side], *ab = p->robin[axis][side];
  const double normal[] = {[GMG_DIRICHLET] = u, [GMG_NEUMANN] = slope, [GMG_ROBIN] = ab[0] * u + ab[1] * slope};
  const int fast = axis == 0 ? 1 : 0, slow = axis == 2 ? 1 : 2;
  size_t at = 0;
  for (size_t s = 0; s < e->n[slow]; s++)
    for (size_t q = 0; q < e->n[fast]; q++)
      demo_set(p->type, g, at++, normal[p->bc[axis][side]] * e->value[fast][q] * e->value[slow][s]);
}

/* One pass over all unknowns: sums of V e and V e^2 with e = u - u* - offset, and the largest |e|. */
typedef struct sums {
  double volume, first, second, max;
} sums;

static sums sum_errors(const gmg_problem *p, const demo_exact *e, const void *u, double offset, void *error)
{
  sums s = {0, 0, 0, 0};
  size_t at = 0;
  for (size_t k = 0; k < e->n[2]; k++)
    for (size_t j = 0; j < e->n[1]; j++)
      for (size_t i = 0; i < e->n[0]; i++, at++) {
        const double volume = e->volume[0][i] * e->volume[1][j] * e->volume[2][k];
        const double d = demo_get(p->type, u, at) - e->value[0][i] * e->value[1][j] * e->value[2][k] - offset;
        s.volume += volume;
        s.first += volume * d;
        s.second += volume * d * d;
        if (!(fabs(d) <= s.max)) s.max = fabs(d); /* also if d is NaN */
        if (error) demo_set(p->type, error, at, d);
      }
  double all[3] = {s.volume, s.first, s.second};
  demo_ranks_sum(3, all);
  return (sums){all[0], all[1], all[2], demo_ranks_max(s.max)};
}

demo_errors demo_exact_errors(const gmg_problem *p, const demo_exact *e, const void *u, int centred, void *error)
{
  sums s = sum_errors(p, e, u, 0, error);
  if (centred) s = sum_errors(p, e, u, s.first / s.volume, error);
  return (demo_errors){sqrt(s.second / s.volume), s.max};
}
