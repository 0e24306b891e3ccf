/* Line relaxation for variable box stencils on host threads: the coarse levels of black box coarsening (lines.c). As in grid.c, the
   corrections of several lines are computed at once. A line is coupled to lines that are diagonal neighbours, too, so 3D has four
   colours. Called through gmg_smoother_ops. */
enum { DIAGONAL = 1 };
#include "bundle.h"

#include "stencil/box_arrays/rows.h"

/* --- elimination -------------------------------------------------------------------------------------------------------------- */

static const int ENTRY_STEP[3] = {1, 3, 9}; /* between the entries of neighbours along an axis */

/* `count` unknowns along axis 0, from number c on, with the same neighbours along the other axes. The distance between them,
   `stride` below, is a constant after inlining. */
typedef struct {
  gmg_box_array_rows A;
  const scalar *f, *u;
  size_t c, count;
  gmg_box_steps y, z;
} row;

static row row_at(const gmg_box_array_rows *A, const fields *x, const size_t at[3], size_t count)
{
  const row r = {*A, x->f, x->u, gmg_offset(A->layout, at[0], at[1], at[2]), count, gmg_box_array_steps_at(A, 1, at[1]),
                 gmg_box_array_steps_at(A, 2, at[2])};
  return r;
}

/* r = f - A u for unknowns from .. to - 1 of the row, with neighbours along axis 0 at these distances. */
GMG_INLINE void residuals(const int dim, const row *w, gmg_box_steps x, size_t from, size_t to, size_t stride, scalar *restrict r)
{
  const size_t first = w->c + from * stride;
#pragma omp simd
  for (size_t m = 0; m < to - from; m++) {
    const size_t c = first + m * stride;
    r[from + m] = w->f[c] - gmg_box_array_image(dim, &w->A, x, w->y, w->z, c, w->u + c);
  }
}

/* The rows of the unknowns of w. i: index of the first along axis 0. */
GMG_INLINE void load_row(const int dim, const int axis, const row *w, size_t i, size_t stride, real *restrict lo, real *restrict hi,
                         real *restrict diag, scalar *restrict r)
{
  const size_t n = w->A.layout.n[0], last = i + stride * (w->count - 1);
  const size_t low = i == 0, high = last + 1 == n && w->count > low ? w->count - 1 : w->count;
  const gmg_box_steps inside = {{-1, 0, 1}, {1, 1, 1}};
  const real *below = w->A.entry[13 - ENTRY_STEP[axis]] + w->c, *above = w->A.entry[13 + ENTRY_STEP[axis]] + w->c;
  const real *centre = w->A.entry[13] + w->c;
  if (low) residuals(dim, w, gmg_box_array_steps_at(&w->A, 0, 0), 0, 1, stride, r);
  residuals(dim, w, inside, low, high, stride, r);
  if (high < w->count) residuals(dim, w, gmg_box_array_steps_at(&w->A, 0, last), high, w->count, stride, r);
#pragma omp simd
  for (size_t m = 0; m < w->count; m++) lo[m] = -below[m * stride], hi[m] = -above[m * stride], diag[m] = centre[m * stride];
}

/* `count` rows from row k up, of lines along axis 0: contiguous memory, which is then transposed. */
GMG_INLINE void load_along(const int dim, const gmg_box_array_rows *A, const fields *x, const bundle *b, size_t k, size_t count,
                           rows *to)
{
  real lo[ROWS_ALONG], hi[ROWS_ALONG], diag[ROWS_ALONG];
  scalar r[ROWS_ALONG];
  for (size_t m = 0; m < b->lanes; m++) {
    const size_t at[3] = {k, b->first + 2 * m, b->other};
    const row w = row_at(A, x, at, count);
    load_row(dim, 0, &w, k, 1, lo, hi, diag, r);
    for (size_t i = 0; i < count; i++) {
      const size_t here = i * LANES_ALONG + m;
      to->lo[here] = lo[i], to->hi[here] = hi[i], to->diag[here] = diag[i], to->r[here] = r[i];
    }
  }
}

GMG_INLINE size_t load_rows(const int dim, const int form, const int axis, const fields *x, const bundle *b, size_t k, size_t end,
                            rows *to)
{
  const gmg_box_array_rows A = gmg_box_array_rows_of(x->A);
  const size_t count = end - k < rows_of(axis) ? end - k : rows_of(axis);
  (void)form;
  if (axis == 0) {
    load_along(dim, &A, x, b, k, count, to);
    return count;
  }
  size_t at[3];
  at[axis] = k, at[b->along.beside] = b->first, at[b->along.third] = b->other;
  const row w = row_at(&A, x, at, b->lanes);
  load_row(dim, axis, &w, b->first, 2, to->lo, to->hi, to->diag, to->r);
  return count;
}

static void relax_bundle(const fields *x, const bundle *b, const systems *s)
{
  const int axis = b->along.axis, dim = x->A->dim;
  if (dim == 2 && axis == 0) relax(2, 0, 0, x, b, s);
  else if (dim == 2) relax(2, 0, 1, x, b, s);
  else if (axis == 0) relax(3, 0, 0, x, b, s);
  else if (axis == 1) relax(3, 0, 1, x, b, s);
  else relax(3, 0, 2, x, b, s);
}

/* --- a sweep ------------------------------------------------------------------------------------------------------------------ */

static bundle bundle_at(const gmg_operator *A, int axis, lines_part p, size_t t)
{
  bundle b = bundle_along(axis);
  const size_t in_row = bundles_in_row(A, &b), n = A->n[b.along.beside], width = 2 * lanes_of(axis), from = t % in_row * width;
  const size_t odd = (size_t)gmg_odd_seam(A, b.along.beside), phase = p.phase % (1 + odd), colour = p.colour % 2;
  b.other = t / in_row;
  if (b.other % 2 != p.colour / 2 || lines_phase_at(A, b.along.third, b.other) != p.phase / (1 + odd)) return b;
  size_t end = from + width < n ? from + width : n;
  if (phase == 1) { /* n is odd, so the last line has colour 0 */
    if (end == n && colour == 0) b.first = n - 1, b.lanes = 1;
    return b;
  }
  if (end == n) end -= odd;
  b.first = from + colour; /* from is even */
  b.lanes = end > b.first ? (end - b.first + 1) / 2 : 0;
  return b;
}

const gmg_smoother_ops R(gmg_lines_box_host) = {.setup = setup, .sweep = sweep};
