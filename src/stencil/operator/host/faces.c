/* Coefficients, fluxes and boundary values on faces, on host threads (operator/faces.h). Arrays of axis a have n[a] + 1 values
   along it. Called through gmg_grid_ops. */
#include "stencil/operator/faces.h"

#include <string.h>

/* Number of rows of a face array. A row is contiguous along axis 0. */
static size_t rows_of(gmg_layout l) { return l.n[1] * l.n[2]; }

static void harmonic_axis(const gmg_exec *e, const gmg_operator *A, int a, gmg_layout unknowns, const real *beta, real *face)
{
  const gmg_layout faces = gmg_face_layout_of(A, a);
  const real *w = A->volume[a];
  const int cells = A->centering == GMG_CELL;
  const size_t n0 = A->n[0];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t row = 0; row < rows_of(faces); row++) {
    const gmg_line_place line = gmg_line_place_of(row, faces.n);
    const size_t j = line.j, k = line.k, x = a == 1 ? j : k;
    real *restrict out = face + gmg_offset(faces, 0, j, k);
    if (a > 0) {
      const size_t low = gmg_low_side(A, a, x), high = gmg_high_side(A, a, x), other = a == 1 ? k : j;
      const real *restrict below = beta + gmg_offset_across(unknowns, a, low, 0, other);
      const real *restrict above = beta + gmg_offset_across(unknowns, a, high, 0, other);
      const real p = cells ? w[low] : 1, q = cells ? w[high] : 1;
      for (size_t i = 0; i < n0; i++) out[i] = gmg_in_series(p, below[i], q, above[i]);
      continue;
    }
    const real *restrict in = beta + gmg_offset(unknowns, 0, j, k);
    for (size_t i = 1; i < n0; i++) out[i] = gmg_in_series(cells ? w[i - 1] : 1, in[i - 1], cells ? w[i] : 1, in[i]);
    for (size_t i = 0; i <= n0; i += n0) out[i] = gmg_harmonic_face(A, 0, gmg_face_at(0, i, j, k), unknowns, beta);
  }
}

void R(gmg_harmonic_faces_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, gmg_array beta)
{
  for (int a = 0; a < A->dim; a++) {
    const gmg_layout p = gmg_wall_layout_of(A, a);
    real *face = (real *)A->face[a];
    harmonic_axis(e, A, a, beta.layout, beta.values, face);
    for (int side = 0; side < 2; side++)
      for (size_t z = 0; z < p.n[1] && gmg_extrapolates(A, faces, a, side); z++)
        for (size_t y = 0; y < p.n[0]; y++)
          face[gmg_face_offset(A, a, gmg_wall_face(A, a, side, y, z))] = gmg_robin_face(A, a, side, y, z, beta.layout, beta.values);
  }
}

void R(gmg_copy_faces_host)(const gmg_exec *e, const gmg_operator *A, int a, gmg_array beta_face)
{
  const gmg_layout l = gmg_face_layout_of(A, a);
  real *to = (real *)A->face[a];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t row = 0; row < rows_of(l); row++) {
    const gmg_line_place line = gmg_line_place_of(row, l.n);
    const gmg_face from = gmg_given_face(A, a, gmg_face_at(a, 0, line.j, line.k));
    const real *in = (const real *)beta_face.values + gmg_offset_across(beta_face.layout, a, from.x, from.y, from.z);
    real *out = to + gmg_offset(l, 0, line.j, line.k);
    memcpy(out, in, l.n[0] * sizeof(real));
    if (a == 0 && A->wraps[0]) out[A->n[0]] = in[0];
  }
}

void R(gmg_coarsen_walls_host)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_map map[3], int a)
{
  (void)e;
  const gmg_layout p = gmg_wall_layout_of(C, a);
  real *coarse = (real *)C->face[a];
  for (int side = 0; side < 2; side++)
    for (size_t z = 0; z < p.n[1] && gmg_coarsens_wall(A, a, side); z++)
      for (size_t y = 0; y < p.n[0]; y++)
        coarse[gmg_face_offset(C, a, gmg_wall_face(C, a, side, y, z))] = gmg_coarse_wall(A, map, a, side, y, z);
}

void R(gmg_flux_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, int a, const void *u, void *flux,
                      void *gradient)
{
  const gmg_layout l = gmg_face_layout_of(A, a), at = gmg_layout_of_u(A);
  const real *beta = A->face[a];
  scalar *F = flux, *G = gradient;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t row = 0; row < rows_of(l); row++) {
    const gmg_line_place line = gmg_line_place_of(row, l.n);
    for (size_t i = 0; i < l.n[0]; i++) {
      const size_t c = gmg_offset(l, i, line.j, line.k);
      const real b = beta ? beta[c] : 1;
      const scalar slope = gmg_slope(A, faces, a, gmg_face_at(a, i, line.j, line.k), b, at, u);
      if (G) G[c] = slope;
      if (F) F[c] = -b * slope;
    }
  }
}

void R(gmg_fold_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, void *f)
{
  (void)e;
  for (int a = 0; a < A->dim; a++)
    for (int side = 0; side < 2; side++) {
      const gmg_layout p = gmg_wall_layout_of(A, a);
      for (size_t z = 0; z < p.n[1] && faces->g[a][side]; z++)
        for (size_t y = 0; y < p.n[0]; y++) gmg_fold_face(A, faces, a, side, y, z, f);
    }
}

void R(gmg_pad_host)(const gmg_exec *e, const gmg_operator *A, const gmg_faces *faces, const void *u, void *padded)
{
  const gmg_layout l = gmg_padded_layout_of(A);
  scalar *to = padded;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t row = 0; row < rows_of(l); row++) {
    const gmg_line_place line = gmg_line_place_of(row, l.n);
    for (size_t i = 0; i < l.n[0]; i++)
      to[gmg_offset(l, i, line.j, line.k)] = gmg_ghost_value(A, faces, gmg_ghost_at(i, line.j, line.k), u);
  }
}
