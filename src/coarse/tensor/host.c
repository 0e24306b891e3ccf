/* The direct solver for separable problems on host threads (tensor.h). Operations in 3D for n unknowns along each axis: 4 n^4 for
   the transforms of two symmetric axes (8 n^4 if they are not symmetric), and about 10 n^3 for the tridiagonal systems. Results do
   not depend on the number of threads. Called through gmg_tensor_ops. */
#include "eigenvalues.h"

#include <omp.h>
#include <string.h>

enum {
#ifdef __AVX512F__
  VECTOR_BYTES = 64, ROWS = 12,
#elif defined __AVX__
  VECTOR_BYTES = 32, ROWS = 6, /* the sums stay in the 16 registers */
#else
  VECTOR_BYTES = 16, ROWS = 4,
#endif
  LANES = VECTOR_BYTES / sizeof(real),
  VECTORS = 2 * LANES <= GMG_PANEL ? 2 : 1,
  WIDTH = VECTORS * LANES, /* columns whose sums are in registers at once */
  ROWS_OF_A_BLOCK = 48, /* rows of a 2D problem that a thread transforms at once */
  COLUMNS = 4 * GMG_PANEL /* tridiagonal systems that a thread solves at once */
};

typedef real vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

/* --- products of small matrices ----------------------------------------------------------------------------------------------- */

/* A matrix stored by rows. */
typedef struct {
  const real *at;
  size_t pitch;
} rows;

/* `count` rows and WIDTH columns of c = a b, of which `width` columns are stored. b: a panel with n rows. */
GMG_INLINE void tile(const int count, size_t n, rows a, const real *b, real *c, size_t pitch, size_t width)
{
  vector sum[ROWS][VECTORS];
  for (int i = 0; i < count; i++)
    for (int v = 0; v < VECTORS; v++) sum[i][v] = (vector){0};
  for (size_t k = 0; k < n; k++, b += GMG_PANEL) {
    vector row[VECTORS];
    for (int v = 0; v < VECTORS; v++) row[v] = *(const vector *)(b + v * LANES);
    for (int i = 0; i < count; i++) {
      const real x = a.at[(size_t)i * a.pitch + k];
      for (int v = 0; v < VECTORS; v++) sum[i][v] += x * row[v];
    }
  }
  for (int i = 0; i < count; i++) {
    real *to = c + (size_t)i * pitch;
    if (width < WIDTH) memcpy(to, sum[i], width * sizeof(real));
    for (int v = 0; v < VECTORS && width >= WIDTH; v++) *(vector *)(to + v * LANES) = sum[i][v];
  }
}

/* c = a b for m rows of a, and the first `width` columns of the panel b, which has n rows. */
static void product(size_t m, size_t n, rows a, const real *b, real *c, size_t pitch, size_t width)
{
  for (size_t column = 0; column < width; column += WIDTH) {
    rows from = a;
    real *to = c + column;
    size_t left = m;
#define TILES(count)                                                            \
  for (; left >= (count); left -= (count)) {                                    \
    tile(count, n, from, b + column, to, pitch, width - column);                \
    from.at += (count) * from.pitch;                                            \
    to += (count) * pitch;                                                      \
  }
    TILES(ROWS)
    TILES(4)
    TILES(2)
    TILES(1)
#undef TILES
  }
}

/* --- symmetric axes ----------------------------------------------------------------------------------------------------------- */

/* x[i] + x[n - 1 - i], then the differences. The centre of an odd axis stays. */
static void fold(size_t n, const real *restrict x, real *restrict y)
{
  const size_t m = n / 2, odd = n - m;
  for (size_t i = 0; i < m; i++) {
    const real a = x[i], b = x[n - 1 - i];
    y[i] = a + b;
    y[odd + i] = a - b;
  }
  if (n % 2) y[m] = x[m];
}

/* The values of even modes plus those of odd modes; the latter change their sign at the other end. */
static void unfold(size_t n, const real *restrict y, real *restrict x)
{
  const size_t m = n / 2, odd = n - m;
  for (size_t i = 0; i < m; i++) {
    const real a = y[i], b = y[odd + i];
    x[i] = a + b;
    x[n - 1 - i] = a - b;
  }
  if (n % 2) x[m] = y[m];
}

/* x + y and x - y, element by element. They may replace x and y. */
static void combine(size_t n, const real *x, const real *y, real *sum, real *difference)
{
#pragma omp simd
  for (size_t i = 0; i < n; i++) {
    const real a = x[i], b = y[i];
    sum[i] = a + b;
    difference[i] = a - b;
  }
}

/* --- transforms --------------------------------------------------------------------------------------------------------------- */

/* Work space of a thread. */
typedef struct {
  real *block, *folded;    /* two blocks of rows, whose rows have the distance `pitch` */
  real *panel;             /* a panel of axis 1 */
  real *zero;              /* [COLUMNS] zeros */
  real *quotient, *border; /* [n][lanes] of the tridiagonal systems; border only if the last axis is periodic */
  size_t pitch, lanes;
} space;

/* The rows along axis 0, in blocks that are transformed at once: a plane of a 3D problem, or some rows of a 2D problem. */
typedef struct {
  size_t n, rows, in_block, blocks;
} partition;

static partition partition_of(const gmg_tensor *t)
{
  const size_t lines = t->transformed == 2 ? t->axis[1].n * t->n : t->transformed == 1 ? t->n : 0;
  const size_t in_block = t->transformed == 2 ? t->axis[1].n : ROWS_OF_A_BLOCK;
  return (partition){t->transformed ? t->axis[0].n : 1, lines, in_block, (lines + in_block - 1) / in_block};
}

/* All rows of the block, folded along axis 0 and, in 3D, along axis 1. */
static void fold_block(const gmg_tensor *t, size_t count, const real *x, const space *w)
{
  const size_t n = t->axis[0].n, pitch = w->pitch, m = count / 2, odd = count - m;
  const int across = t->transformed == 2 && t->axis[1].blocks == 2;
  for (size_t j = 0; j < count; j++) {
    /* row j of the folded block is row j of x, or for now the mirror image of row j - odd */
    const real *from = x + (across && j >= odd ? count - 1 - (j - odd) : j) * n;
    if (t->axis[0].blocks == 2) fold(n, from, w->folded + j * pitch);
    else memcpy(w->folded + j * pitch, from, n * sizeof *from);
  }
  for (size_t j = 0; j < m && across; j++) {
    real *a = w->folded + j * pitch, *b = w->folded + (odd + j) * pitch;
    combine(n, a, b, a, b);
  }
}

static void unfold_block(const gmg_tensor *t, size_t count, const space *w, real *x)
{
  const size_t n = t->axis[0].n, pitch = w->pitch, m = count / 2, odd = count - m;
  const int across = t->transformed == 2 && t->axis[1].blocks == 2;
  for (size_t j = 0; j < m && across; j++) {
    real *a = w->folded + j * pitch, *b = w->folded + (odd + j) * pitch;
    combine(n, a, b, a, b);
  }
  for (size_t j = 0; j < count; j++) {
    real *to = x + (across && j >= odd ? count - 1 - (j - odd) : j) * n;
    if (t->axis[0].blocks == 2) unfold(n, w->folded + j * pitch, to);
    else memcpy(to, w->folded + j * pitch, n * sizeof *to);
  }
}

static size_t panels_of(size_t columns) { return (columns + GMG_PANEL - 1) / GMG_PANEL; }

static size_t width_of(size_t columns, size_t panel)
{
  const size_t left = columns - panel * GMG_PANEL;
  return left < GMG_PANEL ? left : GMG_PANEL;
}

/* Coefficients of the modes of axis 0 and, in 3D, of axis 1: x to y. */
static void transform(const gmg_tensor *t, size_t count, const real *x, real *y, const space *w)
{
  const size_t n = t->axis[0].n;
  fold_block(t, count, x, w);
  for (int i = 0; i < t->axis[0].blocks; i++) {
    const gmg_mode_block *b = &t->axis[0].block[i];
    const rows folded = {w->folded + b->first, w->pitch};
    for (size_t p = 0; p < panels_of(b->count); p++) {
      const real *modes = (const real *)b->forward + p * GMG_PANEL * b->count;
      const size_t width = width_of(b->count, p), column = b->first + p * GMG_PANEL;
      if (t->transformed == 1) {
        product(count, b->count, folded, modes, y + column, n, width);
        continue;
      }
      product(count, b->count, folded, modes, w->panel, GMG_PANEL, GMG_PANEL);
      for (int j = 0; j < t->axis[1].blocks; j++) {
        const gmg_mode_block *c = &t->axis[1].block[j];
        product(c->count, c->count, (rows){c->forward, c->count}, w->panel + c->first * GMG_PANEL, y + c->first * n + column, n,
                width);
      }
    }
  }
}

/* A panel of columns of a block, with rows of GMG_PANEL values. Columns that do not exist are 0. */
static void gather(size_t count, const real *x, size_t n, size_t width, real *panel)
{
  for (size_t j = 0; j < count; j++, x += n, panel += GMG_PANEL) {
    for (size_t i = 0; i < width; i++) panel[i] = x[i];
    for (size_t i = width; i < GMG_PANEL; i++) panel[i] = 0;
  }
}

/* The inverse of transform(), in place. */
static void transform_back(const gmg_tensor *t, size_t count, real *x, const space *w)
{
  const size_t n = t->axis[0].n;
  rows modes = {x, n};
  for (size_t p = 0; p < panels_of(n) && t->transformed == 2; p++) {
    gather(count, x + p * GMG_PANEL, n, width_of(n, p), w->panel);
    for (int j = 0; j < t->axis[1].blocks; j++) {
      const gmg_mode_block *c = &t->axis[1].block[j];
      product(c->count, c->count, (rows){c->inverse, c->count}, w->panel + c->first * GMG_PANEL,
              w->block + c->first * w->pitch + p * GMG_PANEL, w->pitch, GMG_PANEL);
    }
    modes = (rows){w->block, w->pitch};
  }
  for (int i = 0; i < t->axis[0].blocks; i++) {
    const gmg_mode_block *b = &t->axis[0].block[i];
    const rows mine = {modes.at + b->first, modes.pitch};
    for (size_t p = 0; p < panels_of(b->count); p++)
      product(count, b->count, mine, (const real *)b->inverse + p * GMG_PANEL * b->count,
              w->folded + b->first + p * GMG_PANEL, w->pitch, width_of(b->count, p));
  }
  unfold_block(t, count, w, x);
}

/* --- tridiagonal systems ------------------------------------------------------------------------------------------------------ */

/* Systems beside each other: `count` columns of f and u, whose rows have the distance `pitch`. Column c has the matrix
   slope[c] A_last + constant[c]. Gaussian elimination without pivoting solves them (Thomas 1949). */
typedef struct {
  size_t count, pitch;
  const real *f;
  real *u;
  real constant[COLUMNS], slope[COLUMNS];
  real pinned[COLUMNS]; /* 1 for a singular system, whose last unknown is set to 0; otherwise 0 */
} columns;

/* Row k of the elimination: u_k = u + q u_(k+1). The values of row k - 1 are in below, q_below. */
GMG_INLINE void eliminate(const gmg_tensor *t, const columns *s, size_t count, size_t k, const real *pinned, const real *below,
                          const real *q_below, real *restrict q)
{
  const real *f = s->f + k * s->pitch;
  real *u = s->u + k * s->pitch;
  const real lo = ((const real *)t->lo)[k], hi = ((const real *)t->hi)[k], diag = ((const real *)t->diag)[k];
#pragma omp simd
  for (size_t c = 0; c < count; c++) {
    const real slope = s->slope[c], to_below = slope * lo;
    const real inverse = (1 - pinned[c]) / (slope * diag + s->constant[c] - to_below * q_below[c] + pinned[c]);
    u[c] = (f[c] + to_below * below[c]) * inverse;
    q[c] = slope * hi * inverse;
  }
}

GMG_INLINE void solve_columns(const gmg_tensor *t, const columns *s, size_t count, const space *w)
{
  const size_t last = t->n - 1;
  const real *below = w->zero, *q_below = w->zero;
  for (size_t k = 0; k <= last; k++) {
    real *q = w->quotient + k * w->lanes;
    eliminate(t, s, count, k, k == last ? s->pinned : w->zero, below, q_below, q);
    below = s->u + k * s->pitch;
    q_below = q;
  }
  for (size_t k = last; k-- > 0;) {
    const real *q = w->quotient + k * w->lanes;
    real *u = s->u + k * s->pitch;
#pragma omp simd
    for (size_t c = 0; c < count; c++) u[c] += q[c] * u[c + s->pitch];
  }
}

/* A periodic axis, whose last row and column are a border: without them the system is that of an axis with walls. Its solutions for
   f and for the border, z, give u = u + u_last z, and the last row gives u_last. */
static void solve_periodic_columns(const gmg_tensor *t, const columns *s, const space *w)
{
  const size_t last = t->n - 1, count = s->count;
  const real *lo = t->lo, *hi = t->hi, *diag = t->diag, *below = w->zero, *q_below = w->zero, *z_below = w->zero;
  for (size_t k = 0; k < last; k++) {
    const real to_last = (k == 0 ? lo[0] : 0) + (k + 1 == last ? hi[k] : 0);
    real *q = w->quotient + k * w->lanes, *z = w->border + k * w->lanes;
    eliminate(t, s, count, k, w->zero, below, q_below, q);
    for (size_t c = 0; c < count; c++) z[c] = (to_last + lo[k] * z_below[c]) * (q[c] / hi[k]);
    below = s->u + k * s->pitch, q_below = q, z_below = z;
  }
  for (size_t k = last - 1; k-- > 0;) {
    const real *q = w->quotient + k * w->lanes;
    real *u = s->u + k * s->pitch, *z = w->border + k * w->lanes;
    for (size_t c = 0; c < count; c++) {
      u[c] += q[c] * u[c + s->pitch];
      z[c] += q[c] * z[c + w->lanes];
    }
  }
  const real *f = s->f + last * s->pitch, *u = s->u, *z = w->border;
  real *u_last = s->u + last * s->pitch;
  for (size_t c = 0; c < count; c++) {
    const real slope = s->slope[c], to_below = slope * lo[last], to_above = slope * hi[last];
    const real pivot = slope * diag[last] + s->constant[c] - to_below * z_below[c] - to_above * z[c];
    u_last[c] = (1 - s->pinned[c]) * (f[c] + to_below * below[c] + to_above * u[c]) / (pivot + s->pinned[c]);
  }
  for (size_t k = 0; k < last; k++)
    for (size_t c = 0; c < count; c++) s->u[k * s->pitch + c] += u_last[c] * w->border[k * w->lanes + c];
}

/* The columns from `begin` up. A constant of 0 belongs to the constant mode. */
static void set_columns(const gmg_tensor *t, size_t begin, size_t all, columns *s)
{
  const gmg_mode_factors factors = gmg_mode_factors_of(t);
  const size_t n = t->transformed ? t->axis[0].n : 1;
  s->count = all - begin < COLUMNS ? all - begin : COLUMNS;
  for (size_t c = 0; c < s->count; c++) {
    const real x = t->transformed > 0 ? ((const real *)t->axis[0].value)[(begin + c) % n] : 0,
               y = t->transformed > 1 ? ((const real *)t->axis[1].value)[(begin + c) / n] : 0;
    const gmg_mode_operator m = gmg_mode_operator_of(&factors, x, y);
    s->constant[c] = m.constant, s->slope[c] = m.slope;
    s->pinned[c] = t->singular && m.constant == 0;
  }
}

static void solve_systems(const gmg_tensor *t, size_t begin, size_t all, const real *f, real *u, const space *w)
{
  columns s = {.pitch = all, .f = f + begin, .u = u + begin};
  set_columns(t, begin, all, &s);
  if (t->wraps) solve_periodic_columns(t, &s, w);
  else if (s.count == COLUMNS) solve_columns(t, &s, COLUMNS, w);
  else if (s.count == 1) solve_columns(t, &s, 1, w);
  else solve_columns(t, &s, s.count, w);
}

/* --- the solver --------------------------------------------------------------------------------------------------------------- */

static size_t cells_of(const gmg_tensor *t)
{
  size_t cells = t->n;
  for (int a = 0; a < t->transformed; a++) cells *= t->axis[a].n;
  return cells;
}

/* Products write whole panels, so rows of a block have room for one more. */
static size_t pitch_of(const gmg_tensor *t) { return (t->transformed ? t->axis[0].n : 0) + GMG_PANEL; }

/* Tridiagonal systems that a thread solves at once. */
static size_t lanes_of(const gmg_tensor *t)
{
  const size_t all = cells_of(t) / t->n;
  return all < COLUMNS ? all : COLUMNS;
}

static size_t scalars_of_a_thread(const gmg_tensor *t)
{
  const partition p = partition_of(t);
  const size_t rows = p.in_block * (2 * pitch_of(t) + GMG_PANEL), systems = t->n * lanes_of(t);
  return (rows + COLUMNS + (t->wraps ? 2 : 1) * systems + GMG_PANEL - 1) / GMG_PANEL * GMG_PANEL;
}

static size_t prepare(const gmg_exec *e, const gmg_tensor *t)
{
  return (size_t)e->threads * scalars_of_a_thread(t) * sizeof(real);
}

static space space_of(const gmg_tensor *t, int thread)
{
  const partition p = partition_of(t);
  const size_t pitch = pitch_of(t), systems = t->n * lanes_of(t);
  space w = {.block = (real *)t->work + (size_t)thread * scalars_of_a_thread(t), .pitch = pitch, .lanes = lanes_of(t)};
  w.folded = w.block + p.in_block * pitch;
  w.panel = w.folded + p.in_block * pitch;
  w.zero = w.panel + p.in_block * GMG_PANEL;
  w.quotient = w.zero + COLUMNS;
  w.border = w.quotient + systems;
  memset(w.zero, 0, COLUMNS * sizeof(real));
  return w;
}

static void solve(const gmg_exec *e, const gmg_tensor *t, const void *f, void *u)
{
  const partition p = partition_of(t);
  const size_t cells = cells_of(t), all = cells / t->n, panels = (all + COLUMNS - 1) / COLUMNS;
  real *x = u;
#pragma omp parallel num_threads(e->threads) if (cells >= GMG_MIN_CELLS_PARALLEL_SWEEP)
  {
    const space w = space_of(t, omp_get_thread_num());
#pragma omp for schedule(static)
    for (size_t b = 0; b < p.blocks; b++) {
      const size_t row = b * p.in_block, count = p.rows - row < p.in_block ? p.rows - row : p.in_block;
      transform(t, count, (const real *)f + row * p.n, x + row * p.n, &w);
    }
#pragma omp for schedule(static)
    for (size_t c = 0; c < panels; c++) solve_systems(t, c * COLUMNS, all, t->transformed ? x : f, x, &w);
#pragma omp for schedule(static)
    for (size_t b = 0; b < p.blocks; b++) {
      const size_t row = b * p.in_block, count = p.rows - row < p.in_block ? p.rows - row : p.in_block;
      transform_back(t, count, x + row * p.n, &w);
    }
  }
}

const gmg_tensor_ops R(gmg_tensor_solver_host) = {.axes_in_panels = 1, .prepare = prepare, .solve = solve};
