/* Galerkin products on host threads, by lines: the terms of a product along axis 0 are the same for all unknowns inside a line, so
   their loops run over contiguous memory. The two ends are computed by the formula for one unknown. Compiled once per real type.
   Called by host/black_box.c. */
#include "stencil/black_box/rows.h"

#include "core/exec.h"
#include "product.h"

enum { SEGMENT = 128, FINE = 2 * SEGMENT + 2 };

/* A term of a product along axis 0, for coarse unknown J: entry dx of the row of fine unknown 2 J + m (J + m if the axis is not
   coarsened), times the weight with `digit` of its neighbour, whose parent is J + parent, added to entry `to`. */
typedef struct {
  int m, dx, to, digit, parent;
} term;

static const term coarsened[] = {{-1, -1, -1, 0, -1}, {-1, 0, -1, 1, -1}, {-1, 0, 0, 2, -1}, {-1, 1, 0, 0, 0},  {0, -1, -1, 1, -1},
                                 {0, -1, 0, 2, -1},   {0, 0, 0, 0, 0},    {0, 1, 0, 1, 0},   {0, 1, 1, 2, 0},   {1, -1, 0, 0, 0},
                                 {1, 0, 0, 1, 0},     {1, 0, 1, 2, 0},    {1, 1, 1, 0, 1}};
static const term kept[] = {{0, -1, -1, 0, -1}, {0, 0, 0, 0, 0}, {0, 1, 1, 0, 1}};

/* A segment of a coarse line: `count` unknowns from `begin` on. */
typedef struct {
  const gmg_black_box_levels *l;
  const term *terms;
  int term_count, step;
  size_t begin, count;
  double out[27][SEGMENT];
  double share[3][SEGMENT];         /* of fine unknowns m = -1, 0, 1: weight and control volumes */
  double entry[27][FINE];           /* of a fine line, from fine unknown step begin - 1 on */
  int used[27];                     /* whether the entry has values */
} segment;

/* Reads the rows of fine line (j, k). */
static void read_rows(segment *s, size_t j, size_t k)
{
  const gmg_black_box_levels *l = s->l;
  const size_t first = (size_t)s->step * s->begin - 1, count = (size_t)s->step * (s->count - 1) + 3;
  for (int e = 0; e < 27; e++) {
    s->used[e] = l->is_box ? l->box.entry[e] != NULL : (e % 3 != 1) + (e / 3 % 3 != 1) + (e / 9 != 1) <= 1;
    if (!l->is_box || !s->used[e]) continue;
    const real *restrict from = l->box.entry[e] + gmg_offset(l->box.own, first, j, k);
    for (size_t i = 0; i < count; i++) s->entry[e][i] = (double)from[i];
  }
  for (size_t i = 0; !l->is_box && i < count; i++) {
    const size_t at[3] = {first + i, j, k};
    double row[27];
    (void)gmg_row_as_box(&l->A, at, row);
    for (int e = 4; e <= 22; e++) s->entry[e][i] = row[e];
  }
}

/* Sets share. number: digits of the fine line's weights along axes 1 and 2. parent: offset of its weights, at the segment. */
static void weigh_rows(segment *s, int number, size_t parent, double volume)
{
  const gmg_black_box_levels *l = s->l;
  const real *const v = l->share[0] + 3 * s->begin;
  for (int m = -1; m <= 1; m++) {
    const int digit = m == 0 ? 0 : m == 1 ? 1 : 2;
    if (s->step == 1 && m != 0) continue;
    const real *w = number + digit ? l->weight[number + digit] + parent - (m < 0) : NULL;
    for (size_t i = 0; i < s->count; i++) s->share[m + 1][i] = volume * (double)v[3 * i + (size_t)(m + 1)] * (w ? (double)w[i] : 1);
  }
}

/* Adds the entries e, e + 1 and e + 2 of the fine line, which lead to a line with weights `number` and `parent`, to out. */
static void add_entries(segment *s, int e, int to, int number, size_t parent)
{
  for (int t = 0; t < s->term_count; t++) {
    const term x = s->terms[t];
    const double *restrict a = s->entry[e + 1 + x.dx] + 1 + x.m, *restrict share = s->share[x.m + 1];
    double *restrict out = s->out[to + x.to];
    const int which = number + x.digit;
    if (!s->used[e + 1 + x.dx]) continue;
    const real *restrict w = which ? s->l->weight[which] + parent + x.parent : NULL;
    const size_t step = (size_t)s->step;
    if (w)
#pragma omp simd
      for (size_t i = 0; i < s->count; i++) out[i] += share[i] * a[step * i] * (double)w[i];
    else
#pragma omp simd
      for (size_t i = 0; i < s->count; i++) out[i] += share[i] * a[step * i];
  }
}

/* Adds fine line number b of column y and c of column z. */
static void add_line(segment *s, const gmg_black_box_axis *y, const gmg_black_box_axis *z, int b, int c)
{
  const gmg_layout coarse = s->l->coarse;
  read_rows(s, y->fine[b], z->fine[c]);
  weigh_rows(s, 3 * b + 9 * c, gmg_offset(coarse, s->begin, y->parent[b], z->parent[c]),
             (double)(y->share[b] * z->share[c]));
  for (int e = 0; e < 27; e += 3) {
    const gmg_black_box_sources *sy = &y->beside[b][e / 3 % 3], *sz = &z->beside[c][e / 9];
    for (int k = 0; k < sz->count && s->used[e + 1]; k++)
      for (int j = 0; j < sy->count; j++)
        add_entries(s, e, 13 + 3 * sy->to[j] + 9 * sz->to[k], 3 * sy->digit[j] + 9 * sz->digit[k],
                    gmg_offset(coarse, s->begin, sy->parent, sz->parent));
  }
}

static void store(const segment *s, size_t own)
{
  for (size_t i = 0; i < s->count; i++) {
    double row[27];
    for (int e = 0; e < 27; e++) row[e] = s->out[e][i];
    gmg_black_box_store(s->l, row, own + i);
  }
}

static void product_of_line(const gmg_black_box_levels *l, size_t j, size_t k)
{
  const size_t n = l->n[0], own = gmg_offset(l->coarse, 0, j, k);
  const int is_coarsened = l->A.coarsened[0];
  gmg_black_box_axis x, y, z;
  segment s = {.l = l, .terms = is_coarsened ? coarsened : kept, .term_count = is_coarsened ? 13 : 3, .step = is_coarsened ? 2 : 1};
  gmg_black_box_axis_at(l, 1, j, &y);
  gmg_black_box_axis_at(l, 2, k, &z);
  for (s.begin = 1; s.begin + 1 < n; s.begin += s.count) {
    s.count = n - 1 - s.begin < SEGMENT ? n - 1 - s.begin : SEGMENT;
    for (int e = 0; e < 27; e++)
      for (size_t i = 0; i < s.count; i++) s.out[e][i] = 0;
    for (int c = 0; c < 3; c++)
      for (int b = 0; b < 3; b++)
        if (y.exists[b] && z.exists[c]) add_line(&s, &y, &z, b, c);
    store(&s, own + s.begin);
  }
  for (size_t i = 0; i < n; i += n > 1 ? n - 1 : 1) {
    gmg_black_box_axis_at(l, 0, i, &x);
    gmg_black_box_product(l, &x, &y, &z, own + i);
  }
}

void R(gmg_black_box_product_host)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p)
{
  const gmg_black_box_levels l = gmg_black_box_levels_of(A, C, p);
  const size_t lines = C->n[1] * C->n[2];
#pragma omp parallel for schedule(static) num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < lines; t++) {
    const gmg_line_place line = gmg_line_place_of(t, C->n);
    product_of_line(&l, line.j, line.k);
  }
}
