/* Symbols of the built-in smoothers. */
#include "fourier.h"

#include "smoother.h"

#include <math.h>
#include <string.h>

double gmg_symbol_diag(const gmg_symbol *s)
{
  double d = s->sink;
  for (int a = 0; a < s->axes; a++) d += 2 * s->c[a];
  return d;
}

static double angle(const gmg_symbol *s, int mode, int a) { return s->theta[a] + ((mode >> a) & 1 ? M_PI : 0); }

double gmg_symbol_neighbours(const gmg_symbol *s, int mode)
{
  double sum = 0;
  for (int a = 0; a < s->axes; a++) sum += 2 * s->c[a] * cos(angle(s, mode, a));
  return sum;
}

void gmg_matrix_multiply(int n, double _Complex (*a)[8], double _Complex (*b)[8], double _Complex (*out)[8])
{
  double _Complex product[8][8];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double _Complex s = 0;
      for (int k = 0; k < n; k++) s += a[i][k] * b[k][j];
      product[i][j] = s;
    }
  memcpy(out, product, sizeof product);
}

void gmg_matrix_power(int n, double _Complex (*a)[8], int power)
{
  double _Complex square[8][8];
  memcpy(square, a, sizeof square);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i][j] = i == j;
  for (; power > 0; power /= 2) {
    if (power % 2) gmg_matrix_multiply(n, a, square, a);
    gmg_matrix_multiply(n, square, square, square);
  }
}

static void identity(gmg_symbol *s)
{
  memset(s->S, 0, sizeof s->S);
  for (int m = 0; m < s->modes; m++) s->S[m][m] = 1;
}

/* S = step^times */
static void repeat(gmg_symbol *s, double _Complex (*step)[8], int times)
{
  memcpy(s->S, step, sizeof s->S);
  gmg_matrix_power(s->modes, s->S, times);
}

static void jacobi_step(const gmg_symbol *s, double omega, double _Complex (*step)[8])
{
  const double d = gmg_symbol_diag(s);
  for (int m = 0; m < s->modes; m++) step[m][m] = 1 - omega * (1 - gmg_symbol_neighbours(s, m) / d);
}

/* Lexicographic: new values below, old values above. */
static void gauss_seidel_step(const gmg_symbol *s, double omega, int backward, double _Complex (*step)[8])
{
  const double d = gmg_symbol_diag(s), way = backward ? -1 : 1;
  for (int m = 0; m < s->modes; m++) {
    double _Complex below = 0;
    for (int a = 0; a < s->axes; a++) below += s->c[a] * cexp(-I * way * angle(s, m, a));
    const double _Complex above = conj(below);
    step[m][m] = (d * (1 - omega) + omega * above) / (d - omega * below);
  }
}

/* One colour relaxes: e += colour (J - 1) omega e, and the mask (1 +- (-1)^(i+j+k)) / 2 sends half of a mode to its
   opposite in all axes. */
static void colour_step(const gmg_symbol *s, double omega, int black, double _Complex (*step)[8])
{
  const double d = gmg_symbol_diag(s);
  memset(step, 0, sizeof(double _Complex[8][8]));
  for (int m = 0; m < s->modes; m++) {
    const double change = omega * (gmg_symbol_neighbours(s, m) / d - 1) / 2;
    step[m][m] += 1 + change;
    step[s->modes - 1 - m][m] += black ? -change : change;
  }
}

static void red_black(gmg_symbol *s, double omega, gmg_leg leg, int times)
{
  double _Complex red[8][8], black[8][8];
  const int reversed = leg == GMG_LEG_UP_REVERSED;
  colour_step(s, omega, 0, red);
  colour_step(s, omega, 1, black);
  gmg_matrix_multiply(s->modes, reversed ? red : black, reversed ? black : red, s->S);
  gmg_matrix_power(s->modes, s->S, times);
}

void gmg_symbol_jacobi(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  (void)leg;
  double _Complex step[8][8] = {{0}};
  jacobi_step(s, gmg_weight_jacobi(A, p), step);
  repeat(s, step, 1);
}

void gmg_symbol_gauss_seidel(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  double _Complex step[8][8] = {{0}};
  gauss_seidel_step(s, gmg_weight_gauss_seidel(A, p), leg == GMG_LEG_UP_REVERSED, step);
  repeat(s, step, 1);
}

void gmg_symbol_red_black(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  red_black(s, gmg_weight_red_black(A, p), leg, 1);
}

/* T_m((theta - lambda) / delta) / T_m(theta / delta) for the eigenvalue lambda of D^-1 A */
void gmg_symbol_chebyshev(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  (void)leg;
  double low, high;
  gmg_high_frequency_range(A, &low, &high);
  const double theta = (high + low) / 2, delta = (high - low) / 2;
  identity(s);
  for (int m = 0; m < s->modes; m++) {
    const double lambda = 1 - gmg_symbol_neighbours(s, m) / gmg_symbol_diag(s);
    double before = 1, t = (theta - lambda) / delta, t0_before = 1, t0 = theta / delta;
    const double x = t, x0 = t0;
    for (int k = 2; k <= p->local_sweeps; k++) {
      const double next = 2 * x * t - before, next0 = 2 * x0 * t0 - t0_before;
      before = t, t = next, t0_before = t0, t0 = next0;
    }
    s->S[m][m] = t / t0;
  }
}

/* The limit of blocks that always see fresh values: every local sweep counts as a global one. */
void gmg_symbol_async(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  const double omega = gmg_weight_async(A, p);
  const int sweeps = p->local_sweeps * p->passes;
  double _Complex step[8][8] = {{0}};
  if (p->local == GMG_LOCAL_RED_BLACK) {
    red_black(s, omega, leg, sweeps);
    return;
  }
  if (p->local == GMG_LOCAL_JACOBI)
    jacobi_step(s, omega, step);
  else
    gauss_seidel_step(s, omega, leg == GMG_LEG_UP_REVERSED, step);
  repeat(s, step, sweeps);
}
