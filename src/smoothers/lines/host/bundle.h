/* Bundles of lines on host threads: what the sweeps of grid.c and box.c share. Rows of a bundle's systems are in memory beside each
   other, so that they are eliminated at once. Elimination without pivoting (Thomas 1949) goes up the lines, substitution goes down
   again. Compiled once per real type. Private to this folder. */
#ifndef GMG_SMOOTHERS_LINES_BUNDLE_H
#define GMG_SMOOTHERS_LINES_BUNDLE_H

#include "smoothers/lines/lines.h"

#include "core/exec.h"
#include "smoothers/lines/systems.h"

#include <omp.h>

/* Lines that are relaxed at once, and rows that are loaded at once. A line along axis 0 is loaded in pieces of contiguous memory.
   Rows across lie far from each other, so the row AHEAD rows further on is prefetched. With 16 lines and rows, and no prefetch, a
   solve took 1.6 times as long along axis 0, and 1.5 times along axis 1 (2048^2, double, two cores). V(1,1) with lines takes 61 ms
   at 128^3, all levels included, with red-black 31 ms. */
enum { LANES_ALONG = 8, ROWS_ALONG = 64, LANES_ACROSS = 32, ROWS_ACROSS = 1, AHEAD = 4, ROOM = LANES_ALONG * ROWS_ALONG };

/* Lines along `axis`: lane m is at first + 2 m along the axis `beside`, and at `other` along the third axis. */
typedef struct {
  lines_axes along;
  size_t first, lanes, other;
} bundle;

/* Corrections of a bundle, in rows of `pitch` lanes, as lines_unknown has them. The border of a periodic axis is its last unknown.
   Below row 0 there is a row without an unknown, or of the border. */
typedef struct {
  size_t n, pitch;
  scalar *d;
  real *q, *z; /* z: NULL, unless the axis is periodic */
} systems;

GMG_INLINE size_t lanes_of(const int axis) { return axis ? LANES_ACROSS : LANES_ALONG; }
GMG_INLINE size_t rows_of(const int axis) { return axis ? ROWS_ACROSS : ROWS_ALONG; }

/* Rows of the systems, lanes_of(axis) beside each other: couplings along the axis, diagonals, and residuals of u. */
typedef struct {
  real lo[ROOM], hi[ROOM], diag[ROOM];
  scalar r[ROOM];
} rows;

/* The arguments of a sweep. */
typedef struct {
  const gmg_operator *A;
  const scalar *f;
  scalar *u;
  real omega;
} fields;

/* --- what the file defines that includes this: also DIAGONAL, for lines_colours() and lines_phases() -------------------------- */

/* Loads rows from row k up, and returns how many. form: anything that is a constant after inlining. */
GMG_INLINE size_t load_rows(const int dim, const int form, const int axis, const fields *x, const bundle *b, size_t k, size_t end,
                            rows *to);
/* relax() with constants. */
static void relax_bundle(const fields *x, const bundle *b, const systems *s);
/* Bundle number t of a part. lanes = 0: none of its lines belong to the part. */
static bundle bundle_at(const gmg_operator *A, int axis, lines_part p, size_t t);

/* --- elimination -------------------------------------------------------------------------------------------------------------- */

/* Row k of the elimination. It begins at number `at` in a. */
static inline void eliminate(const rows *a, size_t at, const systems *s, size_t k, size_t lanes)
{
  const real *lo = a->lo + at, *hi = a->hi + at, *diag = a->diag + at;
  const scalar *r = a->r + at;
  const size_t here = k * s->pitch;
  const scalar *d_below = s->d + here - s->pitch;
  const real *q_below = s->q + here - s->pitch;
  scalar *restrict d = s->d + here;
  real *restrict q = s->q + here;
  if (s->z) {
    const real is_last = k + 2 == s->n, *z_below = s->z + here - s->pitch; /* is_last: the border is above this row */
    real *restrict z = s->z + here;
#pragma omp simd
    for (size_t m = 0; m < lanes; m++) {
      const lines_unknown below = {d_below[m], q_below[m], z_below[m]};
      const lines_unknown x = lines_eliminated((lines_row){lo[m], hi[m], diag[m], r[m]}, below);
      d[m] = x.d, q[m] = x.q, z[m] = x.z + is_last * x.q;
    }
    return;
  }
#pragma omp simd
  for (size_t m = 0; m < lanes; m++) {
    const lines_unknown below = {d_below[m], q_below[m], 0};
    const lines_unknown x = lines_eliminated((lines_row){lo[m], hi[m], diag[m], r[m]}, below);
    d[m] = x.d, q[m] = x.q;
  }
}

/* The last row of a periodic axis. All others are known as d and z. */
static inline void close_border(const rows *a, const systems *s, size_t lanes)
{
  const size_t here = (s->n - 1) * s->pitch, below = here - s->pitch;
  for (size_t m = 0; m < lanes; m++) {
    const real lo = a->lo[m], hi = a->hi[m];
    const real inverse = lines_inverse(a->diag[m] - lo * s->z[below + m] - hi * s->z[m], a->diag[m]);
    s->d[here + m] = (a->r[m] + lo * s->d[below + m] + hi * s->d[m]) * inverse;
  }
}

static inline void substitute(const systems *s, size_t lanes, size_t end)
{
  for (size_t k = end - 1; k-- > 0;) {
    const size_t here = k * s->pitch;
    const scalar *d_above = s->d + here + s->pitch;
    const real *q = s->q + here;
    scalar *restrict d = s->d + here;
#pragma omp simd
    for (size_t m = 0; m < lanes; m++) d[m] += q[m] * d_above[m];
    for (size_t m = 0; m < lanes && s->z; m++) s->z[here + m] += q[m] * s->z[here + s->pitch + m];
  }
}

/* d = d + z d_last */
static inline void add_border(const systems *s, size_t lanes)
{
  const scalar *last = s->d + (s->n - 1) * s->pitch;
  for (size_t k = 0; k + 1 < s->n; k++)
    for (size_t m = 0; m < lanes; m++) s->d[k * s->pitch + m] += s->z[k * s->pitch + m] * last[m];
}

/* u = u + omega d */
static inline void add(const fields *x, const bundle *b, const systems *s)
{
  const gmg_layout at = gmg_layout_of(x->A);
  const size_t across = 2 * gmg_pitch(at, b->along.beside), along = gmg_pitch(at, b->along.axis);
  scalar *u = x->u + gmg_pitch(at, b->along.beside) * b->first + gmg_pitch(at, b->along.third) * b->other;
  if (b->along.axis == 0) {
    for (size_t k = 0; k < s->n; k += ROWS_ALONG)
      for (size_t m = 0; m < b->lanes; m++)
        for (size_t i = k; i < s->n && i < k + ROWS_ALONG; i++) u[m * across + i] += x->omega * s->d[i * s->pitch + m];
    return;
  }
  for (size_t k = 0; k < s->n; k++)
    for (size_t m = 0; m < b->lanes; m++) u[k * along + 2 * m] += x->omega * s->d[k * s->pitch + m];
}

/* --- a bundle of lines -------------------------------------------------------------------------------------------------------- */

GMG_INLINE void relax(const int dim, const int form, const int axis, const fields *x, const bundle *b, const systems *s)
{
  const size_t end = s->n - (s->z != NULL);
  rows a;
  for (size_t k = 0, count; k < end; k += count) {
    count = load_rows(dim, form, axis, x, b, k, end, &a);
    for (size_t i = 0; i < count; i++) eliminate(&a, i * lanes_of(axis), s, k + i, b->lanes);
  }
  substitute(s, b->lanes, end);
  if (s->z) {
    load_rows(dim, form, axis, x, b, end, s->n, &a);
    close_border(&a, s, b->lanes);
    add_border(s, b->lanes);
  }
  add(x, b, s);
}

/* --- memory ------------------------------------------------------------------------------------------------------------------- */

static inline bundle bundle_along(int axis) { return (bundle){.along = lines_axes_of(axis)}; }

static inline size_t bundles_in_row(const gmg_operator *A, const bundle *b)
{
  const size_t width = 2 * lanes_of(b->along.axis);
  return (A->n[b->along.beside] + width - 1) / width;
}

/* Lanes and scalars of the systems along an axis, z and the row below row 0 included. */
static inline size_t lanes_along(const gmg_operator *A, int axis)
{
  const bundle b = bundle_along(axis);
  const size_t lines = (A->n[b.along.beside] + 1) / 2;
  return lines < lanes_of(axis) ? lines : lanes_of(axis);
}

static inline size_t scalars_along(const gmg_operator *A, int axis) { return 3 * (A->n[axis] + 1) * lanes_along(A, axis); }

static inline systems systems_in(const gmg_operator *A, int axis, scalar *room)
{
  const size_t n = A->n[axis], pitch = lanes_along(A, axis), size = (n + 1) * pitch;
  systems s = {.n = n, .pitch = pitch, .d = room + pitch, .q = (real *)(room + size) + pitch};
  if (A->wraps[axis] && n > 1) s.z = (real *)(room + 2 * size) + pitch;
  for (size_t m = 0; m < pitch; m++) {
    s.d[m - pitch] = 0, s.q[m - pitch] = 0;
    if (s.z) s.z[m - pitch] = 1;
  }
  return s;
}

static inline size_t room_of_thread(const gmg_smoother_level *l)
{
  size_t most = 0;
  for (int a = 0; a < 3; a++)
    if (gmg_has_lines_along(l, a) && scalars_along(l->A, a) > most) most = scalars_along(l->A, a);
  return (most + 7) / 8 * 8;
}

static inline gmg_status setup(const gmg_smoother_level *l, void **state)
{
  return gmg_exec_alloc(l->exec, "systems of lines", (size_t)l->threads * room_of_thread(l) * sizeof(scalar), state);
}

/* --- a sweep ------------------------------------------------------------------------------------------------------------------ */

static void relax_part(const gmg_smoother_level *l, int axis, lines_part p, const fields *x, scalar *room)
{
  const gmg_operator *A = l->A;
  const bundle any = bundle_along(axis);
  const size_t bundles = bundles_in_row(A, &any) * A->n[any.along.third], size = room_of_thread(l);
#pragma omp parallel num_threads(l->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL_SWEEP)
  {
    const systems s = systems_in(A, axis, room + (size_t)omp_get_thread_num() * size);
#pragma omp for schedule(static)
    for (size_t t = 0; t < bundles; t++) {
      const bundle b = bundle_at(A, axis, p, t);
      if (b.lanes) relax_bundle(x, &b, &s);
    }
  }
}

/* Half of the colours in a slice. A slice holds all lines at one place along the third axis or, if there is only one place, one
   bundle. Lines have neighbours in their own slice and in the slices beside it. */
static void relax_slice(const fields *x, int axis, size_t half, int reversed, size_t slice, const systems *s)
{
  const bundle any = bundle_along(axis);
  const size_t count = x->A->n[any.along.third] > 1 ? bundles_in_row(x->A, &any) : 1, colours = lines_colours(x->A, DIAGONAL);
  for (size_t i = half * colours / 2; i < (half + 1) * colours / 2; i++)
    for (size_t t = slice * count; t < (slice + 1) * count; t++) {
      const bundle b = bundle_at(x->A, axis, lines_part_at(colours, 1, i, reversed), t);
      if (b.lanes) relax_bundle(x, &b, s);
    }
}

/* Relaxes all colours in one pass over memory, where there are no phases: the second half of the colours follows the first by one
   slice. At the ends of a thread's share it waits until the neighbours have relaxed the first half. The values are the same as with
   a pass for each colour. */
static void relax_at_once(const gmg_smoother_level *l, int axis, int reversed, const fields *x, scalar *room)
{
  const gmg_operator *A = l->A;
  const bundle any = bundle_along(axis);
  const size_t slices = A->n[any.along.third] > 1 ? A->n[any.along.third] : bundles_in_row(A, &any), size = room_of_thread(l);
#pragma omp parallel num_threads(l->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL_SWEEP)
  {
    const systems s = systems_in(A, axis, room + (size_t)omp_get_thread_num() * size);
    const size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
    const size_t begin = slices * me / threads, end = slices * (me + 1) / threads;
    for (size_t k = begin; k < end; k++) {
      relax_slice(x, axis, 0, reversed, k, &s);
      if (k > begin + 1) relax_slice(x, axis, 1, reversed, k - 1, &s);
    }
#pragma omp barrier
    if (begin < end) relax_slice(x, axis, 1, reversed, begin, &s);
    if (begin + 1 < end) relax_slice(x, axis, 1, reversed, end - 1, &s);
  }
}

static void sweep_along(const gmg_smoother_level *l, int axis, int reversed, const fields *x, scalar *room)
{
  const size_t phases = lines_phases(l->A, lines_axes_of(axis), DIAGONAL), colours = lines_colours(l->A, DIAGONAL);
  if (phases == 1) relax_at_once(l, axis, reversed, x, room);
  for (size_t i = 0; i < colours * phases && phases > 1; i++)
    relax_part(l, axis, lines_part_at(colours, phases, i, reversed), x, room);
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const fields x = {l->A, f, u, (real)gmg_weight_lines(l->A, l->params)};
  const int reversed = leg == GMG_LEG_UP_REVERSED;
  for (int s = 0; s < steps; s++)
    for (int i = 0; i < 3; i++) {
      const int axis = reversed ? 2 - i : i;
      if (gmg_has_lines_along(l, axis)) sweep_along(l, axis, reversed, &x, state);
    }
}

#endif
