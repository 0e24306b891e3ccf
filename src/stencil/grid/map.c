/* Builds the 1D maps of map.h: linear interpolation by position, averaging by overlap, transposition. map_table.c describes them.
   Called by mg, at create. */
#include "map_table.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>

/* Temporary tables are allocated like fields, because the tables of long axes are long: page faults would take longer than filling
   them. */
static void *allocate(size_t bytes) { return gmg_memory_host.alloc(NULL, bytes); }
static void release(void *values) { gmg_memory_host.release(NULL, values); }

/* Maps of values wrap. Those of ghosts and faces do not. */
static int has_values(gmg_map_kind kind) { return kind != GMG_MAP_INTERPOLATE && kind != GMG_MAP_FACES; }

static int table_alloc(gmg_map_table *t, size_t rows, size_t cols, int width)
{
  *t = (gmg_map_table){.rows = rows, .cols = cols, .width = width};
  t->first = allocate(rows * sizeof *t->first);
  t->weight = allocate(rows * (size_t)width * sizeof *t->weight);
  return t->first && t->weight;
}

static void table_free(gmg_map_table *t) { release(t->first), release(t->weight); }

/* A map whose rows have one entry, which is 1. Row i reads column i up / down, or the last one. */
static int pick(gmg_map_table *t, size_t rows, size_t cols, size_t up, size_t down)
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
static int interpolate(gmg_map_table *t, const gmg_axis *fine, const gmg_axis *coarse)
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
static int prolong_linear(gmg_map_table *t, const gmg_axis *fine, const gmg_axis *coarse)
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
static int prolong(gmg_map_table *t, const gmg_axis *fine, const gmg_axis *coarse)
{
  return coarse->spec.nested ? pick(t, fine->n, coarse->n, 1, 2) : prolong_linear(t, fine, coarse);
}

static double volume_of(const gmg_axis *x, long i) { return x->volume[gmg_axis_entry(x, (size_t)i)]; }

/* Coarse cell c covers q <= 2 fine cells. Its row is their mean, weighted by overlap and volume. */
static int average(gmg_map_table *t, const gmg_axis *fine, const gmg_axis *coarse)
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
static int adjoint(gmg_map_table *t, const gmg_map_table *p, const gmg_axis *fine, const gmg_axis *coarse, int normalised)
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

static int build(gmg_map_table *t, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse)
{
  const int vertex = fine->spec.centering == GMG_VERTEX && !coarse->spec.nested;
  gmg_map_table p = {0};
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
static void narrow(gmg_map_table *t)
{
  int need = 1;
  for (size_t r = 0; r < t->rows; r++)
    for (int m = need; m < t->width; m++)
      if (t->weight[r * (size_t)t->width + (size_t)m] != 0) need = m + 1;
  for (size_t r = 0; r < t->rows && need < t->width; r++)
    for (int m = 0; m < need; m++) t->weight[r * (size_t)need + (size_t)m] = t->weight[r * (size_t)t->width + (size_t)m];
  t->width = need;
}

/* The actual column of an index: wrapped on a periodic axis, and otherwise clamped, with weight 0. */
static int column_of(int i, int n, int periodic)
{
  return periodic ? gmg_wrap_modulo_32(i, n) : i < 0 ? 0 : i >= n ? n - 1 : i;
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
static gmg_repeating cut(gmg_map_table *t, const gmg_map *map, size_t more)
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
static gmg_status upload_long(gmg_exec *e, gmg_map_table *t, size_t more_rows, size_t more_cols, int periodic, gmg_map *map)
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

static gmg_status upload(gmg_exec *e, const gmg_map_table *t, int periodic, gmg_map *map)
{
  void *weight, *first;
  GMG_TRY(gmg_exec_reals(e, "transfer weights", t->rows * (size_t)t->width, t->weight, &weight));
  GMG_TRY(gmg_exec_ints(e, "transfer parents", t->rows, t->first, &first));
  map->weight = weight, map->first = first;
  return upload_wrap(e, map->cols, periodic, map);
}

/* Builds the table of a map without columns that are not needed, and without rounding errors between rows. */
static gmg_status build_narrow(gmg_exec *e, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse, gmg_map_table *t)
{
  if (!build(t, kind, fine, coarse))
    return gmg_fail(e->context, GMG_ERR_MEMORY, "transfer map of %zu unknowns could not be allocated", fine->n);
  narrow(t);
  gmg_map_repeat_exactly(t);
  return GMG_OK;
}

/* Whether the rows of a map are coarse unknowns, or faces. */
static int maps_to_coarse(gmg_map_kind kind)
{
  return kind == GMG_MAP_RESTRICT || kind == GMG_MAP_RESTRICT_ADJOINT || kind == GMG_MAP_FACES;
}

static gmg_status create_long(gmg_exec *e, gmg_map_kind kind, const gmg_axis *fine, const gmg_axis *coarse, gmg_map *map)
{
  gmg_axis x[2];
  gmg_map_table t = {0};
  const int to_coarse = maps_to_coarse(kind);
  GMG_TRY(create_short_axes(e->context, fine, coarse, x));
  const size_t more_fine = fine->n - x[0].n, more_coarse = coarse->n - x[1].n;
  gmg_status status = build_narrow(e, kind, &x[0], fine == coarse ? &x[0] : &x[1], &t);
  if (status == GMG_OK) gmg_map_describe(&t, has_values(kind), map);
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
  gmg_map_table t = {0};
  if (kind == GMG_MAP_IDENTITY) coarse = fine;
  if (has_short_form(fine, coarse)) return create_long(e, kind, fine, coarse, map);
  gmg_status status = build_narrow(e, kind, fine, coarse, &t);
  if (status == GMG_OK) gmg_map_describe(&t, has_values(kind), map);
  if (status == GMG_OK) status = upload(e, &t, has_values(kind) && gmg_axis_periodic(fine), map);
  table_free(&t);
  return status;
}

/* --- parts of axes ---------------------------------------------------------------------------------------------------------- */

/* The rows of one span, with columns counted from the beginning of another. On a periodic axis both may lie across the seam.
   padding: columns of ghosts at each end, which the part has, too. */
static int take_part(const gmg_map_table *whole, gmg_span rows, gmg_span cols, int padding, gmg_map_table *t)
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

static gmg_status upload_first_inside(gmg_exec *e, const gmg_map_table *t, gmg_map *map)
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
  gmg_map_table whole = {0}, t = {0};
  rows.n += (size_t)extra, cols.n += (size_t)extra;
  gmg_status status = build_narrow(e, kind, fine, coarse, &whole);
  if (status == GMG_OK && !take_part(&whole, rows, cols, kind == GMG_MAP_INTERPOLATE, &t))
    status = gmg_fail(e->context, GMG_ERR_MEMORY, "transfer map of %zu unknowns could not be allocated", fine_part.n);
  if (status == GMG_OK) gmg_map_describe(&t, has_values(kind), map);
  map->shift = (int)(fine_part.first / 2 - coarse_part.first); /* fine_part.first is even */
  if (status == GMG_OK && is_cut && has_values(kind)) gmg_map_describe_part(&t, map);
  if (status == GMG_OK) status = upload(e, &t, has_values(kind) && gmg_axis_periodic(fine) && !is_cut, map);
  if (status == GMG_OK && map->shift && map->pairs_inside == GMG_PAIRS_LINEAR) status = upload_first_inside(e, &t, map);
  table_free(&whole);
  table_free(&t);
  return status;
}
