/* Symbols of the relaxation methods (fourier.h). Called by smoothers and by mg/lfa.c. */
#include "fourier.h"

#include "stencil/grid_ops.h"

#include <math.h>
#include <string.h>

double gmg_symbol_diag(const gmg_symbol *s)
{
  double d = s->reaction;
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

void gmg_symbol_jacobi(gmg_symbol *s, double omega, int sweeps)
{
  const double d = gmg_symbol_diag(s);
  memset(s->S, 0, sizeof s->S);
  for (int m = 0; m < s->modes; m++) s->S[m][m] = 1 - omega * (1 - gmg_symbol_neighbours(s, m) / d);
  gmg_matrix_power(s->modes, s->S, sweeps);
}

/* Symbol of a lexicographic sweep: new values below, old values above. */
void gmg_symbol_gauss_seidel(gmg_symbol *s, double omega, int reversed, int sweeps)
{
  const double d = gmg_symbol_diag(s), sign = reversed ? -1 : 1;
  memset(s->S, 0, sizeof s->S);
  for (int m = 0; m < s->modes; m++) {
    double _Complex below = 0;
    for (int a = 0; a < s->axes; a++) below += s->c[a] * cexp(-I * sign * angle(s, m, a));
    const double _Complex above = conj(below);
    s->S[m][m] = (d * (1 - omega) + omega * above) / (d - omega * below);
  }
  gmg_matrix_power(s->modes, s->S, sweeps);
}

/* Relaxes one colour: e = e + omega M (J - 1) e, with the symbol J of Jacobi and the mask M of the colour, (1 +- (-1)^(i+j+k)) / 2,
   which maps half of a mode to its alias in all axes. */
static void relax_colour(const gmg_symbol *s, double omega, int black, double _Complex (*sweep)[8])
{
  const double d = gmg_symbol_diag(s);
  memset(sweep, 0, sizeof(double _Complex[8][8]));
  for (int m = 0; m < s->modes; m++) {
    const double change = omega * (gmg_symbol_neighbours(s, m) / d - 1) / 2;
    sweep[m][m] += 1 + change;
    sweep[s->modes - 1 - m][m] += black ? -change : change;
  }
}

void gmg_symbol_red_black(gmg_symbol *s, const double *weight, int reversed, int sweeps)
{
  memset(s->S, 0, sizeof s->S);
  for (int m = 0; m < s->modes; m++) s->S[m][m] = 1;
  for (int h = 0; h < 2 * sweeps; h++) {
    double _Complex half[8][8];
    relax_colour(s, weight[h % GMG_HALF_SWEEPS], (h + reversed) % 2, half);
    gmg_matrix_multiply(s->modes, half, s->S, s->S);
  }
}
