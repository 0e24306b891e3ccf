/* Box stencils on host threads: a line of A u, of the diagonal, and of |A| |u|. Compiled once per real type. Called through
   gmg_operator_ops. */
#include "stencil/box/box.h"

typedef gmg_box_rows line_data;
#include "stencil/generic/host/by_lines.h"

static line_data line_data_of(const gmg_operator *A) { return gmg_box_rows_of(A); }

/* out = A u for the unknowns from .. to - 1, which have both neighbours along the line. */
GMG_INLINE void inner_image(const int dim, const gmg_box_rows *s, gmg_box_steps y, gmg_box_steps z, const scalar *u, size_t from,
                            size_t to, scalar *restrict out)
{
  for (size_t i = from; i < to; i++) out[i - from] = 0;
  for (int c = gmg_box_first(dim, 2); c <= gmg_box_last(dim, 2); c++)
    for (int b = gmg_box_first(dim, 1); b <= gmg_box_last(dim, 1); b++) {
      const scalar *const line = u + y.to[b] + z.to[c];
      const real *const entry = s->entry + 3 * b + 9 * c;
      const real left = entry[0], middle = entry[1], right = entry[2];
      if (!y.there[b] || !z.there[c]) continue;
#pragma omp simd
      for (size_t i = from; i < to; i++) out[i - from] += left * line[i - 1] + middle * line[i] + right * line[i + 1];
    }
}

static void line_image(const gmg_box_rows *s, const gmg_task *w, const scalar *u, scalar *out)
{
  const gmg_box_steps y = gmg_box_steps_at(s, 1, w->j), z = gmg_box_steps_at(s, 2, w->k);
  const size_t last = s->layout.n[0] - 1, from = w->begin ? w->begin : 1, to = w->end < last ? w->end : last;
  const scalar *line = u + w->offset;
#define ONE(i) out[(i) - w->begin] = gmg_box_image(s->dim, s, gmg_box_steps_at(s, 0, i), y, z, line + (i))
  if (w->begin == 0) ONE(0);
  if (from < to && s->dim == 3) inner_image(3, s, y, z, line, from, to, out + (from - w->begin));
  else if (from < to) inner_image(2, s, y, z, line, from, to, out + (from - w->begin)); /* in 1D there are no lines beside it */
  if (w->end == last + 1 && last > 0) ONE(last);
#undef ONE
}

static void line_diagonal(const gmg_box_rows *s, const gmg_task *w, real *out)
{
  for (size_t i = w->begin; i < w->end; i++) out[i - w->begin] = s->diag;
}

static void line_magnitude(const gmg_box_rows *s, const gmg_task *w, const scalar *u, real *out)
{
  const gmg_box_steps y = gmg_box_steps_at(s, 1, w->j), z = gmg_box_steps_at(s, 2, w->k);
  for (size_t i = w->begin; i < w->end; i++)
    out[i - w->begin] = gmg_box_magnitude(s, gmg_box_steps_at(s, 0, i), y, z, u + w->offset + i);
}

const gmg_operator_ops R(gmg_box_host) = GMG_OPERATIONS_BY_LINES;
