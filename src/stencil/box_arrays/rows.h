/* The row of a variable box stencil on a level, and the row of the next coarser level. Compiled as C and as CUDA. Calls core;
   included by the kernels of variable box stencils, also those of smoothers. */
#ifndef GMG_STENCIL_BOX_ARRAYS_ROWS_H
#define GMG_STENCIL_BOX_ARRAYS_ROWS_H

#include "stencil/box/box.h"
#include "stencil/grid/map.h"

/* The operator of a level, for kernels. Entries contain walls and shift: where there is no neighbour, the entry is 0. */
typedef struct {
  gmg_layout layout; /* of u */
  gmg_layout own;    /* of the entries: packed */
  int dim, wraps[3], mirrors[3][2]; /* mirrors: all 0, for code that also treats constant entries */
  const real *entry[27];
} gmg_box_array_rows;

static inline gmg_box_array_rows gmg_box_array_rows_of(const gmg_operator *A)
{
  gmg_box_array_rows s;
  s.layout = gmg_layout_of_u(A), s.own = gmg_layout_of(A), s.dim = A->dim;
  for (int a = 0; a < 3; a++) s.wraps[a] = A->wraps[a], s.mirrors[a][0] = s.mirrors[a][1] = 0;
  for (int e = 0; e < 27; e++) s.entry[e] = (const real *)A->box->array[e];
  return s;
}

/* Distances to the neighbours along an axis, in elements of u. Where there is none, it is the unknown itself. */
GMG_INLINE gmg_box_steps gmg_box_array_steps_at(const gmg_box_array_rows *s, int axis, size_t i)
{
  const long n = (long)s->layout.n[axis], pitch = (long)gmg_pitch(s->layout, axis);
  const gmg_steps to = gmg_steps_beside(i, n, s->wraps[axis], pitch);
  const gmg_box_steps x = {{to.below, 0, to.above}, {1, 1, 1}};
  return x;
}

/* A u for the unknown at *u, whose entries are at c. dim is a constant after inlining. */
GMG_INLINE scalar gmg_box_array_image(const int dim, const gmg_box_array_rows *s, gmg_box_steps x, gmg_box_steps y, gmg_box_steps z,
                                      size_t c, const scalar *u)
{
  scalar sum = 0;
  for (int k = gmg_box_first(dim, 2); k <= gmg_box_last(dim, 2); k++)
    for (int j = gmg_box_first(dim, 1); j <= gmg_box_last(dim, 1); j++)
      for (int i = 0; i < 3; i++) sum += s->entry[i + 3 * j + 9 * k][c] * u[x.to[i] + y.to[j] + z.to[k]];
  return sum;
}

/* |A| |u| for the unknown at *u. */
GMG_INLINE real gmg_box_array_magnitude(const gmg_box_array_rows *s, gmg_box_steps x, gmg_box_steps y, gmg_box_steps z, size_t c,
                                        const scalar *u)
{
  real sum = 0;
  for (int k = gmg_box_first(s->dim, 2); k <= gmg_box_last(s->dim, 2); k++)
    for (int j = gmg_box_first(s->dim, 1); j <= gmg_box_last(s->dim, 1); j++)
      for (int i = 0; i < 3; i++) {
        const real entry = s->entry[i + 3 * j + 9 * k][c];
        sum += (entry < 0 ? -entry : entry) * gmg_absolute(u[x.to[i] + y.to[j] + z.to[k]]);
      }
  return sum;
}

/* One axis of the product restriction times A times prolongation, for one coarse unknown: the fine unknowns that it reads, and what
   entry a of each of them adds to entry d of the coarse row, by[m][a][d]. */
enum { GMG_GALERKIN_READS = 3 }; /* fine unknowns that a row of the restriction reads, on axes that nest */

typedef struct {
  int count;
  int is_constant; /* prolongation is, on merged cells */
  size_t at[GMG_GALERKIN_READS];
  double by[GMG_GALERKIN_READS][3][3];
} gmg_box_galerkin_axis;

/* wraps: whether the fine axis does. */
GMG_INLINE gmg_box_galerkin_axis gmg_box_galerkin_axis_at(const gmg_map *prolong, const gmg_map *restrict_, int wraps, int coarse)
{
  const real *const down = (const real *)restrict_->weight, *const up = (const real *)prolong->weight;
  const int n = prolong->rows, coarse_n = prolong->cols;
  gmg_box_galerkin_axis x;
  x.count = 0, x.is_constant = prolong->width == 1 && n != coarse_n;
  for (int m = 0; m < restrict_->width; m++) {
    const double w = (double)down[coarse * restrict_->width + m];
    const int i = restrict_->first[coarse] + m;
    if (w == 0 || x.count == GMG_GALERKIN_READS) continue;
    x.at[x.count] = (size_t)gmg_wrap_once(i, n, 1);
    for (int a = 0; a < 3; a++) {
      const int j = i + a - 1, period = gmg_period_of_32(j, n), row = j - period * n;
      for (int d = 0; d < 3; d++) x.by[x.count][a][d] = 0;
      if (period && !wraps) continue; /* the entry is 0 */
      for (int p = 0; p < prolong->width; p++) {
        const int d = prolong->first[row] + p + period * coarse_n - coarse;
        const double share = w * (double)up[row * prolong->width + p];
        if (coarse_n == 1) x.by[x.count][a][1] += share; /* a single unknown is its own neighbour */
        else if (share != 0 && d >= -1 && d <= 1) x.by[x.count][a][d + 1] += share;
      }
    }
    x.count++;
  }
  return x;
}

/* With piecewise constant transfers a product couples merged cells twice as strongly as it should, because differences across a
   coarse face are those of the fine grid. Divides their couplings by 1.8 (Braess 1995), and keeps the row sum. Where
   entries along other axes are positive, the centre stays positive instead. x, y, z: whether cells are merged along the axis. */
GMG_INLINE void gmg_box_weaken_couplings(int x, int y, int z, double row[27])
{
  const double least = row[13] / 1.8;
  for (int e = 0; e < 27; e++) {
    const int merged = (x && e % 3 != 1) || (y && e / 3 % 3 != 1) || (z && e / 9 != 1);
    const double kept = merged ? row[e] / 1.8 : row[e];
    row[13] += merged ? row[e] - kept : 0;
    row[e] = kept;
  }
  if ((x || y || z) && row[13] < least) row[13] = least;
}

/* The entries of a coarse row. x, y, z: its axes. Sums along one axis after the other: first for lines of fine unknowns, then for
   planes, then for the box. */
GMG_INLINE void gmg_box_galerkin_row(const gmg_box_array_rows *fine, const gmg_box_galerkin_axis *x, const gmg_box_galerkin_axis *y,
                                     const gmg_box_galerkin_axis *z, double row[27])
{
  for (int e = 0; e < 27; e++) row[e] = 0;
  for (int k = 0; k < z->count; k++) {
    double plane[27] = {0};
    for (int j = 0; j < y->count; j++) {
      double line[27] = {0};
      for (int i = 0; i < x->count; i++) {
        const size_t c = gmg_offset(fine->own, x->at[i], y->at[j], z->at[k]);
        for (int e = 0; e < 27; e++) {
          if (!fine->entry[e]) continue;
          const double value = (double)fine->entry[e][c];
          for (int d = 0; d < 3; d++) line[e - e % 3 + d] += x->by[i][e % 3][d] * value;
        }
      }
      for (int e = 0; e < 27; e++)
        for (int d = 0; d < 3; d++) plane[e + 3 * (d - e / 3 % 3)] += y->by[j][e / 3 % 3][d] * line[e];
    }
    for (int e = 0; e < 27; e++)
      for (int d = 0; d < 3; d++) row[e + 9 * (d - e / 9)] += z->by[k][e / 9][d] * plane[e];
  }
  gmg_box_weaken_couplings(x->is_constant, y->is_constant, z->is_constant, row);
}

#endif
