/* Operations on arrays of the caller, which may have gaps between rows and planes (gmg_array_layout). The elements in the gaps are
   neither read nor written. A packed array goes to gmg_vector_ops. Pointers are to unknown (0, 0, 0). Calls exec; called by stencil
   and mg. */
#ifndef GMG_CORE_ARRAY_H
#define GMG_CORE_ARRAY_H

#include "backend.h"
#include "layout.h"

#define GMG_JUMP 100.0 /* beyond this ratio two neighbouring coefficients count as a jump */

/* The operations for arrays with gaps, on a backend and for a real type. On a device those without a result only enqueue. */
typedef struct gmg_array_ops {
  void (*fill)(const gmg_exec *e, gmg_layout at, double a, void *x);                                    /* x = a */
  void (*copy)(const gmg_exec *e, gmg_layout from, const void *x, gmg_layout to, void *y);              /* y = x */
  double (*norm2)(const gmg_exec *e, gmg_layout at, const void *x);                                     /* ||x||_2 */
  /* x = c + keep x; keep is 0 or 1; with 0 x is not read. c is packed */
  void (*correct)(const gmg_exec *e, gmg_layout at, gmg_correction c, int keep, void *x);
  /* y = y + a p with the step length a of conjugate gradients (gmg_vector_ops::cg_update). p is packed */
  void (*cg_step)(const gmg_exec *e, gmg_layout at, const gmg_cg_scalars *d, const void *p, void *y);
  gmg_range (*range)(const gmg_exec *e, gmg_layout at, const void *x);
  /* Least and most of x / y over n values along each axis, both positive. As the mean: the share of values for which it is above
     GMG_JUMP or below 1 / GMG_JUMP. Blocks on a device. */
  gmg_range (*ratios)(const gmg_exec *e, const size_t n[3], gmg_layout of_x, const void *x, gmg_layout of_y, const void *y);
} gmg_array_ops;

extern const gmg_array_ops gmg_array_host_f32, gmg_array_host_f64;

static inline const gmg_array_ops *gmg_array_ops_of(const gmg_exec *e) { return e->tables->array[e->type]; }
static inline size_t gmg_unknowns_of(gmg_layout at) { return at.n[0] * at.n[1] * at.n[2]; }

/* An array of the caller. */
typedef struct gmg_array {
  gmg_layout layout;
  size_t skipped;     /* elements before its first value */
  const void *values; /* the first value */
} gmg_array;

/* x: an array with `n` values along each axis, the beginning of the caller's memory; NULL stays NULL. */
static inline gmg_array gmg_array_of(gmg_type type, const size_t n[3], const gmg_array_layout *l, const void *x)
{
  const size_t bytes = type == GMG_F64 ? sizeof(double) : sizeof(float);
  gmg_array a = {gmg_layout_packed(n), l->first, x ? (const char *)x + l->first * bytes : NULL};
  if (l->row && n[1] * n[2] > 1) a.layout.row = l->row;
  if (l->plane && n[2] > 1) a.layout.rows = l->plane / a.layout.row;
  return a;
}

/* The layout of n packed values. */
static inline gmg_layout gmg_layout_of_list(size_t n)
{
  const size_t along[3] = {n, 1, 1};
  return gmg_layout_packed(along);
}

/* For error texts: finds the first value that is not in least <= value < below, and its offset from x. Returns 0 if there is none.
   Blocks. */
int gmg_find_outside(const gmg_exec *e, gmg_layout at, const void *x, double least, double below, size_t *place, double *value);

/* For error texts: finds the first of the values of the largest magnitude, none of which is NaN, and its offset from x. Blocks. */
double gmg_find_largest(const gmg_exec *e, gmg_layout at, const void *x, size_t *place);

/* The sum of the squares of n smaller values does not overflow. */
double gmg_largest_to_square(size_t n);

/* Refuses an array with a value that is not finite, or so large that the sum of all squares may overflow. The text names the first
   such value, followed by `where`. first: elements before x in the caller's array. Blocks. */
gmg_status gmg_check_values(const gmg_exec *e, gmg_layout at, size_t first, const void *x, const char *name, const char *where);

static inline void gmg_array_fill(const gmg_exec *e, gmg_layout at, double a, void *x)
{
  if (gmg_is_packed(at)) e->vector->fill(e, gmg_unknowns_of(at), a, x);
  else gmg_array_ops_of(e)->fill(e, at, a, x);
}

static inline void gmg_array_copy(const gmg_exec *e, gmg_layout from, const void *x, gmg_layout to, void *y)
{
  if (gmg_is_packed(from) && gmg_is_packed(to)) e->vector->copy(e, gmg_unknowns_of(to), x, y);
  else gmg_array_ops_of(e)->copy(e, from, x, to, y);
}

static inline double gmg_array_norm2(const gmg_exec *e, gmg_layout at, const void *x)
{
  return gmg_is_packed(at) ? e->vector->norm2(e, gmg_unknowns_of(at), x) : gmg_array_ops_of(e)->norm2(e, at, x);
}

static inline void gmg_array_correct(const gmg_exec *e, gmg_layout at, gmg_correction c, int keep, void *x)
{
  if (gmg_is_packed(at)) e->vector->correct(e, gmg_unknowns_of(at), c, keep, x);
  else gmg_array_ops_of(e)->correct(e, at, c, keep, x);
}

static inline double gmg_array_cg_update(const gmg_exec *e, gmg_layout at, gmg_cg_scalars *d, const void *p, const void *q, void *y,
                                         void *r, gmg_wait wait)
{
  const int packed = gmg_is_packed(at);
  if (!packed) gmg_array_ops_of(e)->cg_step(e, at, d, p, y);
  return e->vector->cg_update(e, gmg_unknowns_of(at), d, p, q, packed ? y : NULL, r, wait);
}

static inline gmg_range gmg_array_range(const gmg_exec *e, gmg_layout at, const void *x)
{
  return gmg_is_packed(at) ? e->vector->range(e, gmg_unknowns_of(at), x) : gmg_array_ops_of(e)->range(e, at, x);
}

#endif
