/* Line relaxation on host threads (lines.c). The corrections of several lines are computed at once: of lines beside each other
   along axis 0 or, if they run along axis 0, along axis 1. Elimination without pivoting (Thomas 1949) goes up the lines and
   computes the residual on the way, substitution goes down again. In double a sweep along one axis moves 24 bytes per unknown,
   because both colours are relaxed in one pass. Called through gmg_smoother_ops.

   Lines of one colour are not coupled, except at the seam of a periodic axis with an odd number of lines. There a colour is relaxed
   in phases, as in red_black/host.c. So results do not depend on the number of threads. */
enum { DIAGONAL = 0 };
#include "bundle.h"

#include "stencil/operator/host/grid_row.h"

/* --- elimination -------------------------------------------------------------------------------------------------------------- */

/* Row k of lane m is unknown i of line l. */
GMG_INLINE void load(const int dim, const int kind, const int axis, const gmg_line *l, const scalar *f, size_t i, scalar left,
                     scalar right, rows *to, size_t k, size_t m)
{
  const size_t at = k * lanes_of(axis) + m;
  const gmg_row a = gmg_line_row(dim, kind, l, i);
  to->lo[at] = a.lo[axis], to->hi[at] = a.hi[axis], to->diag[at] = a.diag;
  to->r[at] = gmg_row_residual(dim, a, gmg_line_near(l, i, left, right), f[i], l->u[i]);
}

static gmg_line line_at(const fields *x, const bundle *b, size_t k, size_t lane)
{
  size_t at[3];
  at[b->along.axis] = k, at[b->along.beside] = b->first + 2 * lane, at[b->along.third] = b->other;
  return gmg_line_at(x->A, x->u, at[1], at[2]);
}

/* `count` rows from row k up, of lines along axis 0. */
GMG_INLINE void load_along(const int dim, const int kind, const fields *x, const bundle *b, size_t k, size_t count, rows *to)
{
  for (size_t m = 0; m < b->lanes; m++) {
    const gmg_line l = line_at(x, b, 0, m);
    const scalar *f = x->f + (l.u - x->u), *u = l.u;
    const size_t low = k == 0, high = k + count == l.n && count > low ? count - 1 : count;
    if (low) load(dim, kind, 0, &l, f, 0, *l.before, gmg_line_right(&l, 0), to, 0, m);
#pragma omp simd
    for (size_t i = low; i < high; i++) load(dim, kind, 0, &l, f, k + i, u[k + i - 1], u[k + i + 1], to, i, m);
    if (high < count) load(dim, kind, 0, &l, f, l.n - 1, gmg_line_left(&l, l.n - 1), *l.after, to, high, m);
  }
}

/* Row k of lines along axis 1 or 2. */
GMG_INLINE void load_across(const int dim, const int kind, const int axis, const fields *x, const bundle *b, size_t k, rows *to)
{
  const gmg_line l = line_at(x, b, k, 0);
  const scalar *f = x->f + (l.u - x->u), *u = l.u;
  const size_t first = b->first, last = first + 2 * (b->lanes - 1), low = first == 0;
  const size_t high = last + 1 == l.n && b->lanes > low ? b->lanes - 1 : b->lanes;
  const size_t ahead = AHEAD * gmg_pitch(gmg_layout_of(x->A), axis);
  for (size_t i = first; i <= last; i += 64 / sizeof(scalar))
    __builtin_prefetch(u + i + ahead, 1), __builtin_prefetch(f + i + ahead);
  if (low) load(dim, kind, axis, &l, f, 0, *l.before, gmg_line_right(&l, 0), to, 0, 0);
#pragma omp simd
  for (size_t m = low; m < high; m++) {
    const size_t i = first + 2 * m;
    load(dim, kind, axis, &l, f, i, u[i - 1], u[i + 1], to, 0, m);
  }
  if (high < b->lanes) load(dim, kind, axis, &l, f, last, gmg_line_left(&l, last), *l.after, to, 0, high);
}

GMG_INLINE size_t load_rows(const int dim, const int kind, const int axis, const fields *x, const bundle *b, size_t k, size_t end,
                            rows *to)
{
  const size_t count = end - k < rows_of(axis) ? end - k : rows_of(axis);
  if (axis) load_across(dim, kind, axis, x, b, k, to);
  else load_along(dim, kind, x, b, k, count, to);
  return count;
}

static void relax_bundle(const fields *x, const bundle *b, const systems *s)
{
#define RELAX(dim, kind)                                                        \
  case GMG_FORM(dim, kind):                                                     \
    if (b->along.axis == 0) relax(dim, kind, 0, x, b, s);                       \
    else if (b->along.axis == 1 && dim > 1) relax(dim, kind, 1, x, b, s);       \
    else if (dim > 2) relax(dim, kind, 2, x, b, s);                             \
    break;
  switch (gmg_form_of(x->A)) { GMG_FORMS(RELAX) }
#undef RELAX
}

/* --- a sweep ------------------------------------------------------------------------------------------------------------------ */

static bundle bundle_at(const gmg_operator *A, int axis, lines_part p, size_t t)
{
  bundle b = bundle_along(axis);
  const size_t in_row = bundles_in_row(A, &b), n = A->n[b.along.beside], width = 2 * lanes_of(axis), from = t % in_row * width;
  b.other = t / in_row;
  const size_t phase = lines_phase_at(A, b.along.third, b.other), at_seam = gmg_odd_seam(A, b.along.beside);
  size_t end = from + width < n ? from + width : n;
  b.first = from + lines_first_of(p.colour, b.other + from);
  if (end == n) end -= at_seam; /* the last line is in the next phase */
  if (p.phase == phase) b.lanes = end > b.first ? (end - b.first + 1) / 2 : 0;
  if (p.phase == phase + at_seam && at_seam && from + width >= n && lines_first_of(p.colour, b.other + n - 1) == 0)
    b.first = n - 1, b.lanes = 1;
  return b;
}

const gmg_smoother_ops R(gmg_lines_host) = {.setup = setup, .sweep = sweep};
