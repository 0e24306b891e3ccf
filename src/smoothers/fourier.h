/* Symbols: the effect of one smoothing step on Fourier modes on the infinite grid (Brandt 1977; Stueben, Trottenberg 1982). Calls
   nothing; called by smoothers and by mg's local Fourier analysis. */
#ifndef GMG_SMOOTHERS_FOURIER_H
#define GMG_SMOOTHERS_FOURIER_H

#include "gmg_smoother.h"

#include <complex.h>

/* Modes of frequency theta + pi b, b in {0,1}^axes. Bit a of a mode's index is b[a]. Only axes with more than one unknown are
   included. */
typedef struct gmg_symbol {
  int axes, modes;           /* modes = 2^axes */
  double c[3];               /* couplings */
  double theta[3];
  double reaction;           /* shift and wall terms of axes with a single unknown (gmg_operator_reaction) */
  double _Complex S[8][8];   /* out: error after one step = S error before */
} gmg_symbol;

double gmg_symbol_diag(const gmg_symbol *s);                 /* reaction + 2 sum c */
double gmg_symbol_neighbours(const gmg_symbol *s, int mode); /* sum 2 c cos(theta): A = diag - neighbours */

/* out = a b, where out may be a or b; a = a^power. */
void gmg_matrix_multiply(int n, double _Complex (*a)[8], double _Complex (*b)[8], double _Complex (*out)[8]);
void gmg_matrix_power(int n, double _Complex (*a)[8], int power);

/* S = `sweeps` sweeps with weight omega. Several smoothers use these. weight: of the half sweeps, as in half_sweep_weights of
   gmg_builtin_smoother. */
void gmg_symbol_jacobi(gmg_symbol *s, double omega, int sweeps);
void gmg_symbol_gauss_seidel(gmg_symbol *s, double omega, int reversed, int sweeps); /* lexicographic */
void gmg_symbol_red_black(gmg_symbol *s, const double *weight, int reversed, int sweeps);

#endif
