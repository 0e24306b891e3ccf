/* Cuts of a grid (cut.h). */
#include "cut.h"

/* Unknowns of ghosts, for one plane of them beside each cut. Rows count twice: their ghosts are not contiguous in memory. */
static double ghosts_of(int dim, const size_t n[3], const int parts[3])
{
  double sum = 0;
  for (int a = 0; a < dim; a++) {
    double plane = a == 0 ? 2 : 1;
    for (int b = 0; b < dim; b++) plane *= b == a ? 1 : (double)n[b];
    sum += plane * (parts[a] - 1);
  }
  return sum;
}

int gmg_choose_parts(int dim, const size_t n[3], const int may_cut[3], int ranks, size_t least, int parts[3])
{
  double best = -1;
  for (int x = 1; x <= ranks; x++)
    for (int y = 1; ranks % x == 0 && y <= ranks / x; y++) {
      const int try[3] = {x, y, ranks / x / y};
      int fits = ranks / x % y == 0;
      for (int a = 0; a < 3 && fits; a++) fits = try[a] == 1 || (a < dim && may_cut[a] && n[a] / (size_t)try[a] >= least);
      if (!fits) continue;
      const double ghosts = ghosts_of(dim, n, try);
      if (best >= 0 && ghosts >= best) continue;
      best = ghosts;
      for (int a = 0; a < 3; a++) parts[a] = try[a];
    }
  return best >= 0;
}

void gmg_cut_axis(size_t n, int parts, size_t *cut)
{
  enum { SHARE = 16 }; /* a cut is at most 1/32 of a part from where it would be in equal parts */
  const size_t p = (size_t)parts;
  size_t unit = 1;
  while (2 * unit * SHARE * p <= n) unit *= 2;
  for (size_t c = 0; c <= p; c++) cut[c] = c == p ? n : (n * c / p + unit / 2) / unit * unit;
}

void gmg_coarsen_cuts(size_t n, size_t nc, int parts, const size_t *cut, size_t *coarse)
{
  for (int c = 0; c <= parts; c++) coarse[c] = (cut[c] * nc + n / 2) / n;
}

size_t gmg_thinnest_part(int parts, const size_t *cut)
{
  size_t least = cut[1] - cut[0];
  for (int c = 1; c < parts; c++)
    if (cut[c + 1] - cut[c] < least) least = cut[c + 1] - cut[c];
  return least;
}
