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
static void *allocate(size_t bytes) { return gmg_memory_host.alloc(NULL, bytes); }
static void release(void *values) { gmg_memory_host.release(NULL, values); }

static int table_alloc(table *t, size_t rows, size_t cols, int width)
{
  *t = (table){.rows = rows, .cols = cols, .width = width};
  t->first = allocate(rows * sizeof *t->first);
  t->weight = allocate(rows * (size_t)width * sizeof *t->weight);
  return t->first && t->weight;
}

static void table_free(table *t) { release(t->first), release(t->weight); }

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

/* The coarse unknown below fine unknown i, and the share, found from positions. c: the coarse unknown below fine unknown i - 1. */
static int place_by_position(const gmg_axis *fine, const gmg_axis *coarse, size_t i, int c, double *share)
{
  const double x = fine->x[i], dust = 1e-9 * coarse->h;
  while (c + 1 < (int)coarse->n && coarse_x(coarse, c + 1) <= x + dust) c++;
  const double low = coarse_x(coarse, c), width = coarse_x(coarse, c + 1) - low;
  *share = width > 0 ? (x - low) / width : 0;
  return c;
}

/* Row i interpolates between the two coarse positions that enclose fine position x_i. */
static int interpolate(table *t, const gmg_axis *fine, const gmg_axis *coarse)
{
  const int uniform = gmg_axis_is_uniform(&fine->spec) && gmg_axis_is_uniform(&coarse->spec);
  if (!table_alloc(t, fine->n, coarse->n, 2)) return 0;
  int c = -1; /* positions increase */
  for (size_t i = 0; i < fine->n; i++) {
    double s = 0;
    if (uniform) c = place_between(&fine->spec, &coarse->spec, i, &s);
    else c = place_by_position(fine, coarse, i, c, &s);
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

static double volume_of(const gmg_axis *x, long i) { return x->volume[gmg_axis_entry(x, (size_t)i)]; }

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
      w[m] = overlap > 1e-9 ? overlap * volume_of(fine, first + m) : 0;
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
    const long period = gmg_period_of(i, n), row = i - period * n;
    for (int m = 0; m < p->width; m++) {
      const long c = p->first[row] + period * nc + m;
      const double w = p->weight[row * p->width + m];
      if (w == 0 || c < 0 || c >= nc) continue;
      if (t->first[c] > i) t->first[c] = (int)i;
      t->weight[c * ADJOINT_WIDTH + (i - t->first[c])] += w * volume_of(fine, row) / volume_of(coarse, c);
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
  if (fine == coarse && kind != GMG_MAP_INTERPOLATE) return pick(t, fine->n, fine->n, 1, 1);
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

/* Whether row r equals row r - period, shifted by `step` columns. */
static int repeats(const table *t, size_t r, int period, int step)
{
  const double *w = &t->weight[r * (size_t)t->width], *before = w - period * t->width;
  if (t->first[r] != t->first[r - (size_t)period] + step) return 0;
  for (int m = 0; m < t->width; m++)
    if (fabs(w[m] - before[m]) > 1e-12) return 0;
  return 1;
}

/* Finds the longest run of rows that repeat. Kernels need neither `first` nor `weight` for these. Rows that read across a seam are
   excluded. */
static void find_repetition(const table *t, gmg_map *map)
{
  static const struct {
    int period, step, max_width; /* the patterns for which kernels have loops */
  } kinds[] = {{1, 2, 4}, {2, 1, 2}, {1, 1, 1}};
  const size_t n = t->rows;
  for (int kind = 0; kind < 3; kind++) {
    const int period = kinds[kind].period, step = kinds[kind].step;
    if (t->width > kinds[kind].max_width) continue;
    for (size_t begin = 0; begin + 8 < n;) {
      const int inside = t->first[begin] >= 0 && t->first[begin + (size_t)period - 1] + t->width <= (int)t->cols;
      size_t end = begin + (size_t)period;
      if (!inside) {
        begin++;
        continue;
      }
      while (end < n && repeats(t, end, period, step) && t->first[end] + t->width <= (int)t->cols) end++;
      if ((int)(end - begin) > map->end - map->begin) {
        *map = (gmg_map){.rows = map->rows, .cols = map->cols, .width = map->width, .begin = (int)begin, .end = (int)end,
                         .period = period, .step = step};
        for (int r = 0; r < period; r++) map->at[r] = t->first[begin + (size_t)r];
        for (int r = 0; r < period; r++)
          for (int m = 0; m < t->width; m++) map->repeat[r][m] = t->weight[(begin + (size_t)r) * (size_t)t->width + (size_t)m];
      }
      begin = end - (size_t)period + 1;
    }
  }
}

/* Maps of values wrap. Those of ghosts and faces do not. */
static int has_values(gmg_map_kind kind) { return kind != GMG_MAP_INTERPOLATE && kind != GMG_MAP_FACES; }

/* Whether row 1 interpolates between column 0 and the wall below, instead of columns 0 and 1. This happens if the mesh is stretched
   so much that the unknown lies before its parent. */
static int reads_wall(const table *t)
{
  const double *w = t->weight + t->width;
  if (t->rows <= 2 || t->first[1] != 0 || w[0] == 1) return 0;
  return t->width == 1 || w[1] == 0;
}

/* is_part: of the coarse cells in which the fine unknowns lie; fine unknown i lies in cell i / 2 + shift. */
static gmg_pairs find_pairs(const table *t, int is_part, int shift)
{
  static const struct {
    gmg_pairs kind;
    int rows, cols, low, high; /* fits if the map's rows * `rows` = its columns * `cols` (a part of an axis has coarse ghosts
                                  beyond its fine unknowns), and row r reads only columns from low to high relative to its place */
  } kinds[] = {{GMG_PAIRS_AVERAGE, 2, 1, 0, 1}, {GMG_PAIRS_ADJOINT, 2, 1, -1, 2}, {GMG_PAIRS_LINEAR, 1, 2, 0, 1}};
  for (int kind = 0; kind < 3; kind++) {
    const int to_coarse = kinds[kind].rows == 2;
    const size_t fine = to_coarse ? t->cols : t->rows, coarse = to_coarse ? t->rows : t->cols, before = (size_t)shift;
    int fits = is_part ? fine % 2 == 0 && before + fine / 2 <= coarse
                       : t->rows * (size_t)kinds[kind].rows == t->cols * (size_t)kinds[kind].cols;
    if (!to_coarse && fits) fits = !reads_wall(t);
    for (size_t r = to_coarse ? before : 0; r < (to_coarse ? before + fine / 2 : fine) && fits; r++) {
      const int place = to_coarse ? 2 * ((int)r - shift) : ((int)r + 1) / 2 - 1 + shift;
      for (int m = 0; m < t->width; m++) {
        const int reach = t->first[r] + m - place;
        if (t->weight[r * (size_t)t->width + (size_t)m] != 0 && (reach < kinds[kind].low || reach > kinds[kind].high)) fits = 0;
      }
    }
    if (fits) return kinds[kind].kind;
  }
  return GMG_PAIRS_NONE;
}

/* Where row r is, in columns from column r / 2 + shift. 0 if it reads the wall. */
static int place_of(const table *t, size_t r, int shift, double *place)
{
  const double *w = &t->weight[2 * r];
  *place = t->first[r] - (int)(r / 2) - shift + w[1];
  return fabs(w[0] + w[1] - 1) < 1e-9;
}

static int find_near_pairs(const table *t, int shift)
{
  int near = t->width == 2;
  for (size_t r = 0; r < t->rows && near; r++)
    for (int m = 0; m < 2 && near; m++) {
      const int reach = t->first[r] + m - (int)(r / 2) - shift;
      near = t->weight[2 * r + (size_t)m] == 0 || (reach <= 1 && reach >= (r % 2 ? 0 : -1));
    }
  return near;
}

/* Sets gmg_map::place and what belongs to it. */
static void find_places(const table *t, int shift, gmg_map *map)
{
  const size_t begin = GMG_NEAR_ENDS, end = t->rows - 1, last = (end - 2) / 2 * 2;
  double place[2], to;
  if (!map->near_pairs || t->rows < 2 * GMG_NEAR_ENDS) return;
  if (!place_of(t, begin, shift, &place[0]) || !place_of(t, begin + 1, shift, &place[1]) || !place_of(t, last, shift, &to)) return;
  double slope = (to - place[0]) / (double)((last - begin) / 2);
  int holds = 1;
  if (fabs(slope) < 1e-12) slope = 0;
  for (int b = 0; b < 2; b++) place[b] -= slope * (double)(begin / 2);
  for (size_t r = begin; r < end && holds; r++)
    holds = place_of(t, r, shift, &to) && fabs(to - place[r % 2] - slope * (double)(r / 2)) < 1e-9;
  map->has_places = holds, map->place[0] = place[0], map->place[1] = place[1], map->slope = slope;
}

/* The actual column of an index: wrapped on a periodic axis, and otherwise clamped, with weight 0. */
static int column_of(int i, int n, int periodic)
{
  return periodic ? gmg_wrap_modulo_32(i, n) : i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* The largest number such that so many successive rows always read at most `most` columns. */
static int rows_that_read(const table *t, int most)
{
  size_t least = t->rows, end = 0;
  for (size_t r = 0; r < t->rows && end < t->rows; r++) {
    while (end < t->rows && t->first[end] + t->width - t->first[r] <= most) end++;
    if (end < t->rows && end - r < least) least = end - r;
  }
  return (int)least;
}

static gmg_status upload_wrap(gmg_exec *e, int cols, int periodic, gmg_map *map)
{
  int ends[2 * GMG_MAP_PAD + 1] = {0};
  const gmg_repeating shape = {.head = GMG_MAP_PAD, .period = 1, .count = (size_t)cols, .tail = GMG_MAP_PAD, .width = 1};
  void *wrap;
  for (int i = 0; i < GMG_MAP_PAD; i++) {
    ends[i] = column_of(i - GMG_MAP_PAD, cols, periodic);
    ends[GMG_MAP_PAD + 1 + i] = column_of(cols + i, cols, periodic);
  }
  GMG_TRY(gmg_exec_repeating_ints(e, "transfer wrap", shape, 1, ends, &wrap));
  map->wrap = (const int *)wrap + GMG_MAP_PAD;
  return GMG_OK;
}

/* --- long axes ---------------------------------------------------------------------------------------------------------------- */

/* On a long uniform axis whose intervals are merged in pairs, or not at all, all rows but some at the ends repeat. Such a map is
   built for short axes with the same walls and mesh widths, and then gets more of the rows that repeat. */
enum { SHORT_INTERVALS = 64 };

static int has_short_form(const gmg_axis *fine, const gmg_axis *coarse)
{
  if (fine->entries == fine->n || !gmg_axis_is_uniform(&coarse->spec)) return 0;
  return fine == coarse || gmg_axis_intervals(&fine->spec) == 2 * gmg_axis_intervals(&coarse->spec);
}

static gmg_axis_spec short_spec_of(const gmg_axis *x, size_t intervals)
{
  gmg_axis_spec s = x->spec;
  s.n = x->n - gmg_axis_intervals(&x->spec) + intervals;
  s.length = x->h * (double)intervals;
  s.mesh = intervals;
  s.base = s.n;
  return s;
}

/* Creates the short axes. On failure there is nothing to destroy. */
static gmg_status create_short_axes(gmg_context *context, const gmg_axis *fine, const gmg_axis *coarse, gmg_axis x[2])
{
  const gmg_axis_spec spec[2] = {short_spec_of(fine, SHORT_INTERVALS),
                                 short_spec_of(coarse, fine == coarse ? SHORT_INTERVALS : SHORT_INTERVALS / 2)};
  GMG_TRY(gmg_axis_create(context, &spec[0], &x[0]));
  const gmg_status status = gmg_axis_create(context, &spec[1], &x[1]);
  if (status != GMG_OK) gmg_axis_destroy(&x[0]);
  return status;
}

/* Removes all rows that repeat but one period. Returns the shape, which then has `more` rows that repeat. */
static gmg_repeating cut(table *t, const gmg_map *map, size_t more)
{
  const size_t head = (size_t)map->begin, period = (size_t)map->period, count = (size_t)(map->end - map->begin) / period;
  const size_t after = head + period * count, tail = t->rows - after, width = (size_t)t->width;
  for (size_t r = 0; r < tail; r++) {
    t->first[head + period + r] = t->first[after + r];
    for (size_t m = 0; m < width; m++) t->weight[(head + period + r) * width + m] = t->weight[(after + r) * width + m];
  }
  t->rows = head + period + tail;
  return (gmg_repeating){head, period, count + more / period, tail, width};
}

/* Uploads the map of long axes from the table of short ones, which `map` describes. The long axes have more rows and columns. */
static gmg_status upload_long(gmg_exec *e, table *t, size_t more_rows, size_t more_cols, int periodic, gmg_map *map)
{
  void *weight, *first;
  const int step = map->step;
  gmg_repeating shape = cut(t, map, more_rows);
  for (size_t r = shape.head + shape.period; r < t->rows; r++) t->first[r] += (int)more_cols;
  map->rows += (int)more_rows, map->cols += (int)more_cols, map->end += (int)more_rows;
  GMG_TRY(gmg_exec_repeating_reals(e, "transfer weights", shape, t->weight, &weight));
  shape.width = 1;
  GMG_TRY(gmg_exec_repeating_ints(e, "transfer parents", shape, step, t->first, &first));
  map->weight = weight, map->first = first;
  return upload_wrap(e, map->cols, periodic, map);
}

/* --- all axes ----------------------------------------------------------------------------------------------------------------- */

static gmg_status upload(gmg_exec *e, const table *t, int periodic, gmg_map *map)
{
  void *weight, *first;
  GMG_TRY(gmg_exec_reals(e, "transfer weights", t->rows * (size_t)t->width, t->weight, &weight));
  GMG_TRY(gmg_exec_ints(e, "transfer parents", t->rows, t->first, &first));
  map->weight = weight, map->first = first;
  return upload_wrap(e, map->cols, periodic, map);
}

/* Builds the table of a map without columns that are not needed. */
static gmg_status build_narrow(gmg_exec *e, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse, table *t)
{
  if (!build(t, kind, fine, coarse))
    return gmg_fail(e->context, GMG_ERR_MEMORY, "transfer map of %zu unknowns could not be allocated", fine->n);
  narrow(t);
  return GMG_OK;
}

static void describe(gmg_map_kind kind, const table *t, gmg_map *map)
{
  *map = (gmg_map){.rows = (int)t->rows, .cols = (int)t->cols, .width = t->width};
  find_repetition(t, map);
  map->pairs = map->pairs_inside = has_values(kind) ? find_pairs(t, 0, 0) : GMG_PAIRS_NONE;
  map->near_pairs = has_values(kind) && find_near_pairs(t, 0);
  find_places(t, 0, map);
  map->rows_in_tile[0] = rows_that_read(t, GMG_TILE_COLUMNS);
  map->rows_in_tile[1] = rows_that_read(t, GMG_TILE_LINES);
  map->rows_in_strip = rows_that_read(t, GMG_STRIP_COLUMNS);
}

/* Whether the rows of a map are coarse unknowns, or faces. */
static int maps_to_coarse(gmg_map_kind kind)
{
  return kind == GMG_MAP_RESTRICT || kind == GMG_MAP_RESTRICT_ADJOINT || kind == GMG_MAP_FACES;
}

static gmg_status create_long(gmg_exec *e, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse, gmg_map *map)
{
  gmg_axis x[2];
  table t = {0};
  const int to_coarse = maps_to_coarse(kind);
  GMG_TRY(create_short_axes(e->context, fine, coarse, x));
  const size_t more_fine = fine->n - x[0].n, more_coarse = coarse->n - x[1].n;
  gmg_status status = build_narrow(e, kind, &x[0], fine == coarse ? &x[0] : &x[1], &t);
  if (status == GMG_OK) describe(kind, &t, map);
  if (status == GMG_OK)
    status = upload_long(e, &t, to_coarse ? more_coarse : more_fine, to_coarse ? more_fine : more_coarse,
                         has_values(kind) && gmg_axis_periodic(fine), map);
  table_free(&t);
  gmg_axis_destroy(&x[0]);
  gmg_axis_destroy(&x[1]);
  return status;
}

gmg_status gmg_map_create(gmg_exec *e, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse, gmg_map *map)
{
  table t = {0};
  if (kind == GMG_MAP_IDENTITY) coarse = fine;
  if (has_short_form(fine, coarse)) return create_long(e, kind, fine, coarse, map);
  gmg_status status = build_narrow(e, kind, fine, coarse, &t);
  if (status == GMG_OK) describe(kind, &t, map);
  if (status == GMG_OK) status = upload(e, &t, has_values(kind) && gmg_axis_periodic(fine), map);
  table_free(&t);
  return status;
}

/* --- parts of axes ---------------------------------------------------------------------------------------------------------- */

/* The rows of one span, with columns counted from the beginning of another. On a periodic axis both may lie across the seam.
   padding: columns of ghosts at each end, which the part has, too. */
static int take_part(const table *whole, gmg_span rows, gmg_span cols, int padding, table *t)
{
  const size_t width = (size_t)whole->width, ends = 2 * (size_t)padding;
  cols.n += ends;
  const long least = -GMG_MAP_PAD, most = (long)cols.n + GMG_MAP_PAD - (long)width, period = (long)(whole->cols - ends);
  if (!table_alloc(t, rows.n, cols.n, whole->width)) return 0;
  for (size_t r = 0; r < rows.n; r++) {
    const long at = rows.first + (long)r, n = (long)whole->rows, row = gmg_wrap_modulo(at, n);
    const long first = whole->first[row] + (at - row) / n * period - cols.first;
    t->first[r] = (int)(first < least ? least : first > most ? most : first);
    for (size_t m = 0; m < width; m++) t->weight[r * width + m] = whole->weight[(size_t)row * width + m];
  }
  return 1;
}

static gmg_status upload_first_inside(gmg_exec *e, const table *t, gmg_map *map)
{
  void *first = NULL;
  for (size_t r = 0; r < t->rows; r++) t->first[r] -= map->shift;
  GMG_TRY(gmg_exec_ints(e, "transfer map of a part", t->rows, t->first, &first));
  map->first_inside = first;
  return GMG_OK;
}

gmg_status gmg_map_create_part(gmg_exec *e, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse, gmg_span fine_part,
                               gmg_span coarse_part, gmg_map *map)
{
  const int extra = kind == GMG_MAP_FACES, is_cut = fine_part.n != fine->n || coarse_part.n != coarse->n;
  gmg_span rows = maps_to_coarse(kind) ? coarse_part : fine_part, cols = maps_to_coarse(kind) ? fine_part : coarse_part;
  table whole = {0}, t = {0};
  rows.n += (size_t)extra, cols.n += (size_t)extra;
  gmg_status status = build_narrow(e, kind, fine, coarse, &whole);
  if (status == GMG_OK && !take_part(&whole, rows, cols, kind == GMG_MAP_INTERPOLATE, &t))
    status = gmg_fail(e->context, GMG_ERR_MEMORY, "transfer map of %zu unknowns could not be allocated", fine_part.n);
  if (status == GMG_OK) describe(kind, &t, map);
  map->shift = (int)(fine_part.first / 2 - coarse_part.first); /* fine_part.first is even */
  if (status == GMG_OK && is_cut && has_values(kind)) {
    map->pairs_inside = find_pairs(&t, 1, map->shift);
    map->near_pairs = map->pairs_inside == GMG_PAIRS_LINEAR, map->has_places = 0;
    find_places(&t, map->shift, map);
  }
  if (status == GMG_OK) status = upload(e, &t, has_values(kind) && gmg_axis_periodic(fine) && !is_cut, map);
  if (status == GMG_OK && map->shift && map->pairs_inside == GMG_PAIRS_LINEAR) status = upload_first_inside(e, &t, map);
  table_free(&whole);
  table_free(&t);
  return status;
}
