/* Variable box stencils on host threads: a line of A u, of the diagonal, and of |A| |u|. Compiled once per real type. Called
   through gmg_operator_ops. */
#include "stencil/box_arrays/rows.h"

typedef gmg_box_array_rows line_data;
#include "stencil/generic/host/by_lines.h"

static line_data line_data_of(const gmg_operator *A) { return gmg_box_array_rows_of(A); }

/* out = A u for the unknowns from .. to - 1, which have both neighbours along the line. c: of the line's first entry. */
GMG_INLINE void inner_image(const int dim, const gmg_box_array_rows *s, gmg_box_steps y, gmg_box_steps z, size_t c, const scalar *u,
                            size_t from, size_t to, scalar *restrict out)
{
  for (size_t i = from; i < to; i++) out[i - from] = 0;
  for (int k = gmg_box_first(dim, 2); k <= gmg_box_last(dim, 2); k++)
    for (int j = gmg_box_first(dim, 1); j <= gmg_box_last(dim, 1); j++) {
      const scalar *const line = u + y.to[j] + z.to[k];
      const real *const *const entry = s->entry + 3 * j + 9 * k;
      const real *const left = entry[0] + c, *const middle = entry[1] + c, *const right = entry[2] + c;
#pragma omp simd
      for (size_t i = from; i < to; i++) out[i - from] += left[i] * line[i - 1] + middle[i] * line[i] + right[i] * line[i + 1];
    }
}

static void line_image(const gmg_box_array_rows *s, const gmg_task *w, const scalar *u, scalar *out)
{
  const gmg_box_steps y = gmg_box_array_steps_at(s, 1, w->j), z = gmg_box_array_steps_at(s, 2, w->k);
  const size_t last = s->layout.n[0] - 1, from = w->begin ? w->begin : 1, to = w->end < last ? w->end : last;
  const size_t c = gmg_offset(s->own, 0, w->j, w->k);
  const scalar *line = u + w->offset;
#define ONE(i) \
  out[(i) - w->begin] = s->dim == 3 ? gmg_box_array_image(3, s, gmg_box_array_steps_at(s, 0, i), y, z, c + (i), line + (i)) \
                      : s->dim == 2 ? gmg_box_array_image(2, s, gmg_box_array_steps_at(s, 0, i), y, z, c + (i), line + (i)) \
                                    : gmg_box_array_image(1, s, gmg_box_array_steps_at(s, 0, i), y, z, c + (i), line + (i))
  if (w->begin == 0) ONE(0);
  if (from < to && s->dim == 3) inner_image(3, s, y, z, c, line, from, to, out + (from - w->begin));
  else if (from < to && s->dim == 2) inner_image(2, s, y, z, c, line, from, to, out + (from - w->begin));
  else if (from < to) inner_image(1, s, y, z, c, line, from, to, out + (from - w->begin));
  if (w->end == last + 1 && last > 0) ONE(last);
#undef ONE
}

static void line_diagonal(const gmg_box_array_rows *s, const gmg_task *w, real *out)
{
  const real *const diag = s->entry[13] + gmg_offset(s->own, 0, w->j, w->k);
  for (size_t i = w->begin; i < w->end; i++) out[i - w->begin] = diag[i];
}

static void line_magnitude(const gmg_box_array_rows *s, const gmg_task *w, const scalar *u, real *out)
{
  const gmg_box_steps y = gmg_box_array_steps_at(s, 1, w->j), z = gmg_box_array_steps_at(s, 2, w->k);
  const size_t c = gmg_offset(s->own, 0, w->j, w->k);
  for (size_t i = w->begin; i < w->end; i++)
    out[i - w->begin] = gmg_box_array_magnitude(s, gmg_box_array_steps_at(s, 0, i), y, z, c + i, u + w->offset + i);
}

const gmg_operator_ops R(gmg_box_arrays_host) = GMG_OPERATIONS_BY_LINES;
