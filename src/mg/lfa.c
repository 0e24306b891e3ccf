/* Two-grid local Fourier analysis (Brandt 1977; Trottenberg, Oosterlee, Schueller 2001, chapters 3 and 4). A low frequency theta
   and its 2^axes - 1 aliases theta + pi b span an invariant space, in which every part of the cycle is a small matrix. Coarse modes
   are numbered by the bits b of the axes that are not coarsened, because these axes have no aliasing. Called by plan and by
   tests. */
#include "solver.h"

#include "smoothers/fourier.h"

#include <math.h>

/* The two-grid cycle at one frequency. s and coarsened number only the axes that have couplings, in order. */
typedef struct {
  gmg_symbol s;
  int coarsened[3];
  const gmg_operator *A;
  int symmetric; /* the upward leg runs in reversed order */
} two_grid;

static int bit(int mode, int a) { return (mode >> a) & 1; }

/* Symbol of prolongation along a coarsened axis: amplitude of the fine mode theta (alias: theta + pi) in an interpolated coarse
   mode. Phases are relative to the unknowns, so the symbols are real. */
static double prolong_symbol(gmg_centering centering, double theta, int alias)
{
  if (centering == GMG_VERTEX) return (1 + (alias ? -cos(theta) : cos(theta))) / 2;
  return alias ? 0.75 * sin(theta / 2) - 0.25 * sin(1.5 * theta) : 0.75 * cos(theta / 2) + 0.25 * cos(1.5 * theta);
}

static double restrict_symbol(const two_grid *g, double theta, int alias)
{
  if (g->A->centering == GMG_VERTEX || g->A->restricts_by_adjoint) return prolong_symbol(g->A->centering, theta, alias);
  return alias ? sin(theta / 2) : cos(theta / 2); /* the mean of two cells */
}

/* I - P A_c^+ R A */
static void coarse_correction(const two_grid *g, double _Complex (*K)[8])
{
  const gmg_symbol *s = &g->s;
  double p[8], r[8], a[8], coarse[8];
  double _Complex phase[8]; /* phase at cell centres; smoothers measure phases from unknown 0 */
  int family[8]; /* coarse mode to which a fine mode belongs */
  for (int m = 0; m < s->modes; m++) {
    p[m] = r[m] = phase[m] = 1;
    family[m] = 0;
    coarse[m] = s->reaction;
    a[m] = gmg_symbol_diag(s) - gmg_symbol_neighbours(s, m);
    for (int x = 0; x < s->axes; x++) {
      const double theta = s->theta[x];
      if (g->A->centering == GMG_CELL) phase[m] *= cexp(0.5 * I * (theta + bit(m, x) * M_PI));
      if (g->coarsened[x]) {
        p[m] *= prolong_symbol(g->A->centering, theta, bit(m, x));
        r[m] *= restrict_symbol(g, theta, bit(m, x));
        coarse[m] += s->c[x] / 4 * (2 - 2 * cos(2 * theta));
      } else {
        family[m] |= bit(m, x) << x;
        coarse[m] += s->c[x] * (2 - 2 * cos(theta + bit(m, x) * M_PI));
      }
    }
  }
  for (int i = 0; i < s->modes; i++)
    for (int j = 0; j < s->modes; j++) {
      K[i][j] = i == j;
      if (family[i] == family[j] && coarse[j] > 1e-12 * gmg_symbol_diag(s)) K[i][j] -= p[i] * r[j] * a[j] / coarse[j];
      K[i][j] *= phase[i] * conj(phase[j]);
    }
}

/* ||M^(2^16)||^(1/2^16) by repeated squaring */
static double spectral_radius(int n, double _Complex (*m)[8])
{
  enum { SQUARINGS = 16 };
  double logarithm = 0, weight = 1;
  for (int k = 0; k <= SQUARINGS; k++) {
    double norm2 = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) norm2 += creal(m[i][j] * conj(m[i][j]));
    const double norm = sqrt(norm2);
    if (norm == 0) return 0;
    logarithm += weight * log(norm);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) m[i][j] /= norm;
    gmg_matrix_multiply(n, m, m, m);
    weight /= 2;
  }
  return exp(logarithm);
}

static double factor_at(two_grid *g, const gmg_params *p)
{
  double _Complex cycle[8][8];
  const int n = g->s.modes;
  coarse_correction(g, cycle);
  gmg_symbol_of(p->smoother)(g->A, p, GMG_LEG_DOWN, &g->s);
  gmg_matrix_power(n, g->s.S, p->pre);
  gmg_matrix_multiply(n, cycle, g->s.S, cycle);
  gmg_symbol_of(p->smoother)(g->A, p, g->symmetric ? GMG_LEG_UP_REVERSED : GMG_LEG_UP, &g->s);
  gmg_matrix_power(n, g->s.S, p->post);
  gmg_matrix_multiply(n, g->s.S, cycle, cycle);
  const int constants = g->s.theta[0] == 0 && g->s.theta[1] == 0 && g->s.theta[2] == 0;
  for (int m = 0; constants && m < n; m++) cycle[0][m] = cycle[m][0] = 0;
  return spectral_radius(n, cycle);
}

double gmg_lfa_two_grid(const gmg_operator *A, const gmg_params *params, int symmetric, int samples)
{
  two_grid g = {.A = A, .symmetric = symmetric, .s = {.reaction = gmg_operator_reaction(A)}};
  if (A->kind != &gmg_seven_point || !gmg_symbol_of(params->smoother) || A->face[0]) return NAN;
  for (int a = 0; a < 3; a++)
    if (A->stretch[a] > 1.5) return NAN; /* Fourier modes are not invariant there */
  for (int a = 0; a < 3; a++) {
    if (A->coupling[a] == 0) continue;
    g.s.c[g.s.axes] = A->coupling[a];
    g.coarsened[g.s.axes++] = A->coarsened[a];
  }
  g.s.modes = 1 << g.s.axes;
  if (g.s.axes == 0) return NAN;
  const int quarter = samples / 4; /* theta is in -pi/2 .. pi/2; couplings are even in theta, so 0 .. pi/2 suffices */
  double worst = 0;
  for (int t = 0; t < (int)pow(quarter + 1, g.s.axes); t++) {
    for (int x = 0, rest = t; x < g.s.axes; x++, rest /= quarter + 1) g.s.theta[x] = 2 * M_PI * (rest % (quarter + 1)) / samples;
    worst = fmax(worst, factor_at(&g, params));
  }
  return worst;
}
