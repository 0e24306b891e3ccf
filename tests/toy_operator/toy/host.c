/* The toy's rows on the host: a line of A u, of the diagonal, and of |A| |u|. */
#include "gmg_smoother.h"

typedef struct {
  const gmg_operator *A;
} line_data;
#include "stencil/generic/host/by_lines.h"

static line_data line_data_of(const gmg_operator *A) { return (line_data){A}; }

/* The points of a row, as distances along axes 0 and 1. */
static const int points[7][2] = {{0, 0}, {-2, 0}, {-1, 0}, {1, 0}, {2, 0}, {0, -1}, {0, 1}};

static double entry_of(const gmg_operator *A, const int point[2])
{
  const double x = A->coupling[0] / 12, y = A->coupling[1];
  if (point[0] == 0 && point[1] == 0) return 30 * x + 2 * y + A->shift;
  return point[1] != 0 ? -y : point[0] % 2 ? -16 * x : x;
}

/* Sums over the points of each row. Beyond the walls u is 0. */
static void sums(const gmg_operator *A, const gmg_task *w, const real *u, real *out, int of_sizes)
{
  const long n[2] = {(long)A->n[0], (long)A->n[1]};
  for (size_t i = w->begin; i < w->end; i++) {
    double sum = 0;
    for (int p = 0; p < 7; p++) {
      const long x = (long)i + points[p][0], y = (long)w->j + points[p][1];
      if (x < 0 || x >= n[0] || y < 0 || y >= n[1]) continue;
      const double term = entry_of(A, points[p]) * (double)u[y * n[0] + x];
      sum += of_sizes ? fabs(term) : term;
    }
    out[i - w->begin] = (real)sum;
  }
}

static void line_image(const line_data *s, const gmg_task *w, const real *u, real *out) { sums(s->A, w, u, out, 0); }
static void line_magnitude(const line_data *s, const gmg_task *w, const real *u, real *out) { sums(s->A, w, u, out, 1); }

static void line_diagonal(const line_data *s, const gmg_task *w, real *out)
{
  for (size_t i = w->begin; i < w->end; i++) out[i - w->begin] = (real)entry_of(s->A, points[0]);
}

const gmg_operator_ops R(gmg_toy_host) = GMG_OPERATIONS_BY_LINES;
