/* What the rows of a map have in common: repetition, pairs, places. Kernels for such maps need no table. Called by map.c. */
#include "map_table.h"

#include <math.h>

static const double ROUNDING = 1e-12; /* rows that differ less are meant to be equal */

static int same_weights(const gmg_map_table *t, double tolerance, const double *w, const double *v)
{
  for (int m = 0; m < t->width; m++)
    if (fabs(w[m] - v[m]) > tolerance) return 0;
  return 1;
}

/* Whether row r equals row r - period, shifted by `step` columns. */
static int repeats(const gmg_map_table *t, double tolerance, size_t r, int period, int step)
{
  const double *w = &t->weight[r * (size_t)t->width], *before = w - period * t->width;
  return t->first[r] == t->first[r - (size_t)period] + step && same_weights(t, tolerance, w, before);
}

/* Finds the longest run of rows that repeat. Kernels need neither `first` nor `weight` for these. Rows that read across a seam are
   excluded. */
static void find_repetition(const gmg_map_table *t, double tolerance, gmg_map *map)
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
      while (end < n && repeats(t, tolerance, end, period, step) && t->first[end] + t->width <= (int)t->cols) end++;
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

void gmg_map_repeat_exactly(gmg_map_table *t)
{
  gmg_map map = {.rows = (int)t->rows, .cols = (int)t->cols, .width = t->width};
  find_repetition(t, ROUNDING, &map);
  for (size_t r = 0; r < t->rows && map.period; r++) {
    const double *pattern = map.repeat[gmg_wrap_modulo_32((int)r - map.begin, map.period)];
    double *weight = &t->weight[r * (size_t)t->width];
    for (int m = 0; m < t->width && same_weights(t, ROUNDING, weight, pattern); m++) weight[m] = pattern[m];
  }
}

/* Whether row 1 interpolates between column 0 and the wall below, instead of columns 0 and 1. This happens if the mesh is stretched
   so much that the unknown lies before its parent. */
static int reads_wall(const gmg_map_table *t)
{
  const double *w = t->weight + t->width;
  if (t->rows <= 2 || t->first[1] != 0 || w[0] == 1) return 0;
  return t->width == 1 || w[1] == 0;
}

/* is_part: of the coarse cells in which the fine unknowns lie; fine unknown i lies in cell i / 2 + shift. */
static gmg_pairs find_pairs(const gmg_map_table *t, int is_part, int shift)
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
static int place_of(const gmg_map_table *t, size_t r, int shift, double *place)
{
  const double *w = &t->weight[2 * r];
  *place = t->first[r] - (int)(r / 2) - shift + w[1];
  return fabs(w[0] + w[1] - 1) < 1e-9;
}

/* gmg_map::near_pairs */
static int find_near_pairs(const gmg_map_table *t, int shift)
{
  int near = t->width == 2, even_reads_above = 0;
  for (size_t r = 0; r < t->rows && near; r++) {
    if (r % 2 == 0) even_reads_above = 0;
    for (int m = 0; m < 2 && near; m++) {
      const int reach = t->first[r] + m - (int)(r / 2) - shift;
      if (t->weight[2 * r + (size_t)m] == 0) continue;
      near = reach <= 1 && reach >= -1 && !(r % 2 && reach < 0 && even_reads_above);
      if (r % 2 == 0 && reach > 0) even_reads_above = 1;
    }
  }
  return near;
}

/* Sets gmg_map::place and what belongs to it. */
static void find_places(const gmg_map_table *t, int shift, gmg_map *map)
{
  const size_t begin = GMG_NEAR_ENDS, end = t->rows - 2, last = (end - 2) / 2 * 2;
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

/* The largest number such that so many successive rows always read at most `most` columns. */
static int rows_that_read(const gmg_map_table *t, int most)
{
  size_t least = t->rows, end = 0;
  for (size_t r = 0; r < t->rows && end < t->rows; r++) {
    while (end < t->rows && t->first[end] + t->width - t->first[r] <= most) end++;
    if (end < t->rows && end - r < least) least = end - r;
  }
  return (int)least;
}

void gmg_map_describe(const gmg_map_table *t, int has_values, gmg_map *map)
{
  *map = (gmg_map){.rows = (int)t->rows, .cols = (int)t->cols, .width = t->width};
  find_repetition(t, 0, map);
  map->pairs = map->pairs_inside = has_values ? find_pairs(t, 0, 0) : GMG_PAIRS_NONE;
  map->near_pairs = has_values && find_near_pairs(t, 0);
  find_places(t, 0, map);
  map->rows_in_tile[0] = rows_that_read(t, GMG_TILE_COLUMNS);
  map->rows_in_tile[1] = rows_that_read(t, GMG_TILE_LINES);
  map->rows_in_strip = rows_that_read(t, GMG_STRIP_COLUMNS);
}

void gmg_map_describe_part(const gmg_map_table *t, gmg_map *map)
{
  map->pairs_inside = find_pairs(t, 1, map->shift);
  map->near_pairs = map->pairs_inside == GMG_PAIRS_LINEAR, map->has_places = 0;
  find_places(t, map->shift, map);
}
