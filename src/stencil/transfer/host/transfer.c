/* Transfers on host threads: y = M x, where M is the Kronecker product of three maps, and restriction of the residual. For a piece
   of an output line the input lines are first combined along axes 1 and 2 in a buffer, then mapped along axis 0. Called through
   gmg_operator_ops and gmg_grid_ops. */
#include "stencil/grid_ops.h"

#include "stencil/operator/host/grid_row.h"

#include <string.h>

enum { COLUMNS_AT_A_TIME = 128, MIN_ROWS_PARALLEL = 4096 };
enum { MAX_OUTPUTS = 1024, MAX_INPUTS = 2 * MAX_OUTPUTS + 32 }; /* of a piece; a map reads about two inputs per output at most */

/* out = sum of w x, or out += sum of w x: four lines at once. */
static void add_lines(const scalar *const x[4], const real w[4], int n, int add, scalar *restrict out)
{
  const scalar *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
  const real w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
  if (add) {
#pragma omp simd
    for (int c = 0; c < n; c++) out[c] += gmg_two_products(w0, x0[c], w1, x1[c]) + gmg_two_products(w2, x2[c], w3, x3[c]);
  } else {
#pragma omp simd
    for (int c = 0; c < n; c++) out[c] = gmg_two_products(w0, x0[c], w1, x1[c]) + gmg_two_products(w2, x2[c], w3, x3[c]);
  }
}

/* add_lines() for the columns begin .. end - 1 of a buffer, which lie across the seam. */
static void add_wrapped(const int *wrap, const scalar *const x[4], const real w[4], int begin, int end, int add, scalar *buffer)
{
  for (int c = begin; c < end; c++) {
    const size_t at = (size_t)wrap[c];
    const scalar sum = gmg_two_products(w[0], x[0][at], w[1], x[1][at]) + gmg_two_products(w[2], x[2][at], w[3], x[3][at]);
    buffer[c] = add ? buffer[c] + sum : sum;
  }
}

/* buffer[c - base] = sum of weights x over the lines, for the columns base .. base + count - 1 (unwrapped) */
static void combine(const gmg_map map[3], gmg_layout from, const scalar *x, size_t j, size_t k, int base, int count,
                    scalar *restrict buffer)
{
  const gmg_map *mx = &map[0], *my = &map[1], *mz = &map[2];
  const real *wy = (const real *)my->weight + j * (size_t)my->width, *wz = (const real *)mz->weight + k * (size_t)mz->width;
  const int begin = base < 0 ? -base : 0, end = base + count > mx->cols ? mx->cols - base : count; /* need no wrap */
  const int lines = my->width * mz->width;
  for (int first = 0; first < lines; first += 4) {
    const scalar *line[4], *inner[4];
    real w[4];
    for (int i = 0; i < 4; i++) { /* after the last line: the first again, with weight 0 */
      const int at = first + i < lines ? first + i : first, p = at % my->width, q = at / my->width;
      const size_t row = (size_t)my->wrap[my->first[j] + p], plane = (size_t)mz->wrap[mz->first[k] + q];
      line[i] = x + gmg_offset(from, 0, row, plane);
      inner[i] = line[i] + base + begin;
      w[i] = first + i < lines ? wz[q] * wy[p] : 0;
    }
    add_wrapped(mx->wrap + base, line, w, 0, begin, first > 0, buffer);
    add_lines(inner, w, end - begin, first > 0, buffer + begin);
    add_wrapped(mx->wrap + base, line, w, end, count, first > 0, buffer);
  }
}

/* s + the products of a row of weights and values. */
GMG_INLINE scalar add_row(const int width, const real *w, const scalar *x, scalar s)
{
  for (int c = 0; c < width; c++) s = gmg_add_product(s, w[c], x[c]);
  return s;
}

static void map_rows(const gmg_map *m, const scalar *buffer, int base, size_t begin, size_t end, int add, scalar *y)
{
  const real *weight = m->weight;
  for (size_t i = begin; i < end; i++) {
    y[i] = add_row(m->width, weight + i * (size_t)m->width, buffer + (m->first[i] - base), add ? y[i] : 0);
  }
}

/* Runs of rows in which `first` grows by `step` every `period` rows, and no row wraps: the rows that repeat or, if these are less
   than half of the map, the two longest runs. Where an axis of any size is coarsened, runs are about half as long as the axis. */
typedef struct {
  int repeats, period, step; /* repeats: so do the weights (gmg_map::repeat) */
  size_t begin[2], end[2];
} map_runs;

static map_runs runs_of(const gmg_map *m)
{
  if (2 * (m->end - m->begin) > m->rows)
    return (map_runs){.repeats = 1, .period = m->period, .step = m->step, .end[1] = (size_t)m->end, .begin[1] = (size_t)m->begin};
  map_runs runs = {.period = m->cols > m->rows ? 1 : 2, .step = m->cols > m->rows ? 2 : 1};
  for (int begin = 0, end; begin < m->rows; begin = end) {
    for (end = begin; end < m->rows && m->first[end] >= 0 && m->first[end] + m->width <= m->cols; end++)
      if (end >= begin + runs.period && m->first[end] != m->first[end - runs.period] + runs.step) break;
    const int shorter = runs.end[0] - runs.begin[0] > runs.end[1] - runs.begin[1];
    if ((size_t)(end - begin) > runs.end[shorter] - runs.begin[shorter]) {
      if (!shorter) runs.begin[0] = runs.begin[1], runs.end[0] = runs.end[1]; /* stay in the order of rows */
      runs.begin[1] = (size_t)begin, runs.end[1] = (size_t)end;
    }
    end += end == begin;
  }
  return runs;
}

/* Groups of `period` rows. Row r of group g has the weights w[g * apart + r * width]. */
GMG_INLINE void map_groups(const int period, const int step, const int width, const int apart, const real *restrict w,
                           const scalar *restrict x0, const scalar *restrict x1, size_t groups, int add, scalar *restrict y)
{
#pragma omp simd
  for (size_t g = 0; g < groups; g++) {
    const real *const row = w + g * (size_t)apart;
    const scalar s = add ? y[g * (size_t)period] : 0, t = add && period > 1 ? y[g * (size_t)period + 1] : 0;
    y[g * (size_t)period] = add_row(width, row, x0 + g * (size_t)step, s);
    if (period > 1) y[g * (size_t)period + 1] = add_row(width, row + width, x1 + g, t);
  }
}

static void map_line(const gmg_map *m, const map_runs *runs, const scalar *buffer, int base, size_t begin, size_t end, int add,
                     scalar *y)
{
  const size_t period = (size_t)runs->period;
  for (int r = 0; r < 2; r++) {
    size_t from = begin > runs->begin[r] ? begin : runs->begin[r];
    const size_t to = end < runs->end[r] ? end : runs->end[r];
    if (runs->repeats && period == 2 && (from - runs->begin[r]) % 2) from++; /* start at a whole group */
    const size_t groups = from < to ? (to - from) / period : 0;
    if (groups == 0) continue;
    const scalar *x0 = buffer + (m->first[from] - base), *x1 = period > 1 ? buffer + (m->first[from + 1] - base) : x0;
    const real *w = (const real *)m->weight + (runs->repeats ? runs->begin[r] : from) * (size_t)m->width;
    map_rows(m, buffer, base, begin, from, add, y);
    begin = from;
#define GROUPS(p, s, n)                                                                              \
  if (period == (p) && runs->step == (s) && m->width == (n)) {                                       \
    if (runs->repeats) map_groups(p, s, n, 0, w, x0, x1, groups, add, y + from);                     \
    else map_groups(p, s, n, (p) * (n), w, x0, x1, groups, add, y + from);                           \
    begin = from + groups * period;                                                                  \
  }
    GROUPS(1, 2, 1) GROUPS(1, 2, 2) GROUPS(1, 2, 3) GROUPS(1, 2, 4) GROUPS(1, 2, 5)
    GROUPS(2, 1, 1) GROUPS(2, 1, 2) GROUPS(1, 1, 1)
#undef GROUPS
  }
  map_rows(m, buffer, base, begin, end, add, y);
}

static void transfer(const gmg_exec *e, const gmg_map map[3], gmg_layout from, const void *x, gmg_layout to, void *y, int add)
{
  const size_t rows = (size_t)map[0].rows, lines = (size_t)map[1].rows * (size_t)map[2].rows;
  const size_t pieces = (rows + MAX_OUTPUTS - 1) / MAX_OUTPUTS;
  const map_runs runs = runs_of(&map[0]);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (rows * lines > MIN_ROWS_PARALLEL)
  for (size_t t = 0; t < pieces * lines; t++) {
    scalar buffer[MAX_INPUTS];
    const size_t line = t / pieces, begin = t % pieces * MAX_OUTPUTS, end = begin + MAX_OUTPUTS < rows ? begin + MAX_OUTPUTS : rows;
    const int base = map[0].first[begin], count = map[0].first[end - 1] + map[0].width - base;
    const size_t j = line % (size_t)map[1].rows, k = line / (size_t)map[1].rows;
    combine(map, from, x, j, k, base, count, buffer);
    map_line(&map[0], &runs, buffer, base, begin, end, add, (scalar *)y + gmg_offset(to, 0, j, k));
  }
}

void R(gmg_transfer_host)(const gmg_exec *e, const gmg_map map[3], const void *x, void *y, int add)
{
  transfer(e, map, gmg_layout_of_columns(map), x, gmg_layout_of_rows(map), y, add);
}

void R(gmg_transfer_between_host)(const gmg_exec *e, const gmg_map map[3], gmg_layout from, const void *x, gmg_layout to, void *y)
{
  transfer(e, map, from, x, to, y, 0);
}

GMG_INLINE scalar add_residual(const int dim, gmg_row a, gmg_neighbours near, scalar f, scalar u, real c0, real c1, scalar old)
{
  (void)c1;
  return gmg_add_product(old, c0, gmg_row_residual(dim, a, near, f, u));
}

/* The four fine lines (two by two) that a coarse line averages, and the lines around them, for constant coefficients. */
typedef struct {
  const scalar *u[2][2], *f[2][2]; /* [plane][row] */
  const scalar *y_lo[2], *y_hi[2], *z_lo[2], *z_hi[2]; /* the neighbouring lines along axes 1 and 2 */
  gmg_row row[2][2];             /* without axis 0 */
  real weight[2][2];
  size_t ahead; /* offset of the next four lines; 0 if they do not follow */
} four_lines;

/* Returns 0 if there are not four lines, or if they are not neighbours. */
static int take_four(const gmg_operator *A, const gmg_map *my, const gmg_map *mz, size_t j, size_t k, const scalar *f,
                     const scalar *u, four_lines *four)
{
  const gmg_layout at = gmg_layout_of(A);
  if (A->dim < 3 || gmg_coefficients_of(A) != GMG_CONSTANT || my->width != 2 || mz->width != 2) return 0;
  const int *wrap_y = my->wrap + my->first[j], *wrap_z = mz->wrap + mz->first[k];
  const size_t y[2] = {(size_t)wrap_y[0], (size_t)wrap_y[1]}, z[2] = {(size_t)wrap_z[0], (size_t)wrap_z[1]};
  if (gmg_above(A, 1, y[0]) != y[1] || y[0] == y[1] || gmg_above(A, 2, z[0]) != z[1] || z[0] == z[1]) return 0;
  const real *const *lo = (const real *const *)A->lo, *const *hi = (const real *const *)A->hi;
  const real *const *diag = (const real *const *)A->diag, *wy = my->weight, *wz = mz->weight;
  four->ahead = y[0] < y[1] && y[1] + 2 < A->n[1] ? 2 * at.row : 0;
  for (int q = 0; q < 2; q++) {
    four->y_lo[q] = u + gmg_offset(at, 0, gmg_below(A, 1, y[0]), z[q]);
    four->y_hi[q] = u + gmg_offset(at, 0, gmg_above(A, 1, y[1]), z[q]);
    four->z_lo[q] = u + gmg_offset(at, 0, y[q], gmg_below(A, 2, z[0]));
    four->z_hi[q] = u + gmg_offset(at, 0, y[q], gmg_above(A, 2, z[1]));
    for (int p = 0; p < 2; p++) {
      const size_t here = gmg_offset(at, 0, y[p], z[q]);
      four->u[q][p] = u + here, four->f[q][p] = f + here;
      four->weight[q][p] = wz[2 * k + (size_t)q] * wy[2 * j + (size_t)p];
      gmg_row *a = &four->row[q][p];
      a->lo[0] = 0, a->lo[1] = lo[1][y[p]], a->lo[2] = lo[2][z[q]];
      a->hi[0] = 0, a->hi[1] = hi[1][y[p]], a->hi[2] = hi[2][z[q]];
      a->diag = diag[1][y[p]] + diag[2][z[q]] + (real)A->shift;
    }
  }
  return 1;
}

/* Columns begin .. end - 1 of the weighted sum s of the four lines, and of the other axes' part r of their weighted residuals. Each
   line is read once. The new lines of the next four are prefetched. */
static void add_four(const four_lines *four, size_t begin, size_t end, scalar *restrict s, scalar *restrict r)
{
  const scalar *u00 = four->u[0][0], *u01 = four->u[0][1], *u10 = four->u[1][0], *u11 = four->u[1][1];
  const scalar *f00 = four->f[0][0], *f01 = four->f[0][1], *f10 = four->f[1][0], *f11 = four->f[1][1];
  const scalar *y_lo0 = four->y_lo[0], *y_lo1 = four->y_lo[1], *y_hi0 = four->y_hi[0], *y_hi1 = four->y_hi[1];
  const scalar *z_lo0 = four->z_lo[0], *z_lo1 = four->z_lo[1], *z_hi0 = four->z_hi[0], *z_hi1 = four->z_hi[1];
  const gmg_row a00 = four->row[0][0], a01 = four->row[0][1], a10 = four->row[1][0], a11 = four->row[1][1];
  const real w00 = four->weight[0][0], w01 = four->weight[0][1], w10 = four->weight[1][0], w11 = four->weight[1][1];
  for (size_t i = begin + four->ahead; i < end + four->ahead; i += 64 / sizeof(scalar)) {
    __builtin_prefetch(u10 + i, 0, 2), __builtin_prefetch(u11 + i, 0, 2);
    __builtin_prefetch(z_hi0 + i, 0, 2), __builtin_prefetch(z_hi1 + i, 0, 2);
    __builtin_prefetch(f00 + i, 0, 2), __builtin_prefetch(f01 + i, 0, 2);
    __builtin_prefetch(f10 + i, 0, 2), __builtin_prefetch(f11 + i, 0, 2);
  }
#pragma omp simd
  for (size_t i = begin; i < end; i++) {
    const scalar c00 = u00[i], c01 = u01[i], c10 = u10[i], c11 = u11[i];
    const gmg_neighbours n00 = {.lo = {0, y_lo0[i], z_lo0[i]}, .hi = {0, c01, c10}};
    const gmg_neighbours n01 = {.lo = {0, c00, z_lo1[i]}, .hi = {0, y_hi0[i], c11}};
    const gmg_neighbours n10 = {.lo = {0, y_lo1[i], c00}, .hi = {0, c11, z_hi0[i]}};
    const gmg_neighbours n11 = {.lo = {0, c10, c01}, .hi = {0, y_hi1[i], z_hi1[i]}};
    s[i] = gmg_add_product(gmg_add_product(gmg_two_products(w00, c00, w01, c01), w10, c10), w11, c11);
    const scalar r00 = gmg_row_residual(3, a00, n00, f00[i], c00), r01 = gmg_row_residual(3, a01, n01, f01[i], c01);
    const scalar r10 = gmg_row_residual(3, a10, n10, f10[i], c10), r11 = gmg_row_residual(3, a11, n11, f11[i], c11);
    r[i] = gmg_add_product(gmg_add_product(gmg_two_products(w00, r00, w01, r01), w10, r10), w11, r11);
  }
}

/* r = sum of the four weighted residuals. All four lines have the same coefficients along axis 0. So r from add_four() is the
   right-hand side of a 1D residual for the sum s of the lines. s has space for one more value at either end. */
static void residual_of_four(const gmg_operator *A, const four_lines *four, scalar *restrict s, scalar *restrict r)
{
  const size_t n = A->n[0];
  const real *lo = A->lo[0], *hi = A->hi[0], *diag = A->diag[0];
  for (size_t begin = 0; begin < n; begin += COLUMNS_AT_A_TIME)
    add_four(four, begin, begin + COLUMNS_AT_A_TIME < n ? begin + COLUMNS_AT_A_TIME : n, s, r);
  s[-1] = s[gmg_below(A, 0, 0)], s[n] = s[gmg_above(A, 0, n - 1)];
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    const gmg_row along = {.lo = {lo[i]}, .hi = {hi[i]}, .diag = diag[i]};
    const gmg_neighbours near = {.lo = {*(s + i - 1)}, .hi = {s[i + 1]}};
    r[i] = gmg_row_residual(1, along, near, r[i], s[i]);
  }
}

/* The residuals of the fine lines that a coarse line reads are summed in a buffer and never stored: 17 instead of 41 bytes per
   unknown in 3D. Lines shared by two coarse lines are computed twice. That is still faster with nine fine lines per coarse line. */
void R(gmg_restrict_residual_host)(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f,
                                   const void *u, void *r, void *coarse)
{
  enum { MAX_LINES = 9 };
  const gmg_map *mx = &map[0], *my = &map[1], *mz = &map[2];
  const size_t rows = (size_t)mx->rows, lines = (size_t)my->rows * (size_t)mz->rows, n0 = A->n[0];
  if (A->dim == 1 || gmg_has_long_lines(A) || my->width * mz->width > MAX_LINES) {
    gmg_operator_of(e, A)->residual(e, A, f, u, r);
    R(gmg_transfer_host)(e, map, r, coarse, 0);
    return;
  }
  const map_runs runs = runs_of(mx);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < lines; t++) {
    scalar buffer[GMG_SEGMENT + 2 * GMG_MAP_PAD], *line = buffer + GMG_MAP_PAD, sum[GMG_SEGMENT + 2];
    four_lines four;
    const size_t at = gmg_blocked_line((size_t)my->rows, (size_t)mz->rows, t);
    const size_t j = at % (size_t)my->rows, k = at / (size_t)my->rows;
    const real *wy = (const real *)my->weight + j * (size_t)my->width, *wz = (const real *)mz->weight + k * (size_t)mz->width;
    const int fours = take_four(A, my, mz, j, k, f, u, &four);
    if (fours)
      residual_of_four(A, &four, sum + 1, line);
    else
      memset(line, 0, n0 * sizeof *line);
    for (int q = 0; q < mz->width && !fours; q++)
      for (int p = 0; p < my->width; p++) {
        const real w = wz[q] * wy[p];
        const size_t row = (size_t)my->wrap[my->first[j] + p], plane = (size_t)mz->wrap[mz->first[k] + q];
        if (w != 0) gmg_task_map(add_residual, A, gmg_whole_line(A, row, plane), f, u, w, 0, line);
      }
    for (int c = 1; c <= GMG_MAP_PAD; c++) {
      const int beyond = mx->cols - 1 + c;
      line[-c] = line[mx->wrap[-c]], line[beyond] = line[mx->wrap[beyond]];
    }
    map_line(mx, &runs, line, 0, 0, rows, 0, (scalar *)coarse + gmg_offset(gmg_layout_of_rows(map), 0, j, k));
  }
}
