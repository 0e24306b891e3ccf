/* The caller's arrays: checks of their layouts, and whether two of them overlap. Called by check.c and by calls of the API. */
#include "solver.h"

#include <stdint.h>
#include <stdlib.h>

/* Refuses a layout in which rows or planes overlap. n: values along each axis */
static gmg_status check_layout(gmg_context *c, const gmg_problem *p, const char *name, const size_t n[3], const gmg_array_layout *l)
{
  const size_t most = SIZE_MAX / 1024; /* bytes of all fields must not overflow */
  const size_t row = p->dim > 1 && l->row ? l->row : n[0], plane = p->dim > 2 && l->plane ? l->plane : row * n[1];
  if (row < n[0] || row > most / n[1] / n[2])
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.%s.row = %zu: must be 0 (packed), or from %zu (the values of a row) to %zu", name,
                    row, n[0], most / n[1] / n[2]);
  if (plane < row * n[1] || plane > most / n[2])
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.%s.plane = %zu: must be 0 (no gaps between planes), or from %zu (%zu rows of "
                    "%zu) to %zu", name, plane, row * n[1], n[1], row, most / n[2]);
  if (plane % row)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.%s.plane = %zu: must be a multiple of the row, %zu", name, plane, row);
  if (l->first > most - plane * n[2])
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.%s.first = %zu: the number of bytes overflows", name, l->first);
  return GMG_OK;
}

/* Refuses an array whose rows, planes or beginning have no room for the halo. */
static gmg_status check_halo(gmg_context *c, const gmg_problem *p, const char *name, const gmg_array_layout *l)
{
  const gmg_layout at = gmg_array_of(p->type, p->n, l, NULL).layout;
  const size_t pitch[3] = {1, at.row, gmg_pitch(at, 2)}, room[3] = {at.row, at.rows, SIZE_MAX};
  size_t before = 0;
  for (int a = 0; a < p->dim; a++) {
    if (p->halo[a] > SIZE_MAX / 1024 / pitch[a] || (a + 1 < p->dim && p->n[a] + 2 * p->halo[a] > room[a]))
      return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.halo[%d] = %zu: %s has no room for such layers on both sides of %zu unknowns",
                      a, p->halo[a], name, p->n[a]);
    before += p->halo[a] * pitch[a];
  }
  if (before > l->first)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.halo: %s has %zu elements before the first unknown, and the halo %zu", name,
                    l->first, before);
  return GMG_OK;
}

gmg_status gmg_check_layouts(gmg_context *c, const gmg_problem *p)
{
  const gmg_array_layout *l = &p->coefficient_layout;
  size_t n[3]; /* of the largest array of coefficients along each axis */
  for (int a = 0; a < 3; a++) n[a] = p->n[a] + (a < p->dim && p->beta_face[a]);
  GMG_TRY(check_layout(c, p, "f_layout", p->n, &p->f_layout));
  GMG_TRY(check_layout(c, p, "u_layout", p->n, &p->u_layout));
  GMG_TRY(check_halo(c, p, "f_layout", &p->f_layout));
  GMG_TRY(check_halo(c, p, "u_layout", &p->u_layout));
  if (p->dim > 2 && p->beta_face[0] && l->plane && !l->row)
    return gmg_fail(c, GMG_ERR_ARGUMENT, "problem.coefficient_layout.plane = %zu: with beta_face it needs a row, too, because the "
                    "rows of these arrays differ in length", l->plane);
  return check_layout(c, p, "coefficient_layout", n, l);
}

gmg_array gmg_array_of_f(const gmg_problem *p, const void *f) { return gmg_array_of(p->type, p->n, &p->f_layout, f); }
gmg_array gmg_array_of_u(const gmg_problem *p, const void *u) { return gmg_array_of(p->type, p->n, &p->u_layout, u); }

/* An array of f or u with its halo. */
static gmg_array with_halo(const gmg_problem *p, gmg_array x)
{
  const size_t before = gmg_offset(x.layout, p->halo[0], p->halo[1], p->halo[2]);
  x.values = (const char *)x.values - before * gmg_type_traits_of(p->type)->size;
  for (int a = 0; a < p->dim; a++) x.layout.n[a] += 2 * p->halo[a];
  return x;
}

gmg_array gmg_reach_of_f(const gmg_problem *p, const void *f) { return with_halo(p, gmg_array_of_f(p, f)); }
gmg_array gmg_reach_of_u(const gmg_problem *p, const void *u) { return with_halo(p, gmg_array_of_u(p, u)); }

/* The quotient, rounded down. */
static long long quotient(long long a, long long b) { return a / b - (a % b < 0); }

/* Whether x + row y + plane z = distance for some |x| < n[0], |y| < n[1], |z| < n[2]. */
static int is_difference(const size_t n[3], long long row, long long plane, long long distance)
{
  for (long long z = quotient(distance, plane) - 1; z <= quotient(distance, plane) + 2; z++)
    for (long long rest = distance - z * plane, y = quotient(rest, row) - 1; y <= quotient(rest, row) + 2; y++)
      if (llabs(rest - y * row) < (long long)n[0] && llabs(y) < (long long)n[1] && llabs(z) < (long long)n[2]) return 1;
  return 0;
}

/* Rows of one array may lie in the gaps of the other, if both have the same pitches. */
int gmg_overlap(gmg_type type, gmg_array a, gmg_array b)
{
  const size_t *n = a.layout.n, size = gmg_type_traits_of(type)->size;
  const uintptr_t at_a = (uintptr_t)a.values, end_a = at_a + (gmg_offset(a.layout, n[0] - 1, n[1] - 1, n[2] - 1) + 1) * size;
  const uintptr_t at_b = (uintptr_t)b.values, end_b = at_b + (gmg_offset(b.layout, n[0] - 1, n[1] - 1, n[2] - 1) + 1) * size;
  if (at_a >= end_b || at_b >= end_a) return 0;
  const long long distance = (long long)(at_b - at_a);
  if (a.layout.row != b.layout.row || a.layout.rows != b.layout.rows || distance % (long long)size) return 1;
  return is_difference(n, (long long)a.layout.row, (long long)gmg_pitch(a.layout, 2), distance / (long long)size);
}
