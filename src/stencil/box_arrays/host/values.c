/* The entries of variable box stencils on host threads: checks, the finest level, coarser levels. Compiled once per real type.
   Called through gmg_box_values_ops. */
#include "stencil/box_arrays/given.h"
#include "stencil/box_arrays/rows.h"

#include "core/comm.h"

#include <math.h>

enum { MAX_SHARES = 256 };

static void add(gmg_row_totals *to, gmg_row_totals more)
{
  to->bad += more.bad, to->sum += more.sum;
  to->least = fmin(to->least, more.least), to->most = fmax(to->most, more.most);
}

/* Sums over shares of rows that depend on their number alone, so the result does not depend on the number of threads. */
static gmg_row_totals examine(const gmg_exec *e, const gmg_given_box *g, size_t first, size_t count)
{
  const size_t share = count / MAX_SHARES + 1, shares = (count + share - 1) / share;
  gmg_row_totals part[MAX_SHARES], all = {0, 0, INFINITY, -INFINITY};
#pragma omp parallel for schedule(static) num_threads(e->threads) if (count > GMG_MIN_CELLS_PARALLEL)
  for (size_t s = 0; s < shares; s++) {
    part[s] = (gmg_row_totals){0, 0, INFINITY, -INFINITY};
    for (size_t c = s * share; c < count && c < (s + 1) * share; c++) {
      size_t at[3];
      double sum;
      gmg_indices_of(first + c, g->layout.n, at);
      const int bad = gmg_given_row(g, at, &sum).fault != GMG_ROW_GOOD;
      add(&part[s], (gmg_row_totals){bad, gmg_given_control_volume(g, at) * sum, sum, sum});
    }
  }
  for (size_t s = 0; s < shares; s++) add(&all, part[s]);
  double sums[2] = {all.bad, all.sum}, extremes[2] = {-all.least, all.most};
  e->comm->sum(e, 2, sums), e->comm->max(e, 2, extremes);
  return (gmg_row_totals){sums[0], sums[1], -extremes[0], extremes[1]};
}

static gmg_row_finding explain(const gmg_exec *e, const gmg_given_box *g, size_t row)
{
  (void)e;
  size_t at[3];
  double sum;
  gmg_indices_of(row, g->layout.n, at);
  return gmg_given_row(g, at, &sum);
}

static void load(const gmg_exec *e, const gmg_given_box *g, const gmg_operator *A)
{
  const gmg_layout layout = gmg_layout_of(A);
  const size_t lines = A->n[1] * A->n[2];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < lines; t++)
    for (int n = 0; n < 27; n++) {
      real *const to = (real *)A->box->array[n];
      for (size_t i = 0; to && i < A->n[0]; i++) {
        const gmg_line_place line = gmg_line_place_of(t, A->n);
        const size_t at[3] = {i, line.j, line.k};
        to[gmg_offset(layout, i, line.j, line.k)] = (real)gmg_given_entry(g, at, n);
      }
    }
}

static void galerkin_product(const gmg_exec *e, const gmg_operator *A, const gmg_map prolong[3], const gmg_map restrict_[3],
                             const gmg_operator *C)
{
  const gmg_box_array_rows fine = gmg_box_array_rows_of(A);
  const gmg_layout layout = gmg_layout_of(C);
  const size_t lines = C->n[1] * C->n[2];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < lines; t++) {
    const gmg_line_place line = gmg_line_place_of(t, C->n);
    const gmg_box_galerkin_axis y = gmg_box_galerkin_axis_at(&prolong[1], &restrict_[1], A->wraps[1], (int)line.j);
    const gmg_box_galerkin_axis z = gmg_box_galerkin_axis_at(&prolong[2], &restrict_[2], A->wraps[2], (int)line.k);
    for (size_t i = 0; i < C->n[0]; i++) {
      const gmg_box_galerkin_axis x = gmg_box_galerkin_axis_at(&prolong[0], &restrict_[0], A->wraps[0], (int)i);
      const size_t at = gmg_offset(layout, i, line.j, line.k);
      double row[27];
      gmg_box_galerkin_row(&fine, &x, &y, &z, row);
      for (int n = 0; n < 27; n++)
        if (C->box->array[n]) ((real *)C->box->array[n])[at] = (real)row[n];
    }
  }
}

const gmg_box_values_ops R(gmg_box_values_host) = {
    .examine = examine, .explain = explain, .load = load, .galerkin_product = galerkin_product};
