/* A row of a variable box stencil as it is given: with walls and shift, and whether it is valid. Compiled as C and as CUDA. Calls
   core; included by the kernels that read the caller's arrays. */
#ifndef GMG_STENCIL_BOX_ARRAYS_GIVEN_H
#define GMG_STENCIL_BOX_ARRAYS_GIVEN_H

#include "values.h"

#include "core/real.h"

/* The sign with which entry `from` along an axis counts for the unknowns of these sources: -1 beyond a wall that folds so. */
GMG_INLINE double gmg_given_sign(const gmg_given_box *g, int axis, unsigned source, int from)
{
  return from != 1 && (source & 2) && g->folds[axis][from / 2] < 0 ? -1 : 1;
}

/* Sum of the entries [z][y][x] of the row at offset c for which bit x of source[0], bit y of source[1] and bit z of source[2] are
   set. Other entries are not read. */
GMG_INLINE double gmg_given_sum(const gmg_given_box *g, size_t c, const unsigned source[3])
{
  double sum = 0;
  for (int z = 0; z < 3; z++)
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 3; x++) {
        const int e = x + 3 * y + 9 * z;
        if (!(source[0] >> x & source[1] >> y & source[2] >> z & 1)) continue;
        const double value = g->array[e] ? (double)((const real *)g->array[e])[c] : g->entry[e];
        sum += gmg_given_sign(g, 0, source[0], x) * gmg_given_sign(g, 1, source[1], y) * gmg_given_sign(g, 2, source[2], z) * value;
      }
  return sum;
}

/* The entry of row `at` for neighbour e. */
GMG_INLINE double gmg_given_entry(const gmg_given_box *g, const size_t at[3], int e)
{
  const int to[3] = {e % 3, e / 3 % 3, e / 9};
  unsigned source[3];
  for (int a = 0; a < 3; a++) {
    source[a] = gmg_given_sources(g, a, at[a], to[a]);
    if (!source[a]) return 0;
  }
  return gmg_given_sum(g, gmg_offset(g->layout, at[0], at[1], at[2]), source) + (e == 13 ? g->shift : 0);
}

/* Whether row `at` has neighbour e, which may be the row itself. Finds where it is. Written out, because gmg_index_below() and
   gmg_index_above() change the code that nvcc makes of the checks. */
GMG_INLINE int gmg_given_neighbour(const gmg_given_box *g, const size_t at[3], int e, size_t there[3])
{
  const int to[3] = {e % 3, e / 3 % 3, e / 9};
  for (int a = 0; a < 3; a++) {
    const size_t n = g->layout.n[a];
    if (!gmg_given_sources(g, a, at[a], to[a])) return 0;
    there[a] = to[a] == 1 ? at[a] : to[a] == 0 ? (at[a] > 0 ? at[a] - 1 : n - 1) : (at[a] + 1 < n ? at[a] + 1 : 0);
  }
  return 1;
}

GMG_INLINE double gmg_given_control_volume(const gmg_given_box *g, const size_t at[3])
{
  return gmg_given_volume(g, 0, at[0]) * gmg_given_volume(g, 1, at[1]) * gmg_given_volume(g, 2, at[2]);
}

/* Checks a pair of rows, multiplied by their control volumes: both entries must be equal, unless they may differ, and not larger in
   magnitude than the geometric mean of the two centres, as in a symmetric positive definite matrix. Both tests allow for
   rounding. */
GMG_INLINE gmg_row_fault gmg_given_pair(const gmg_given_box *g, double here, double there, double centre, double other_centre)
{
  const double larger = here * here > there * there ? here : there, size = larger < 0 ? -larger : larger;
  const double least = centre < other_centre ? centre : other_centre, between = here - there;
  const double allowed = 64 * g->epsilon * (size > least ? size : least);
  if (!(between <= allowed && between >= -allowed)) return g->takes_unsymmetric ? GMG_ROW_GOOD : GMG_ROW_UNSYMMETRIC;
  /* divided first: a product may overflow */
  return (size / centre) * (size / other_centre) > 1 + 1e4 * g->epsilon ? GMG_ROW_INDEFINITE : GMG_ROW_GOOD;
}

/* Finds the first fault of a row. sum: of its entries without the shift; 0 if a Dirichlet wall drops entries, or if the sum is
   within rounding of 0. */
GMG_INLINE gmg_row_finding gmg_given_row(const gmg_given_box *g, const size_t at[3], double *sum)
{
  const double volume = gmg_given_control_volume(g, at), centre = gmg_given_entry(g, at, 13);
  gmg_row_finding found = {GMG_ROW_GOOD, 13, centre, 0};
  double size = 0, rest = 0;
  int dropped = 0;
  *sum = 0;
  for (int e = 0; e < 27; e++) {
    size_t there[3];
    const int used = (g->dim > 2 || e / 9 == 1) && (g->dim > 1 || e / 3 % 3 == 1);
    if (!used) continue;
    const int exists = gmg_given_neighbour(g, at, e, there);
    for (int a = 0; a < g->dim; a++) { /* a wall without a mirror or a seam */
      const int to = a == 0 ? e % 3 : a == 1 ? e / 3 % 3 : e / 9;
      dropped |= (to == 0 && at[a] == 0 && !g->wraps[a] && !g->mirrors[a][0] && g->folds[a][0] <= 0) ||
                 (to == 2 && at[a] + 1 == g->layout.n[a] && !g->wraps[a] && !g->mirrors[a][1] && g->folds[a][1] <= 0);
    }
    if (!exists) continue;
    const double value = gmg_given_entry(g, at, e);
    *sum += value - (e == 13 ? g->shift : 0), size += value < 0 ? -value : value;
    if (e != 13) rest += value < 0 ? -value : value;
    if (found.fault) continue;
    if (!(value < g->most && value > -g->most)) found.fault = GMG_ROW_VALUE, found.entry = e, found.value = value;
    else if (e == 13 && !(value >= g->least)) found.fault = GMG_ROW_CENTRE;
    else if (centre >= g->least && (value > g->most_over_centre * centre || -value > g->most_over_centre * centre))
      found.fault = GMG_ROW_QUOTIENT, found.entry = e, found.value = value, found.other = centre;
    if (found.fault || e >= 13 || !(centre >= g->least)) continue;
    const double other_volume = gmg_given_control_volume(g, there), back = gmg_given_entry(g, there, 26 - e);
    const double other_centre = gmg_given_entry(g, there, 13);
    if (!(other_centre >= g->least && other_centre < g->most && centre < g->most)) continue; /* a fault of its own */
    found.fault = gmg_given_pair(g, volume * value, other_volume * back, volume * centre, other_volume * other_centre);
    found.entry = e, found.value = value;
    found.other = found.fault == GMG_ROW_INDEFINITE ? other_centre : other_volume * back / volume;
  }
  if (!found.fault && rest > 0 && centre > g->most_over_rest * rest)
    found.fault = GMG_ROW_PENALTY, found.entry = 13, found.value = centre, found.other = rest;
  if (dropped || !(*sum > 64 * g->epsilon * size || *sum < -64 * g->epsilon * size)) *sum = 0;
  return found;
}

#endif
