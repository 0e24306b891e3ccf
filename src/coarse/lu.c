/* Gaussian elimination with partial pivoting. Called by dense.c. */
#include "lu.h"

#include <float.h>
#include <math.h>

static void exchange(double *x, double *y)
{
  const double t = *x;
  *x = *y, *y = t;
}

int gmg_lu_factorise(double *a, int *exchanged, size_t n)
{
  double largest = 0;
  for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(a[i]));
  for (size_t k = 0; k < n; k++) {
    size_t best = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
    if (!(fabs(a[best * n + k]) > DBL_EPSILON * largest)) return 0;
    exchanged[k] = (int)best;
    for (size_t j = 0; j < n && best != k; j++) exchange(&a[k * n + j], &a[best * n + j]);
    for (size_t i = k + 1; i < n; i++) {
      const double factor = a[i * n + k] /= a[k * n + k];
      for (size_t j = k + 1; j < n && factor != 0; j++) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return 1;
}

void gmg_lu_substitute(const double *lu, const int *exchanged, size_t n, double *x)
{
  for (size_t k = 0; k < n; k++)
    if (exchanged[k] != (int)k) exchange(&x[k], &x[exchanged[k]]);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++) x[i] -= lu[i * n + k] * x[k];
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; k++) x[i] -= lu[i * n + k] * x[k];
    x[i] /= lu[i * n + i];
  }
}
