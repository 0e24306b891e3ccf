#include "manufactured.h"

#include "reference.h"

#include <math.h>
#include <stdlib.h>

/* phi, phi', phi'' of an axis (unit length) */
static double factor(const gmg_problem *p, int a, double x, int derivative)
{
  if (p->bc[a][0] == GMG_PERIODIC) {
    const double k = 2 * M_PI, t = k * x + 0.4 + a;
    return derivative == 0 ? 1.5 + sin(t) : derivative == 1 ? k * cos(t) : -k * k * sin(t);
  }
  const double k = 2.3 + 0.5 * a, t = k * x + 0.7;
  return derivative == 0 ? cos(t) + 0.5 * exp(x) : derivative == 1 ? -k * sin(t) + 0.5 * exp(x) : -k * k * cos(t) + 0.5 * exp(x);
}

static double product(const gmg_problem *p, const double x[3], int axis, int derivative)
{
  double v = 1;
  for (int a = 0; a < p->dim; a++) v *= factor(p, a, x[a], a == axis ? derivative : 0);
  return v;
}

double exact_u(const gmg_problem *p, const double x[3]) { return product(p, x, -1, 0); }

double exact_f(const gmg_problem *p, const double x[3])
{
  double f = p->shift * exact_u(p, x);
  for (int a = 0; a < p->dim; a++) f -= product(p, x, a, 2);
  return f;
}

static double boundary_value(const gmg_problem *p, const double x[3], int a, int side)
{
  const double outward = (side ? 1 : -1) * product(p, x, a, 1), u = exact_u(p, x);
  if (p->bc[a][side] == GMG_DIRICHLET) return u;
  if (p->bc[a][side] == GMG_NEUMANN) return outward;
  return p->robin[a][side][0] * u + p->robin[a][side][1] * outward;
}

void set_manufactured(const gmg_problem *p, session *s, double *f, double *u_exact)
{
  const size_t N = unknowns(p);
  double *g = malloc((N + 1) * sizeof *g), x[3] = {0};
  for (size_t c = 0; c < N; c++) {
    size_t rest = c;
    for (int a = 0; a < p->dim; rest /= p->n[a], a++) x[a] = axis_position(p, a, rest % p->n[a]);
    f[c] = exact_f(p, x);
    if (u_exact) u_exact[c] = exact_u(p, x);
  }
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) {
      if (p->bc[a][side] == GMG_PERIODIC) continue;
      const size_t cells = N / p->n[a];
      for (size_t c = 0; c < cells; c++) {
        size_t rest = c;
        for (int b = 0; b < p->dim; b++) {
          if (b == a) {
            x[b] = side;
            continue;
          }
          x[b] = axis_position(p, b, rest % p->n[b]);
          rest /= p->n[b];
        }
        g[c] = boundary_value(p, x, a, side);
      }
      assert_ok(s->context, set_values_in(s, a, side, g));
    }
  free(g);
}

error_norms error_of(const gmg_problem *p, const double *u, const double *exact, int singular)
{
  const size_t N = unknowns(p);
  double mean = 0, volume = 0, square = 0;
  error_norms e = {0, 0};
  for (size_t c = 0; c < N; c++) volume += cell_volume(p, c), mean += cell_volume(p, c) * (u[c] - exact[c]);
  if (!singular) mean = 0;
  for (size_t c = 0; c < N; c++) {
    const double d = fabs(u[c] - exact[c] - mean / volume);
    square += cell_volume(p, c) * d * d;
    e.most = fmax(e.most, d);
  }
  e.two = sqrt(square / volume);
  return e;
}
