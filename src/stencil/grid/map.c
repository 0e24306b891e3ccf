/* Builds the 1D maps of map.h: linear interpolation by position, averaging by overlap, transposition. Called by mg, at create. */
#include "map.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>

/* A map under construction, on the host. weight and first as in gmg_map. */
typedef struct {
  size_t rows, cols;
  int width;
  int *first;
  double *weight;
} table;

/* Temporary tables are allocated like fields, because the tables of long axes are long: page faults would take longer than filling
   them. */
static void *space(size_t bytes) { return gmg_memory_host.alloc(NULL, bytes); }
static void leave(void *space) { gmg_memory_host.release(NULL, space); }

static int table_alloc(table *t, size_t rows, size_t cols, int width)
{
  *t = (table){.rows = rows, .cols = cols, .width = width};
  t->first = space(rows * sizeof *t->first);
  t->weight = space(rows * (size_t)width * sizeof *t->weight);
  return t->first && t->weight;
}

static void table_free(table *t) { leave(t->first), leave(t->weight); }

/* A map whose rows have one entry, which is 1. Row i reads column i up / down, or the last one. */
static int pick(table *t, size_t rows, size_t cols, size_t up, size_t down)
{
  if (!table_alloc(t, rows, cols, 1)) return 0;
  for (size_t i = 0; i < rows; i++) {
    const size_t at = i * up / down;
    t->first[i] = (int)(at < cols ? at : cols - 1);
    t->weight[i] = 1;
  }
  return 1;
}

/* Position of a coarse unknown. -1 and n are the ghosts. */
static double coarse_x(const gmg_axis *x, int c) { return c < 0 ? x->ghost_x[0] : c < (int)x->n ? x->x[c] : x->ghost_x[1]; }

static int is_uniform(const gmg_axis_spec *s) { return !s->coord && s->merged == 1 && gmg_axis_intervals(s) > 0; }

/* Twice the position of unknown 0 of a uniform axis, in mesh widths. */
static int64_t twice_first(const gmg_axis_spec *s)
{
  return s->centering == GMG_CELL ? 1 : s->bc[0] == GMG_DIRICHLET ? 2 : 0;
}

/* The coarse unknown below fine unknown i, and the share of the distance to the next, on uniform meshes. Computed from integers.
   Positions would leave rounding errors in the weights (1e-8 at 10^8 unknowns), and no row would repeat another. */
static int place_between(const gmg_axis_spec *fine, const gmg_axis_spec *coarse, size_t i, double *share)
{
  const int64_t mesh = (int64_t)gmg_axis_intervals(fine), coarse_mesh = (int64_t)gmg_axis_intervals(coarse), unit = 2 * mesh;
  const int64_t at = (2 * (int64_t)i + twice_first(fine)) * coarse_mesh - twice_first(coarse) * mesh;
  int64_t c = at < 0 ? -1 : at / unit;
  if (c >= (int64_t)coarse->n) c = (int64_t)coarse->n - 1;
  *share = (double)(at - c * unit) / (double)unit;
  return (int)c;
}

/* Row i interpolates between the two coarse positions that enclose fine position x_i. */
static int interpolate(table *t, const gmg_axis *fine, const gmg_axis *coarse)
{
  const int uniform = is_uniform(&fine->spec) && is_uniform(&coarse->spec);
  if (!table_alloc(t, fine->n, coarse->n, 2)) return 0;
  int c = -1; /* positions increase */
  for (size_t i = 0; i < fine->n; i++) {
    const double x = fine->x[i], dust = 1e-9 * coarse->h;
    while (!uniform && c + 1 < (int)coarse->n && coarse_x(coarse, c + 1) <= x + dust) c++;
    const double low = coarse_x(coarse, c), width = coarse_x(coarse, c + 1) - low;
    double s = width > 0 ? (x - low) / width : 0;
    if (uniform) c = place_between(&fine->spec, &coarse->spec, i, &s);
    if (fabs(s - round(s)) < 1e-9) s = round(s); /* nested points: no rounding errors in the weights */
    t->first[i] = c;
    t->weight[2 * i] = 1 - s;
    t->weight[2 * i + 1] = s;
  }
  return 1;
}

/* Interpolation with zero boundary values. The ghosts are then multiples of the end unknowns, and their weights are folded into
   those. */
static int prolong_linear(table *t, const gmg_axis *fine, const gmg_axis *coarse)
{
  if (!interpolate(t, fine, coarse)) return 0;
  if (gmg_axis_periodic(coarse)) return 1;
  const int n = (int)coarse->n;
  for (size_t i = 0; i < t->rows; i++) {
    double *w = &t->weight[2 * i];
    if (t->first[i] < 0) {
      t->first[i] = 0;
      w[0] = w[1] + w[0] * coarse->ghost_u[0];
      w[1] = 0;
    } else if (t->first[i] == n - 1) {
      w[0] += w[1] * coarse->ghost_u[1];
      w[1] = 0;
    }
  }
  return 1;
}

/* On merged cells every unknown gets the value of its coarse cell. */
static int prolong(table *t, const gmg_axis *fine, const gmg_axis *coarse)
{
  return coarse->spec.nested ? pick(t, fine->n, coarse->n, 1, 2) : prolong_linear(t, fine, coarse);
}

/* Coarse cell c covers q <= 2 fine cells. Its row is their mean, weighted by overlap and volume. */
static int average(table *t, const gmg_axis *fine, const gmg_axis *coarse)
{
  if (!table_alloc(t, coarse->n, fine->n, 3)) return 0;
  const double n = (double)fine->n, q = coarse->spec.nested ? 2 : n / (double)coarse->n;
  for (size_t c = 0; c < coarse->n; c++) {
    const double begin = (double)c * q, end = fmin(begin + q, n);
    const int first = (int)floor(begin + 1e-9);
    double *w = &t->weight[3 * c], sum = 0;
    t->first[c] = first;
    for (int m = 0; m < 3; m++) {
      const double overlap = fmin(end, first + m + 1) - fmax(begin, first + m);
      w[m] = overlap > 1e-9 ? overlap * fine->weight[first + m] : 0;
      sum += w[m];
    }
    for (int m = 0; m < 3; m++) w[m] /= sum;
  }
  return 1;
}

/* W_c^-1 P^T W from the table of P. A periodic axis is unrolled once on each side. */
static int adjoint(table *t, const table *p, const gmg_axis *fine, const gmg_axis *coarse, int normalised)
{
  enum { ADJOINT_WIDTH = 6 };
  if (!table_alloc(t, coarse->n, fine->n, ADJOINT_WIDTH)) return 0;
  const long n = (long)fine->n, nc = (long)coarse->n, wraps = gmg_axis_periodic(fine);
  for (long c = 0; c < nc; c++) t->first[c] = INT_MAX; /* no entry yet */
  for (long c = 0; c < ADJOINT_WIDTH * nc; c++) t->weight[c] = 0;
  for (long i = wraps ? -n : 0; i < (wraps ? 2 * n : n); i++) {
    const long period = i < 0 ? -1 : i / n, row = i - period * n;
    for (int m = 0; m < p->width; m++) {
      const long c = p->first[row] + period * nc + m;
      const double w = p->weight[row * p->width + m];
      if (w == 0 || c < 0 || c >= nc) continue;
      if (t->first[c] > i) t->first[c] = (int)i;
      t->weight[c * ADJOINT_WIDTH + (i - t->first[c])] += w * fine->weight[row] / coarse->weight[c];
    }
  }
  for (long c = 0; normalised && c < nc; c++) {
    double sum = 0;
    for (int m = 0; m < ADJOINT_WIDTH; m++) sum += t->weight[c * ADJOINT_WIDTH + m];
    for (int m = 0; m < ADJOINT_WIDTH; m++) t->weight[c * ADJOINT_WIDTH + m] /= sum;
  }
  return 1;
}

static int build(table *t, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse)
{
  const int vertex = fine->spec.centering == GMG_VERTEX && !coarse->spec.nested;
  table p = {0};
  int done = 0;
  /* faces of merged cells are every second fine face, and the last */
  if (kind == GMG_MAP_FACES) return pick(t, coarse->n + 1, fine->n + 1, fine == coarse ? 1 : 2, 1);
  if (kind == GMG_MAP_IDENTITY || (fine == coarse && kind != GMG_MAP_INTERPOLATE)) return pick(t, fine->n, fine->n, 1, 1);
  if (kind == GMG_MAP_INTERPOLATE) {
    done = fine == coarse ? pick(t, fine->n, fine->n, 1, 1) : interpolate(t, fine, coarse);
    for (size_t i = 0; done && i < t->rows; i++) t->first[i] += 1; /* column 0 is the lower ghost */
    t->cols = coarse->n + 2;
    return done;
  }
  if (kind == GMG_MAP_PROLONG_LINEAR) return prolong_linear(t, fine, coarse);
  if (kind == GMG_MAP_PROLONG) return prolong(t, fine, coarse);
  if (kind == GMG_MAP_RESTRICT_ADJOINT && coarse->spec.nested) kind = GMG_MAP_RESTRICT; /* averaging is the adjoint there */
  if (kind == GMG_MAP_RESTRICT && !vertex) return average(t, fine, coarse);
  if (prolong(&p, fine, coarse)) done = adjoint(t, &p, fine, coarse, kind == GMG_MAP_RESTRICT);
  table_free(&p);
  return done;
}

/* Drops columns of zeros at the end. Every column costs time in the kernels. */
static void narrow(table *t)
{
  int need = 1;
  for (size_t r = 0; r < t->rows; r++)
    for (int m = need; m < t->width; m++)
      if (t->weight[r * (size_t)t->width + (size_t)m] != 0) need = m + 1;
  for (size_t r = 0; r < t->rows && need < t->width; r++)
    for (int m = 0; m < need; m++) t->weight[r * (size_t)need + (size_t)m] = t->weight[r * (size_t)t->width + (size_t)m];
  t->width = need;
}

/* Whether row r equals row r - out, shifted by `in` columns. */
static int repeats(const table *t, size_t r, int out, int in)
{
  const double *w = &t->weight[r * (size_t)t->width], *before = w - out * t->width;
  if (t->first[r] != t->first[r - (size_t)out] + in) return 0;
  for (int m = 0; m < t->width; m++)
    if (fabs(w[m] - before[m]) > 1e-12) return 0;
  return 1;
}

/* Finds the longest run of rows that repeat. Kernels need neither `first` nor `weight` for these. Rows that read across a seam are
   excluded. */
static void find_repetition(const table *t, gmg_map *map)
{
  static const struct {
    int out, in, max_width; /* the patterns for which kernels have loops */
  } kinds[] = {{1, 2, 4}, {2, 1, 2}, {1, 1, 1}};
  const size_t n = t->rows;
  for (int kind = 0; kind < 3; kind++) {
    const int out = kinds[kind].out, in = kinds[kind].in;
    if (t->width > kinds[kind].max_width) continue;
    for (size_t begin = 0; begin + 8 < n;) {
      const int inside = t->first[begin] >= 0 && t->first[begin + (size_t)out - 1] + t->width <= (int)t->cols;
      size_t end = begin + (size_t)out;
      if (!inside) {
        begin++;
        continue;
      }
      while (end < n && repeats(t, end, out, in) && t->first[end] + t->width <= (int)t->cols) end++;
      if ((int)(end - begin) > map->end - map->begin) {
        *map = (gmg_map){.rows = map->rows, .cols = map->cols, .width = map->width, .begin = (int)begin, .end = (int)end,
                         .out = out, .in = in};
        for (int r = 0; r < out; r++) map->at[r] = t->first[begin + (size_t)r];
        for (int r = 0; r < out; r++)
          for (int m = 0; m < t->width; m++) map->repeat[r][m] = t->weight[(begin + (size_t)r) * (size_t)t->width + (size_t)m];
      }
      begin = end - (size_t)out + 1;
    }
  }
}

/* Whether row 1 reads the wall below instead of the other side of its pair. This happens if the mesh is stretched so much that the
   unknown lies before its parent. */
static int reads_wall(const table *t)
{
  const double *w = t->weight + t->width;
  if (t->rows <= 2 || t->first[1] != 0 || w[0] == 1) return 0;
  return t->width == 1 || w[1] == 0;
}

static gmg_pairs find_pairs(const table *t)
{
  static const struct {
    gmg_pairs kind;
    int rows, cols, low, high; /* fits if rows of the map * rows = columns * cols; row r may read the columns from low to high
                                  relative to its place */
  } kinds[] = {{GMG_PAIRS_AVERAGE, 2, 1, 0, 1}, {GMG_PAIRS_ADJOINT, 2, 1, -1, 2}, {GMG_PAIRS_LINEAR, 1, 2, 0, 1}};
  for (int kind = 0; kind < 3; kind++) {
    int fits = t->rows * (size_t)kinds[kind].rows == t->cols * (size_t)kinds[kind].cols;
    if (kinds[kind].kind == GMG_PAIRS_LINEAR && fits) fits = !reads_wall(t);
    for (size_t r = 0; r < t->rows && fits; r++) {
      const int place = kinds[kind].rows == 2 ? 2 * (int)r : ((int)r + 1) / 2 - 1;
      for (int m = 0; m < t->width; m++) {
        const int reach = t->first[r] + m - place;
        if (t->weight[r * (size_t)t->width + (size_t)m] != 0 && (reach < kinds[kind].low || reach > kinds[kind].high)) fits = 0;
      }
    }
    if (fits) return kinds[kind].kind;
  }
  return GMG_PAIRS_NONE;
}

/* The actual column of an index: wrapped on a periodic axis, and otherwise clamped, with weight 0. */
static int *make_wrap(const table *t, int periodic)
{
  const int n = (int)t->cols, pad = GMG_MAP_PAD;
  int *wrap = space((size_t)(n + 2 * pad) * sizeof *wrap);
  for (int i = -pad; wrap && i < n + pad; i++) {
    const int around = ((i % n) + n) % n, clamped = i < 0 ? 0 : i >= n ? n - 1 : i;
    wrap[i + pad] = periodic ? around : clamped;
  }
  return wrap;
}

static gmg_status upload(gmg_exec *e, const table *t, const int *wrap, gmg_map *map)
{
  void *weight, *first, *wraps;
  GMG_TRY(gmg_exec_reals(e, "transfer weights", t->rows * (size_t)t->width, t->weight, &weight));
  GMG_TRY(gmg_exec_ints(e, "transfer parents", t->rows, t->first, &first));
  GMG_TRY(gmg_exec_ints(e, "transfer wrap", t->cols + 2 * GMG_MAP_PAD, wrap, &wraps));
  map->weight = weight, map->first = first;
  map->wrap = (const int *)wraps + GMG_MAP_PAD;
  return GMG_OK;
}

gmg_status gmg_map_create(gmg_exec *e, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse, gmg_map *map)
{
  gmg_status status;
  table t = {0};
  int *wrap = NULL;
  const int values = kind != GMG_MAP_INTERPOLATE && kind != GMG_MAP_FACES; /* maps of values wrap; those of ghosts and faces do
                                                                              not */
  if (build(&t, kind, fine, coarse)) wrap = make_wrap(&t, values && gmg_axis_periodic(fine));
  if (wrap) {
    narrow(&t);
    *map = (gmg_map){.rows = (int)t.rows, .cols = (int)t.cols, .width = t.width};
    find_repetition(&t, map);
    map->pairs = values ? find_pairs(&t) : GMG_PAIRS_NONE;
    status = upload(e, &t, wrap, map);
  } else {
    status = gmg_fail(e->context, GMG_ERR_MEMORY, "transfer map of %zu unknowns could not be allocated", fine->n);
  }
  leave(wrap);
  table_free(&t);
  return status;
}
