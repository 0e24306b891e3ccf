/* Changes a field and applies the operator to the result, in one pass over memory. In a thread's slices (planes in 3D, lines in 2D)
   the operator follows the change by one slice and one line. At both ends of the thread's share it waits until the neighbouring
   threads have made their changes. Sums are computed slice by slice, so they do not depend on the number of threads. Called through
   gmg_operator_ops. */
#include "sums.h"
#include "stencil/grid_ops.h"

#include "core/cg_scalars.h"

#include <math.h>
#include <omp.h>

/* The change of a line, and the application of the operator to it, which also computes two sums. */
typedef struct work work;
struct work {
  void (*change)(const work *x, const gmg_task *w);
  gmg_task_sums *apply;
  const gmg_operator *A;
  gmg_correction c;
  const scalar *old;
  scalar *changed;    /* the field to change: changed = c + keep old, where old may be changed */
  real keep;          /* 0: old is not read */
  const scalar *with; /* f, or the other factor of an inner product */
  void *out;          /* the residual in low precision, or A times the field */
  real scale;         /* scale of the residual */
};

enum { MAX_SLICES = 4096 };

static void ask_for(const void *p, size_t from, size_t n, size_t size)
{
  for (size_t i = from * size; i < (from + n) * size; i += 64) __builtin_prefetch((const char *)p + i);
}

/* Prefetches lines ahead, in parts between the work: correct_residual() at 256^3 takes 21.2 instead of 22.9 ms. */
enum { LINES_AHEAD = 2 };

static size_t ahead_of(const gmg_operator *A, gmg_layout at, size_t slice, size_t m)
{
  return A->dim == 3 ? gmg_offset(at, 0, m + LINES_AHEAD, slice) : gmg_offset(at, 0, slice + LINES_AHEAD, 0);
}

/* Applies the operator to the unknowns of a line that belong to this process. */
static gmg_two_sums apply_own(const work *x, const gmg_task *line, gmg_two_exact *exact)
{
  const gmg_task w = gmg_own_task(x->A, *line);
  return w.begin < w.end ? x->apply(x, &w, exact) : (gmg_two_sums){0, 0};
}

/* Lines are processed in blocks of GMG_LINES through all slices of the share, so that three slices of a block stay in the cache:
   correct_residual() at 256^3 takes 19.5 instead of 20.6 ms. `apply` processes line 0 last in a slice, when the line below it on a
   periodic axis has changed, too. */
static gmg_two_sums run_slices(const gmg_exec *e, const work *x)
{
  const gmg_operator *A = x->A;
  const gmg_residual_layouts at = gmg_residual_layouts_of(A);
  const size_t slices = A->n[A->dim - 1], lines = A->dim == 3 ? A->n[1] : 1, n0 = A->n[0];
  const size_t z_size = x->c.low ? sizeof(low_scalar) : sizeof(scalar);
  gmg_two_sums part[MAX_SLICES];
  gmg_two_exact all = {0};
#pragma omp parallel num_threads(e->threads) if (A->cells > GMG_MIN_CELLS_PARALLEL) reduction(gmg_merge : all)
  {
    const size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
    const size_t begin = slices * me / threads, end = slices * (me + 1) / threads;
    gmg_two_exact *const exact = e->exact_sums ? &all : NULL;
    for (size_t k = begin; k < end; k++) part[k] = (gmg_two_sums){0, 0};
    for (size_t first = 0; first < lines; first += GMG_LINES) {
      const size_t last = first + GMG_LINES < lines ? first + GMG_LINES : lines, end_line = last < lines ? last : lines + 2;
      for (size_t k = begin; k < end; k++)
        for (size_t m = first; m < end_line; m++) {
          const gmg_task here = gmg_line_of_slice(A, k, m), behind = gmg_line_of_slice(A, k - 1, (m - 1) % lines);
          const int more = m + LINES_AHEAD < last, applies = m > 1 && k > begin + 1;
          if (more) ask_for(x->old, ahead_of(A, at.u, k, m), n0, sizeof(scalar));
          if (m < last) x->change(x, &here);
          if (more) ask_for(x->c.z, ahead_of(A, at.r, k, m), n0, z_size);
          if (more && applies) ask_for(x->with, ahead_of(A, at.f, k - 1, m - 1), n0, sizeof(scalar));
          if (applies) gmg_add_sums(&part[k - 1], apply_own(x, &behind, exact));
        }
    }
#pragma omp barrier
    for (size_t m = 1; m <= lines; m++) {
      const gmg_task low = gmg_line_of_slice(A, begin, m % lines), high = gmg_line_of_slice(A, end - 1, m % lines);
      if (begin < end) gmg_add_sums(&part[begin], apply_own(x, &low, exact));
      if (begin + 1 < end) gmg_add_sums(&part[end - 1], apply_own(x, &high, exact));
    }
  }
  return gmg_total_of(e, part, slices, &all);
}

/* Two passes, one after the other: in 1D, for long lines, or for many slices. */
static gmg_two_sums run_twice(const gmg_exec *e, const work *x)
{
  const size_t tasks = gmg_tasks(x->A);
#pragma omp parallel for schedule(static) num_threads(e->threads) if (x->A->cells > GMG_MIN_CELLS_PARALLEL)
  for (size_t t = 0; t < tasks; t++) {
    const gmg_task w = gmg_task_at(x->A, t);
    x->change(x, &w);
  }
  return gmg_sum_tasks(e, x->A, gmg_task_at, x->apply, x);
}

static gmg_two_sums run(const gmg_exec *e, const work *x)
{
  const gmg_operator *A = x->A;
  return A->dim > 1 && !gmg_has_long_lines(A) && A->n[A->dim - 1] <= MAX_SLICES ? run_slices(e, x) : run_twice(e, x);
}

GMG_INLINE void change_by(const int low, const work *x, const gmg_task *w)
{
  const real scale = (real)(x->c.scale ? *x->c.scale : 1), keep = x->keep;
  const gmg_residual_layouts at = gmg_residual_layouts_of(x->A);
  const size_t own = gmg_offset(at.r, 0, w->j, w->k);
  const scalar *restrict high_z = (const scalar *)x->c.z + own;
  const low_scalar *restrict low_z = (const low_scalar *)x->c.z + own;
  const scalar *old = x->old + gmg_offset(at.u, 0, w->j, w->k);
  scalar *to = x->changed + gmg_offset(at.u, 0, w->j, w->k); /* may be old */
#pragma omp simd
  for (size_t i = w->begin; i < w->end; i++) {
    const scalar z = low ? (scalar)low_z[i] : high_z[i];
    to[i] = keep != 0 ? gmg_two_products(scale, z, keep, old[i]) : scale * z;
  }
}

static void change(const work *x, const gmg_task *w)
{
  if (x->c.low) change_by(1, x, w);
  else change_by(0, x, w);
}

static gmg_two_sums apply_residual(const void *what, const gmg_task *w, gmg_two_exact *exact)
{
  const work *x = what;
  scalar line[GMG_SEGMENT];
  const size_t n = w->end - w->begin;
  const real scale = x->scale;
  low_scalar *restrict to = (low_scalar *)x->out + gmg_offset(gmg_layout_of_r(x->A), w->begin, w->j, w->k);
  double sum = 0;
  gmg_task_map(gmg_residual_point, x->A, *w, x->with, x->changed, 0, 0, line);
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++) {
    sum += gmg_square((wide_scalar)line[i]);
    to[i] = (low_scalar)(scale * line[i]);
  }
  if (exact) GMG_EXACT_SUM(exact->first, i, 0, n, gmg_square((wide_scalar)line[i]));
  return (gmg_two_sums){sum, 0};
}

static gmg_two_sums apply_dots(const void *what, const gmg_task *w, gmg_two_exact *exact)
{
  const work *x = what;
  const gmg_operator *A = x->A;
  const real *restrict w0 = A->volume[0];
  const scalar *restrict p = x->changed + w->offset, *restrict r = x->with + w->offset;
  scalar *restrict q = (scalar *)x->out + w->offset;
  const double beside = (double)((const real *)A->volume[1])[w->j] * (double)((const real *)A->volume[2])[w->k];
  double first = 0, second = 0;
  gmg_task_map(gmg_image_point, A, *w, x->changed, x->changed, 0, 0, q + w->begin);
#define WITH(y) gmg_real_part(gmg_product((double)w0[i] * (wide_scalar)p[i], (wide_scalar)y[i]))
#pragma omp simd reduction(+ : first, second)
  for (size_t i = w->begin; i < w->end; i++) first += WITH(q), second += WITH(r);
  if (exact) {
    GMG_EXACT_SUM(exact->first, i, w->begin, w->end, beside * WITH(q));
    GMG_EXACT_SUM(exact->second, i, w->begin, w->end, beside * WITH(r));
  }
#undef WITH
  return (gmg_two_sums){beside * first, beside * second};
}

double R(gmg_correct_residual_host)(const gmg_exec *e, const gmg_operator *A, gmg_correction c, const void *f, void *u,
                                    const double *divisor, gmg_scale *s, void *r, gmg_wait wait)
{
  const double scale = gmg_scale_of_residual(divisor, s);
  const work x = {change, apply_residual, A, c, u, u, 1, f, r, (real)scale};
  return gmg_norms_of(run(e, &x), scale, s, NULL, wait);
}

void R(gmg_cg_direction_host)(const gmg_exec *e, const gmg_operator *A, const void *z, gmg_cg_scalars *d, const double *unit,
                              const void *last, void *p, const void *x, void *q)
{
  const work w = {change, apply_dots, A, {.z = z}, last, p, (real)d->beta, x, q, 1};
  const gmg_two_sums sums = run(e, &w);
  gmg_cg_note(d, sums.first, sums.second, unit);
}
