/* The formulas of black box multigrid, for one unknown: weights, Galerkin product, restriction, prolongation. Compiled as C and as
   CUDA. Calls the rows of operators; included by the kernels of this folder.

   J. E. Dendy, Black box multigrid, J. Comput. Phys. 48 (1982); in three dimensions J. E. Dendy, Two multigrid methods for
   three-dimensional problems with discontinuous and anisotropic coefficients, SIAM J. Sci. Stat. Comput. 8 (1987). P. M. de Zeeuw,
   Matrix-dependent prolongations and restrictions in a blackbox multigrid solver, J. Comput. Appl. Math. 33 (1990). */
#ifndef GMG_STENCIL_BLACK_BOX_ROWS_H
#define GMG_STENCIL_BLACK_BOX_ROWS_H

#include "black_box.h"
#include "stencil/box_arrays/rows.h"
#include "stencil/operator/row.h"

/* A level and the next coarser one, for kernels. */
typedef struct {
  gmg_operator A;          /* of the fine level. Its rows, unless is_box */
  int is_box;
  gmg_box_array_rows box;  /* its rows, if is_box */
  size_t n[3];             /* unknowns of the coarse level */
  gmg_layout coarse;
  const real *share[3];    /* [n][3] control volume of the fine unknowns before, at and after each coarse unknown over its own */
  real *entry[27];         /* arrays of the coarse operator */
  real *weight[27];
} gmg_black_box_levels;

static inline gmg_black_box_levels gmg_black_box_levels_of(const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p)
{
  gmg_black_box_levels x;
  x.A = *A, x.is_box = A->box != NULL;
  if (A->box) x.box = gmg_box_array_rows_of(A);
  x.coarse = gmg_layout_of(C);
  for (int a = 0; a < 3; a++) x.n[a] = C->n[a], x.share[a] = (const real *)p->share[a];
  for (int e = 0; e < 27; e++) x.entry[e] = (real *)C->box->array[e], x.weight[e] = (real *)p->weight[e];
  return x;
}

/* --- rows ------------------------------------------------------------------------------------------------------------------ */

/* The row of a 7-point operator as that of a box. Returns its sum: what walls, shift and sigma add. */
GMG_INLINE double gmg_row_as_box(const gmg_operator *A, const size_t at[3], double row[27])
{
  double sum = A->shift, centre = 0;
  for (int e = 0; e < 27; e++) row[e] = 0;
  for (int a = 0; a < A->dim; a++) {
    const size_t i = at[a];
    const real *face = (const real *)A->face[a];
    double lo = (double)((const real *)A->lo[a])[i], hi = (double)((const real *)A->hi[a])[i];
    double walls = face ? 0 : (double)((const real *)A->diag[a])[i] - lo - hi;
    if (face) {
      const gmg_layout l = gmg_face_layout_of(A, a);
      const size_t below = gmg_offset(l, at[0], at[1], at[2]);
      const double b = (double)face[below], c = (double)face[below + gmg_pitch(l, a)];
      walls = ((double)((const real *)A->lo_diag[a])[i] - lo) * b + ((double)((const real *)A->hi_diag[a])[i] - hi) * c;
      lo *= b, hi *= c;
    }
    const int step = a == 0 ? 1 : a == 1 ? 3 : 9;
    row[13 - step] = -lo, row[13 + step] = -hi;
    centre += lo + hi, sum += walls;
  }
  if (A->sigma) sum += (double)((const real *)A->sigma)[gmg_offset(gmg_layout_of(A), at[0], at[1], at[2])];
  row[13] = centre + sum;
  return sum;
}

/* Row `at` of the fine operator. Returns its sum, or 0 where that is rounding. */
GMG_INLINE double gmg_black_box_row(const gmg_black_box_levels *x, const size_t at[3], double row[27])
{
  if (!x->is_box) return gmg_row_as_box(&x->A, at, row);
  const double rounding = 8 * (sizeof(real) == 4 ? 6e-8 : 1.1e-16);
  const size_t c = gmg_offset(x->box.own, at[0], at[1], at[2]);
  double sum = 0, size = 0;
  for (int e = 0; e < 27; e++) {
    row[e] = x->box.entry[e] ? (double)x->box.entry[e][c] : 0;
    sum += row[e], size += row[e] < 0 ? -row[e] : row[e];
  }
  return sum > rounding * size ? sum : 0;
}

/* --- interpolation --------------------------------------------------------------------------------------------------------- */

/* The coarse unknown after J along an axis; n: there is none. */
GMG_INLINE size_t gmg_black_box_next(const gmg_black_box_levels *x, int a, size_t J)
{
  return J + 1 < x->n[a] ? J + 1 : x->A.wraps[a] ? 0 : x->n[a];
}

/* The number of a weight: bit a of odd says whether the index along axis a is odd, bit a of up from which side it interpolates. */
GMG_INLINE int gmg_black_box_number(int odd, int up)
{
  int number = 0;
  for (int a = 0, power = 1; a < 3; a++, power *= 3) number += (odd >> a & 1) * (1 + (up >> a & 1)) * power;
  return number;
}

/* The weight with these digits of a fine unknown with this parent. */
GMG_INLINE double gmg_black_box_weight(const gmg_black_box_levels *x, int number, size_t i, size_t j, size_t k)
{
  return number ? (double)x->weight[number][gmg_offset(x->coarse, i, j, k)] : 1;
}

/* Whether unknowns with odd indices along the axes in `mask` exist, and have as many of them as `odd`. */
static inline int gmg_black_box_has(const gmg_operator *A, int mask, int odd)
{
  for (int a = 0; a < 3; a++) {
    if ((mask >> a & 1) && !A->coarsened[a]) return 0;
    odd -= mask >> a & 1;
  }
  return odd == 0;
}

/* Whether there is a fine unknown with parent J that has odd indices along the axes in `odd`. */
GMG_INLINE int gmg_black_box_exists(const gmg_black_box_levels *x, int odd, const size_t J[3])
{
  for (int a = 0; a < 3; a++)
    if ((odd >> a & 1) && 2 * J[a] + 1 >= x->A.n[a]) return 0;
  return 1;
}

/* Sets the weights of a fine unknown that does not exist to 0. */
GMG_INLINE void gmg_black_box_clear(const gmg_black_box_levels *x, int odd, const size_t J[3])
{
  for (int up = 0; up < 8; up++)
    if (!(up & ~odd)) x->weight[gmg_black_box_number(odd, up)][gmg_offset(x->coarse, J[0], J[1], J[2])] = 0;
}

/* Row `at` for interpolation along the axes in `odd`: summed over all others, part[e] with digit 1 along these. Returns the sum of
   the row. A sum over entries of both signs would be too weak, or of the wrong sign: then the largest of them counts (de Zeeuw
   1990). Without this rule a lognormal medium of six decades takes 254 instead of 20 iterations. */
GMG_INLINE double gmg_black_box_summed(const gmg_black_box_levels *x, int odd, const size_t at[3], double part[27])
{
  double row[27], largest[27];
  const double sum = gmg_black_box_row(x, at, row);
GMG_UNROLL_ON_HOST
  for (int e = 0; e < 27; e++) part[e] = largest[e] = 0;
GMG_UNROLL_ON_HOST
  for (int e = 0; e < 27; e++) {
    const int to = (odd & 1 ? e % 3 : 1) + 3 * (odd & 2 ? e / 3 % 3 : 1) + 9 * (odd & 4 ? e / 9 : 1);
    const double size = row[e] < 0 ? -row[e] : row[e];
    part[to] += row[e];
    if (to != e && size > largest[to]) largest[to] = size;
  }
GMG_UNROLL_ON_HOST
  for (int e = 0; e < 27; e++) {
    if (e == 13 || largest[e] == 0) continue;
    const double size = part[e] < 0 ? -part[e] : part[e];
    part[e] = size > largest[e] ? -size : -largest[e];
  }
  return sum;
}

/* Computes the weights of the fine unknown with parent J that has odd indices along the axes in `odd`. Where the row has sum 0,
   they add up to 1. */
GMG_INLINE void gmg_black_box_weigh(const gmg_black_box_levels *x, int odd, const size_t J[3])
{
  size_t at[3];
  for (int a = 0; a < 3; a++) at[a] = (x->A.coarsened[a] ? 2 * J[a] : J[a]) + (size_t)(odd >> a & 1);
  double part[27], centre = gmg_black_box_summed(x, odd, at, part);
GMG_UNROLL_ON_HOST
  for (int e = 0; e < 27; e++) centre -= e == 13 ? 0 : part[e];
  const double inverse = centre > 0 ? -1 / centre : 0;
  const size_t own = gmg_offset(x->coarse, J[0], J[1], J[2]);
GMG_UNROLL_ON_HOST
  for (int up = 0; up < 8; up++) {
    if (up & ~odd) continue;
    double sum = 0;
GMG_UNROLL_ON_HOST
    for (int moved = 1; moved < 8; moved++) { /* the neighbours on this side: those at a distance along the axes in `moved` */
      if (moved & ~odd) continue;
      size_t near[3];
      int e = 13;
      for (int a = 0, power = 1; a < 3; a++, power *= 3) {
        const int above = (moved & up) >> a & 1;
        near[a] = above ? gmg_black_box_next(x, a, J[a]) : J[a];
        e += (moved >> a & 1) * (above ? power : -power);
      }
      const int number = gmg_black_box_number(odd & ~moved, up);
      if (part[e] != 0) sum += part[e] * gmg_black_box_weight(x, number, near[0], near[1], near[2]);
    }
    x->weight[gmg_black_box_number(odd, up)][own] = (real)(inverse * sum);
  }
}

/* --- one axis of a coarse unknown ------------------------------------------------------------------------------------------ */

/* The coarse unknowns from which a fine unknown is interpolated along an axis: how far they are from the coarse unknown that the
   axis is for (-1, 0 or 1), and the digits of the weights. parent: of the fine unknown. */
typedef struct {
  int count, to[2], digit[2];
  size_t parent;
} gmg_black_box_sources;

/* Column J of P along an axis, by the digit of the weight: fine unknown 2 J (digit 0), 2 J + 1 (interpolated from the coarse
   unknown before it: digit 1) and 2 J - 1 (digit 2), if they exist. share: their control volume over that of J. beside[m][d]: the
   sources of the neighbour at distance d - 1 of fine unknown m. */
typedef struct {
  int exists[3];
  size_t fine[3], parent[3];
  real share[3];
  gmg_black_box_sources beside[3][3];
} gmg_black_box_axis;

/* The sources of fine unknown i + step, seen from coarse unknown J. */
GMG_INLINE gmg_black_box_sources gmg_black_box_sources_at(const gmg_black_box_levels *x, int a, size_t J, size_t i, int step)
{
  const long n = (long)x->A.n[a], nc = (long)x->n[a];
  long k = (long)i + step, around = 0;
  gmg_black_box_sources s = {0, {0, 0}, {0, 0}, 0};
  if ((k < 0 || k >= n) && !x->A.wraps[a]) return s;
  if (k < 0) k += n, around = -nc;
  else if (k >= n) k -= n, around = nc;
  const int odd = x->A.coarsened[a] && k % 2;
  s.parent = (size_t)(x->A.coarsened[a] ? k / 2 : k);
  for (int up = 0; up <= odd; up++) {
    long to = (long)s.parent + up + around - (long)J;
    if (up && (long)s.parent + 1 == nc && !x->A.wraps[a]) continue;
    if (nc == 1) to = 0;
    else if (to > 1) to -= nc; /* the fine unknown may itself lie across the seam */
    else if (to < -1) to += nc;
    s.to[s.count] = (int)to, s.digit[s.count] = odd ? 1 + up : 0;
    s.count++;
  }
  return s;
}

/* The coarse unknown that is source m. */
GMG_INLINE size_t gmg_black_box_source(const gmg_black_box_levels *x, int a, gmg_black_box_sources s, int m)
{
  return s.digit[m] == 2 ? gmg_black_box_next(x, a, s.parent) : s.parent;
}

/* Column J along an axis, without `beside`. */
GMG_INLINE void gmg_black_box_column(const gmg_black_box_levels *x, int a, size_t J, gmg_black_box_axis *c)
{
  const size_t n = x->A.n[a];
  const int coarsened = x->A.coarsened[a];
  c->exists[0] = 1, c->exists[1] = coarsened && 2 * J + 1 < n, c->exists[2] = coarsened && (J > 0 || (x->A.wraps[a] && n % 2 == 0));
  c->parent[0] = c->parent[1] = J, c->parent[2] = (J == 0 ? x->n[a] : J) - 1;
  c->fine[0] = coarsened ? 2 * J : J, c->fine[1] = 2 * J + 1, c->fine[2] = 2 * c->parent[2] + 1;
  c->share[0] = x->share[a][3 * J + 1], c->share[1] = x->share[a][3 * J + 2], c->share[2] = x->share[a][3 * J];
}

GMG_INLINE void gmg_black_box_axis_at(const gmg_black_box_levels *x, int a, size_t J, gmg_black_box_axis *c)
{
  gmg_black_box_column(x, a, J, c);
  for (int m = 0; m < 3; m++)
    for (int d = 0; d < 3 && c->exists[m]; d++) c->beside[m][d] = gmg_black_box_sources_at(x, a, J, c->fine[m], d - 1);
}

/* --- Galerkin product ------------------------------------------------------------------------------------------------------ */

/* Adds share times entry e of a fine row, times the row of P of that neighbour. x, y, z: of entry e. */
GMG_INLINE void gmg_black_box_add(const gmg_black_box_levels *l, const gmg_black_box_sources *x, const gmg_black_box_sources *y,
                                  const gmg_black_box_sources *z, double share, double out[27])
{
  for (int c = 0; c < z->count; c++)
    for (int b = 0; b < y->count; b++)
      for (int a = 0; a < x->count; a++)
        out[13 + x->to[a] + 3 * y->to[b] + 9 * z->to[c]] +=
            share * gmg_black_box_weight(l, x->digit[a] + 3 * y->digit[b] + 9 * z->digit[c], x->parent, y->parent, z->parent);
}

/* Stores a coarse row. Its centre also takes what the other entries lose in rounding, so that the row keeps its sum. */
GMG_INLINE void gmg_black_box_store(const gmg_black_box_levels *l, const double row[27], size_t own)
{
  double centre = row[13];
  for (int e = 0; e < 27; e++) {
    if (e == 13 || !l->entry[e]) continue;
    const real rounded = (real)row[e];
    l->entry[e][own] = rounded;
    centre += row[e] - (double)rounded;
  }
  l->entry[13][own] = (real)centre;
}

/* Computes the coarse row with these axes, stored at `own`. */
GMG_INLINE void gmg_black_box_product(const gmg_black_box_levels *l, const gmg_black_box_axis *x, const gmg_black_box_axis *y,
                                      const gmg_black_box_axis *z, size_t own)
{
  double out[27], row[27];
  for (int e = 0; e < 27; e++) out[e] = 0;
  for (int c = 0; c < 3; c++)
    for (int b = 0; b < 3; b++)
      for (int a = 0; a < 3; a++) {
        if (!(x->exists[a] && y->exists[b] && z->exists[c])) continue;
        const size_t at[3] = {x->fine[a], y->fine[b], z->fine[c]};
        const int number = a + 3 * b + 9 * c;
        const double share = (double)(x->share[a] * y->share[b] * z->share[c]);
        const double w = share * gmg_black_box_weight(l, number, x->parent[a], y->parent[b], z->parent[c]);
        (void)gmg_black_box_row(l, at, row);
        for (int e = 0; e < 27; e++)
          if (row[e] != 0)
            gmg_black_box_add(l, &x->beside[a][e % 3], &y->beside[b][e / 3 % 3], &z->beside[c][e / 9], w * row[e], out);
      }
  gmg_black_box_store(l, out, own);
}

/* --- transfers, for one unknown -------------------------------------------------------------------------------------------- */

/* The transfers load all that they need before they use any of it, so a thread waits for memory once. dim is a constant after
   inlining. */

/* The restriction of r to the coarse unknown with these axes. */
GMG_INLINE scalar gmg_black_box_restricted(const int dim, const gmg_black_box_levels *l, const gmg_black_box_axis *x,
                                           const gmg_black_box_axis *y, const gmg_black_box_axis *z, const scalar *r)
{
  enum { READS = 27 };
  const gmg_layout fine = gmg_layout_of(&l->A);
  const int count = dim > 2 ? 27 : dim > 1 ? 9 : 3;
  scalar value[READS], sum = 0;
  real weight[READS];
#pragma unroll
  for (int m = 0; m < count; m++) {
    const int a = m % 3, b = m / 3 % 3, c = m / 9, there = x->exists[a] && y->exists[b] && z->exists[c];
    value[m] = there ? r[gmg_offset(fine, x->fine[a], y->fine[b], z->fine[c])] : (scalar)0;
    weight[m] = there && m ? l->weight[m][gmg_offset(l->coarse, x->parent[a], y->parent[b], z->parent[c])] : (real)1;
  }
#pragma unroll
  for (int m = 0; m < count; m++) {
    const real share = x->share[m % 3] * y->share[m / 3 % 3] * z->share[m / 9];
    sum += share * weight[m] * value[m];
  }
  return sum;
}

/* Adds the interpolation of c to the fine unknowns with parent J. */
GMG_INLINE void gmg_black_box_interpolate(const int dim, const gmg_black_box_levels *x, const size_t J[3], const scalar *c,
                                          scalar *u)
{
  enum { CORNERS = 8, WEIGHTS = 27 };
  const gmg_layout fine = gmg_layout_of(&x->A);
  const size_t own = gmg_offset(x->coarse, J[0], J[1], J[2]);
  const int count = 1 << dim;
  scalar corner[CORNERS], value[CORNERS]; /* bit a of corner: the coarse unknown after J along axis a; 0 where there is none */
  real weight[WEIGHTS];
  size_t next[3], place[CORNERS];
  int exists[CORNERS];
  for (int a = 0; a < 3; a++) next[a] = x->A.coarsened[a] ? gmg_black_box_next(x, a, J[a]) : x->n[a];
#pragma unroll
  for (int up = 0; up < count; up++) {
    const size_t i = up & 1 ? next[0] : J[0], j = up & 2 ? next[1] : J[1], k = up & 4 ? next[2] : J[2];
    corner[up] = i < x->n[0] && j < x->n[1] && k < x->n[2] ? c[gmg_offset(x->coarse, i, j, k)] : (scalar)0;
  }
#pragma unroll
  for (int odd = 0; odd < count; odd++) {
    size_t at[3];
    exists[odd] = 1;
    for (int a = 0; a < 3; a++) {
      at[a] = (x->A.coarsened[a] ? 2 * J[a] : J[a]) + (size_t)(odd >> a & 1);
      exists[odd] = exists[odd] && at[a] < x->A.n[a] && (!(odd >> a & 1) || x->A.coarsened[a]);
    }
    place[odd] = gmg_offset(fine, at[0], at[1], at[2]);
    value[odd] = exists[odd] ? u[place[odd]] : (scalar)0;
#pragma unroll
    for (int up = 0; up < count; up++) {
      const int number = gmg_black_box_number(odd, up);
      if (!(up & ~odd)) weight[number] = exists[odd] && number ? x->weight[number][own] : (real)1;
    }
  }
#pragma unroll
  for (int odd = 0; odd < count; odd++) {
    scalar sum = 0;
#pragma unroll
    for (int up = 0; up < count; up++)
      if (!(up & ~odd)) sum += weight[gmg_black_box_number(odd, up)] * corner[up];
    if (exists[odd]) u[place[odd]] = value[odd] + sum;
  }
}

#endif
