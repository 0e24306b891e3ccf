/* Bad values in the caller's arrays, for error texts. Called by stencil and mg. */
#include "array.h"

#include <float.h>
#include <math.h>

enum { REALS_AT_A_TIME = 4096 };

/* The first of n reals that is not in least <= value < below, and its value. n: there is none. */
static size_t first_outside(const gmg_exec *e, size_t n, const void *x, double least, double below, double *value)
{
  double part[REALS_AT_A_TIME];
  for (size_t i = 0; i < n; i += REALS_AT_A_TIME) {
    const size_t m = n - i < REALS_AT_A_TIME ? n - i : REALS_AT_A_TIME;
    gmg_exec_read_reals(e, (const char *)x + i * e->real_size, m, part);
    for (size_t j = 0; j < m; j++)
      if (!(part[j] >= least && part[j] < below)) return *value = part[j], i + j;
  }
  return n;
}

int gmg_find_outside(const gmg_exec *e, gmg_layout at, const void *x, double least, double below, size_t *place, double *value)
{
  const size_t lines = gmg_is_packed(at) ? 1 : at.n[1] * at.n[2], count = gmg_unknowns_of(at) / lines;
  for (size_t line = 0; line < lines; line++) {
    const size_t first = gmg_offset_of_line(at, line);
    const size_t i = first_outside(e, count, (const char *)x + first * e->real_size, least, below, value);
    if (i < count) return *place = first + i, 1;
  }
  return 0;
}

double gmg_find_largest(const gmg_exec *e, gmg_layout at, const void *x, size_t *place)
{
  const gmg_range r = gmg_array_range(e, at, x);
  double value = fmax(fabs(r.least), fabs(r.most));
  const double below = nextafter(value, 0);
  *place = 0;
  (void)gmg_find_outside(e, at, x, -below, below, place, &value);
  return value;
}

double gmg_largest_to_square(size_t n) { return sqrt(DBL_MAX / (double)(n ? n : 1)); }

gmg_status gmg_check_values(const gmg_exec *e, gmg_layout at, size_t first, const void *x, const char *name, const char *where)
{
  const double largest = gmg_largest_to_square(gmg_unknowns_of(at));
  double value;
  size_t i;
  if (gmg_find_outside(e, at, x, -DBL_MAX, INFINITY, &i, &value))
    return gmg_fail(e->context, GMG_ERR_ARGUMENT, "%s[%zu] = %g%s: must be finite", name, first + i, value, where);
  if (!gmg_find_outside(e, at, x, -largest, largest, &i, &value)) return GMG_OK;
  return gmg_fail(e->context, GMG_ERR_ARGUMENT, "%s[%zu] = %g%s: too large, the sum of squares overflows", name, first + i, value,
                  where);
}
