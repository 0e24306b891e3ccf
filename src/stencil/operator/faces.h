/* Coefficients, fluxes and boundary values on the faces of a level, one face at a time. Calls row.h; called by host/faces.c and
   cuda/faces.cu, which apply these functions to all faces. Compiled as C and as CUDA. A face across an axis has an index x along
   it, 0 to n. y and z are the indices of the adjacent unknowns along the other two axes, the faster axis first. */
#ifndef GMG_STENCIL_OPERATOR_FACES_H
#define GMG_STENCIL_OPERATOR_FACES_H

#include "row.h"
#include "stencil/grid_ops.h"

typedef struct {
  size_t x, y, z;
} gmg_face;

GMG_INLINE gmg_face gmg_face_at(int axis, size_t i, size_t j, size_t k)
{
  const gmg_face face = {axis == 0 ? i : axis == 1 ? j : k, axis == 0 ? j : i, axis == 2 ? j : k};
  return face;
}

/* Layout of an array with one value per face of a wall, along y and z. */
GMG_INLINE gmg_layout gmg_wall_layout_of(const gmg_operator *A, int axis)
{
  const size_t n[3] = {A->n[axis == 0 ? 1 : 0], A->n[axis == 2 ? 1 : 2], 1};
  return gmg_layout_packed(n);
}

/* The face on a wall. */
GMG_INLINE gmg_face gmg_wall_face(const gmg_operator *A, int axis, int side, size_t y, size_t z)
{
  const gmg_face face = {side ? A->n[axis] : 0, y, z};
  return face;
}

/* Offset of the face's coefficient. */
GMG_INLINE size_t gmg_face_offset(const gmg_operator *A, int axis, gmg_face at)
{
  return gmg_offset_across(gmg_face_layout_of(A, axis), axis, at.x, at.y, at.z);
}

/* The face whose given coefficient belongs to `at`. The last face of a periodic axis is the first. */
GMG_INLINE gmg_face gmg_given_face(const gmg_operator *A, int axis, gmg_face at)
{
  if (A->wraps[axis] && at.x == A->n[axis]) at.x = 0;
  return at;
}

/* The unknowns on both sides of face x of an axis. At a wall both are the one inside. */
GMG_INLINE size_t gmg_low_side(const gmg_operator *A, int axis, size_t x) { return gmg_below(A, axis, x); }
GMG_INLINE size_t gmg_high_side(const gmg_operator *A, int axis, size_t x) { return x > 0 ? gmg_above(A, axis, x - 1) : 0; }

/* Conductances of two halves in series. Between two cells the face divides the distance in proportion to their widths. Between two
   vertices it lies in the middle. */
GMG_INLINE real gmg_in_series(real low_width, real low, real high_width, real high)
{
  return (low_width + high_width) / (low_width / low + high_width / high);
}

/* l: layout of beta or of u, here and below */
GMG_INLINE real gmg_harmonic_face(const gmg_operator *A, int axis, gmg_face at, gmg_layout l, const real *beta)
{
  const size_t low = gmg_low_side(A, axis, at.x), high = gmg_high_side(A, axis, at.x);
  const real *w = (const real *)A->volume[axis];
  const int cells = A->centering == GMG_CELL;
  return gmg_in_series(cells ? w[low] : 1, beta[gmg_offset_across(l, axis, low, at.y, at.z)],
                       cells ? w[high] : 1, beta[gmg_offset_across(l, axis, high, at.y, at.z)]);
}

GMG_INLINE int gmg_extrapolates(const gmg_operator *A, const gmg_faces *faces, int axis, int side)
{
  return faces->bc[axis][side] == GMG_ROBIN && A->centering == GMG_CELL && A->n[axis] > 1;
}

/* The coefficient on a Robin wall half a cell away. The flux is proportional to it, so the cell's own value would make the solution
   first order. It is extrapolated linearly from two cells, by a factor of 2 at most, because a larger change is a jump. */
GMG_INLINE real gmg_robin_face(const gmg_operator *A, int axis, int side, size_t y, size_t z, gmg_layout l, const real *beta)
{
  const size_t n = A->n[axis], end = side ? n - 1 : 0, next = side ? n - 2 : 1;
  const real *w = (const real *)A->volume[axis], reach = w[end] / (w[end] + w[next]);
  const real own = beta[gmg_offset_across(l, axis, end, y, z)];
  const real there = own + reach * (own - beta[gmg_offset_across(l, axis, next, y, z)]);
  return there < own / 2 ? own / 2 : there > 2 * own ? 2 * own : there;
}

/* Whether the wall is coarsened. A cell that stays alone at the end of a coarsened axis keeps its wall. */
GMG_INLINE int gmg_coarsens_wall(const gmg_operator *A, int axis, int side) { return !side || A->n[axis] % 2 == 0; }

/* The wall coefficient on the next coarser level: the average of the fine walls. Each is first combined in series with the face
   inside, if that is larger. Too small a coarse coefficient makes corrections overshoot; too large a one only makes them small. */
GMG_INLINE real gmg_coarse_wall(const gmg_operator *A, const gmg_map map[3], int axis, int side, size_t y, size_t z)
{
  const gmg_map *mp = &map[axis == 0 ? 1 : 0], *mq = &map[axis == 2 ? 1 : 2];
  const real *fine = (const real *)A->face[axis], *wp = (const real *)mp->weight, *wq = (const real *)mq->weight;
  const size_t wall = side ? A->n[axis] : 0, next = side ? wall - 1 : 1;
  real sum = 0;
  for (int d = 0; d < mq->width; d++)
    for (int c = 0; c < mp->width; c++) {
      const real w = wp[y * (size_t)mp->width + (size_t)c] * wq[z * (size_t)mq->width + (size_t)d];
      const gmg_face on_wall = {wall, (size_t)mp->wrap[mp->first[y] + c], (size_t)mq->wrap[mq->first[z] + d]};
      const gmg_face behind = {next, on_wall.y, on_wall.z};
      const real at_wall = fine[gmg_face_offset(A, axis, on_wall)], inside = fine[gmg_face_offset(A, axis, behind)];
      if (w != 0) sum += w * (inside > at_wall ? gmg_in_series(1, at_wall, 1, inside) : at_wall);
    }
  return sum;
}

/* The given boundary value; 0 if none is given. */
GMG_INLINE scalar gmg_wall_value(const gmg_operator *A, const gmg_faces *faces, int axis, int side, size_t y, size_t z)
{
  const scalar *g = (const scalar *)faces->g[axis][side];
  return g ? g[gmg_offset(gmg_wall_layout_of(A, axis), y, z, 0)] : 0;
}

GMG_INLINE real gmg_wall_beta(const gmg_operator *A, int axis, int side, size_t y, size_t z)
{
  return A->face[axis] ? ((const real *)A->face[axis])[gmg_face_offset(A, axis, gmg_wall_face(A, axis, side, y, z))] : 1;
}

/* du/dx on a face with coefficient b. Inside, lo w is 1 / distance of the two unknowns. On a wall it follows from the balance of
   the end unknown, du/dn = w (fold g - wall u), or from the given flux. */
GMG_INLINE scalar gmg_slope(const gmg_operator *A, const gmg_faces *faces, int axis, gmg_face at, real b, gmg_layout l,
                            const scalar *u)
{
  const size_t low = gmg_low_side(A, axis, at.x), high = gmg_high_side(A, axis, at.x);
  const real *volume = (const real *)A->volume[axis];
  const scalar above = u[gmg_offset_across(l, axis, high, at.y, at.z)];
  if (low != high || A->wraps[axis]) {
    const scalar below = u[gmg_offset_across(l, axis, low, at.y, at.z)];
    return ((const real *)A->lo[axis])[high] * volume[high] * (above - below);
  }
  const int side = at.x > 0;
  const scalar g = gmg_wall_value(A, faces, axis, side, at.y, at.z) / (faces->bc[axis][side] == GMG_NEUMANN ? b : 1);
  const scalar outward = volume[high] * ((real)faces->fold[axis][side] * g - (real)faces->wall[axis][side] * above);
  return side ? outward : -outward;
}

/* Adds a wall's boundary value to the right-hand side of the adjacent unknown. */
GMG_INLINE void gmg_fold_face(const gmg_operator *A, const gmg_faces *faces, int axis, int side, size_t y, size_t z, scalar *f)
{
  const real b = faces->bc[axis][side] == GMG_NEUMANN ? 1 : gmg_wall_beta(A, axis, side, y, z);
  const size_t at = gmg_offset_across(gmg_layout_of(A), axis, side ? A->n[axis] - 1 : 0, y, z);
  f[at] += (real)faces->fold[axis][side] * b * gmg_wall_value(A, faces, axis, side, y, z);
}

/* --- u with one layer of ghosts -------------------------------------------------------------------------------------- */

/* Indices of an unknown, or of a ghost, which has index -1 or n along some axes. */
typedef struct {
  long at[3];
} gmg_ghost;

GMG_INLINE gmg_layout gmg_padded_layout_of(const gmg_operator *A)
{
  const size_t n[3] = {A->n[0] + 2, A->n[1] + 2, A->n[2] + 2};
  return gmg_layout_packed(n);
}

GMG_INLINE gmg_ghost gmg_ghost_at(size_t i, size_t j, size_t k)
{
  const gmg_ghost p = {{(long)i - 1, (long)j - 1, (long)k - 1}};
  return p;
}

GMG_INLINE int gmg_is_outside(const gmg_operator *A, int a, gmg_ghost p) { return p.at[a] < 0 || p.at[a] >= (long)A->n[a]; }

/* The unknown from which a ghost is computed along an axis: across the seam, or at the wall. */
GMG_INLINE gmg_ghost gmg_inwards(const gmg_operator *A, int axis, gmg_ghost p)
{
  p.at[axis] = (long)(p.at[axis] < 0 ? gmg_below(A, axis, 0) : gmg_above(A, axis, A->n[axis] - 1));
  return p;
}

/* Value at p, which is a ghost along at most one axis: from u and the boundary value. */
GMG_INLINE scalar gmg_face_ghost(const gmg_operator *A, const gmg_faces *faces, gmg_ghost p, const scalar *u)
{
  const gmg_layout l = gmg_layout_of(A);
  for (int a = 0; a < 3; a++) {
    if (!gmg_is_outside(A, a, p)) continue;
    const int side = p.at[a] > 0;
    const gmg_ghost in = gmg_inwards(A, a, p);
    const gmg_face face = gmg_face_at(a, (size_t)in.at[0], (size_t)in.at[1], (size_t)in.at[2]);
    const real b = faces->bc[a][side] == GMG_NEUMANN ? gmg_wall_beta(A, a, side, face.y, face.z) : 1;
    const real cu = A->wraps[a] ? 1 : (real)faces->ghost_u[a][side], cg = (real)faces->ghost_g[a][side];
    return cu * u[gmg_offset_across(l, a, face.x, face.y, face.z)] +
           (faces->g[a][side] ? cg / b * gmg_wall_value(A, faces, a, side, face.y, face.z) : 0);
  }
  return u[gmg_offset(l, (size_t)p.at[0], (size_t)p.at[1], (size_t)p.at[2])];
}

/* Value beyond two faces at once, of axes a and b. Across a seam it is a wrapped value. Otherwise it is extrapolated by a plane:
   P(-,-) = P(-,0) + P(0,-) - P(0,0). */
GMG_INLINE scalar gmg_planar(int a_wraps, int b_wraps, scalar a_inside, scalar b_inside, scalar inside)
{
  return a_wraps ? a_inside : b_wraps ? b_inside : b_inside + a_inside - inside;
}

/* Value at p, which is a ghost along at most two axes: beyond an edge. */
GMG_INLINE scalar gmg_edge_ghost(const gmg_operator *A, const gmg_faces *faces, gmg_ghost p, const scalar *u)
{
  const int a = gmg_is_outside(A, 2, p) ? 2 : 1, b = a == 2 && gmg_is_outside(A, 1, p) ? 1 : 0;
  if (!gmg_is_outside(A, a, p) || !gmg_is_outside(A, b, p)) return gmg_face_ghost(A, faces, p, u);
  const gmg_ghost in_a = gmg_inwards(A, a, p), in_b = gmg_inwards(A, b, p), in = gmg_inwards(A, b, in_a);
  return gmg_planar(A->wraps[a], A->wraps[b], gmg_face_ghost(A, faces, in_a, u), gmg_face_ghost(A, faces, in_b, u),
                    gmg_face_ghost(A, faces, in, u));
}

/* Value of u at any p, unknown or ghost. */
GMG_INLINE scalar gmg_ghost_value(const gmg_operator *A, const gmg_faces *faces, gmg_ghost p, const scalar *u)
{
  for (int a = 0; a < 3; a++)
    if (!gmg_is_outside(A, a, p)) return gmg_edge_ghost(A, faces, p, u);
  const gmg_ghost in_a = gmg_inwards(A, 2, p), in_b = gmg_inwards(A, 1, p), in = gmg_inwards(A, 1, in_a);
  return gmg_planar(A->wraps[2], A->wraps[1], gmg_edge_ghost(A, faces, in_a, u), gmg_edge_ghost(A, faces, in_b, u),
                    gmg_edge_ghost(A, faces, in, u));
}

#endif
