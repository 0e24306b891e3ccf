/* Transfers on host threads: y = (m2 x m1 x m0) x. For a piece of an output line the lines of x that it needs are
   first combined along axes 1 and 2 into a buffer, then mapped along axis 0. All transfers are this one kernel. */
#include "stencil.h"

#include "../core/real.h"

#include <string.h>

enum { PIECE = 1024, BUFFER = 2 * PIECE + 32 }; /* a map reads at most about two inputs an output */

/* buffer[c - base] = sum of weights x over the lines, for the columns base .. base + count - 1 (unwrapped) */
static void combine(const gmg_map map[3], const real *x, size_t j, size_t k, int base, int count, real *restrict buffer)
{
  const gmg_map *mx = &map[0], *my = &map[1], *mz = &map[2];
  const real *wy = (const real *)my->weight + j * (size_t)my->width, *wz = (const real *)mz->weight + k * (size_t)mz->width;
  const int inner_begin = base < 0 ? -base : 0; /* columns that need no wrap */
  const int inner_end = base + count > mx->cols ? mx->cols - base : count;
  memset(buffer, 0, (size_t)count * sizeof *buffer);
  for (int q = 0; q < mz->width; q++)
    for (int p = 0; p < my->width; p++) {
      const real w = wz[q] * wy[p];
      if (w == 0) continue;
      const size_t row = (size_t)my->wrap[my->first[j] + p], plane = (size_t)mz->wrap[mz->first[k] + q];
      const real *line = x + (plane * (size_t)my->cols + row) * (size_t)mx->cols;
      for (int c = 0; c < inner_begin; c++) buffer[c] += w * line[mx->wrap[base + c]];
      const real *restrict in = line + base + inner_begin;
      real *restrict out = buffer + inner_begin;
#pragma omp simd
      for (int c = 0; c < inner_end - inner_begin; c++) out[c] += w * in[c];
      for (int c = inner_end; c < count; c++) buffer[c] += w * line[mx->wrap[base + c]];
    }
}

static void map_line(const gmg_map *m, const real *buffer, int base, size_t begin, size_t end, int add, real *y)
{
  const real *weight = m->weight;
  for (size_t i = begin; i < end; i++) {
    const real *in = buffer + (m->first[i] - base), *w = weight + i * (size_t)m->width;
    real s = add ? y[i] : 0;
    for (int c = 0; c < m->width; c++) s += w[c] * in[c];
    y[i] = s;
  }
}

void R(gmg_tensor_host)(const gmg_exec *e, const gmg_map map[3], const void *x, void *y, int add)
{
  const size_t rows = (size_t)map[0].rows, lines = (size_t)map[1].rows * (size_t)map[2].rows;
  const size_t pieces = (rows + PIECE - 1) / PIECE;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (rows * lines > 4096)
  for (size_t t = 0; t < pieces * lines; t++) {
    real buffer[BUFFER];
    const size_t line = t / pieces, begin = t % pieces * PIECE, end = begin + PIECE < rows ? begin + PIECE : rows;
    const int base = map[0].first[begin], count = map[0].first[end - 1] + map[0].width - base;
    combine(map, x, line % (size_t)map[1].rows, line / (size_t)map[1].rows, base, count, buffer);
    map_line(&map[0], buffer, base, begin, end, add, (real *)y + line * rows);
  }
}
