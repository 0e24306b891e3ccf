/* Gauss-Seidel in lexicographic order on host threads. Called through gmg_smoother_ops. With one thread, or params.deterministic,
   it is the sequential method, the CPU reference of Anzt, Dongarra, Gates, Tomov (2011). With more, each thread owns a block of
   rows: Gauss-Seidel inside, the newest values across. Shared values are read and written by relaxed atomics.

   In a row, only the new value of the previous unknown is not known in advance. So a row is relaxed in pieces, each in two passes.
   The first computes b and c of new value = b + c (previous new value) for all unknowns at once. The second evaluates this
   recurrence with the value in a register. The full formula, with its division, takes ten times as long. */
#include "smoothers/weight.h"

#include "core/host/atomics.h"
#include "stencil/operator/host/grid_row.h"

#include <omp.h>

/* Unknowns of a piece: a cache line. The processor then starts the first pass of the next piece during the second pass of this one.
   With pieces of 512 a sweep takes 1.5 times as long at 1000^2, and a reversed one 2.5 times at 100^3. */
enum { PIECE = 64 / sizeof(scalar) };

/* A row being relaxed, and its fields. */
typedef struct {
  const gmg_line *l;
  const scalar *f;
  scalar *u;
  real omega;
} row;

/* Relaxes any unknown, also one with a neighbour across a seam, or one that another thread may access. */
GMG_INLINE void relax_one(const int dim, const int kind, const row *r, size_t i)
{
  const gmg_line *l = r->l;
  scalar *u = r->u;
  gmg_neighbours near = {.lo = {gmg_load(i > 0 ? u + i - 1 : l->before)},
                         .hi = {gmg_load(i + 1 < l->n ? u + i + 1 : l->after)}};
  if (dim > 1) near.lo[1] = gmg_load(l->y_lo + i), near.hi[1] = gmg_load(l->y_hi + i);
  if (dim > 2) near.lo[2] = gmg_load(l->z_lo + i), near.hi[2] = gmg_load(l->z_hi + i);
  gmg_store(u + i, gmg_row_relaxed(dim, kind, gmg_line_row(dim, kind, l, i), near, r->f[i], gmg_load(u + i), r->omega));
}

/* The numbers b and c of an unknown. Its previous neighbour counts as 0 in `near`. */
GMG_INLINE void recurrence_at(const int dim, const int kind, const int backward, gmg_row a, gmg_neighbours near, scalar f, scalar u,
                              real omega, scalar *b, real *c)
{
  const real inverse = 1 / a.diag, weight = gmg_row_weight(dim, kind, a, inverse, omega);
  *b = gmg_row_relaxed_by(dim, a, near, f, u, inverse, weight);
  *c = weight * inverse * (backward ? a.hi[0] : a.lo[0]);
}

/* Relaxes unknowns from .. from + n - 1, without the ends of the row. behind: new value of the previous unknown. Returns the last
   new value. */
GMG_INLINE scalar relax_piece(const int dim, const int kind, const int uniform, const int backward, const row *r, size_t from,
                              size_t n, scalar behind)
{
  const gmg_line *const l = r->l;
  const scalar *const f = r->f;
  const real omega = r->omega;
  scalar *const u = r->u, b[PIECE];
  real c[PIECE];
#pragma omp simd
  for (size_t m = 0; m < n; m++) {
    const size_t i = from + m;
    const gmg_neighbours near = gmg_line_near(l, i, backward ? u[i - 1] : 0, backward ? 0 : u[i + 1]);
    recurrence_at(dim, kind, backward, gmg_line_inner_row(dim, kind, uniform, l, i), near, f[i], u[i], omega, &b[m], &c[m]);
  }
  for (size_t m = 0; m < n; m++) {
    const size_t at = backward ? n - 1 - m : m;
    u[from + at] = behind = b[at] + c[at] * behind;
  }
  return behind;
}

/* Relaxes unknowns begin .. end - 1, without the ends of the row. */
GMG_INLINE void relax_inside(const int dim, const int kind, const int uniform, const int backward, const row *r, size_t begin,
                             size_t end)
{
  size_t left = end - begin;
  scalar behind = backward ? r->u[end] : r->u[begin - 1];
  for (; left >= PIECE; left -= PIECE)
    behind = relax_piece(dim, kind, uniform, backward, r, backward ? begin + left - PIECE : end - left, PIECE, behind);
  if (left) relax_piece(dim, kind, uniform, backward, r, backward ? begin : end - left, left, behind);
}

/* Relaxes a segment of a row whose neighbours in other rows all belong to this thread. */
GMG_INLINE void relax_private(const int dim, const int kind, const int backward, const row *r, const gmg_task *w)
{
  const size_t begin = w->begin, end = w->end;
  relax_one(dim, kind, r, backward ? end - 1 : begin);
  if (end - begin > 2 && kind == GMG_CONSTANT && r->l->uniform) relax_inside(dim, kind, 1, backward, r, begin + 1, end - 1);
  else if (end - begin > 2) relax_inside(dim, kind, 0, backward, r, begin + 1, end - 1);
  if (end - begin > 1) relax_one(dim, kind, r, backward ? begin : end - 1);
}

GMG_INLINE void relax_shared(const int dim, const int kind, int backward, const row *r, const gmg_task *w)
{
  for (size_t i = w->begin; i < w->end; i++) relax_one(dim, kind, r, backward ? w->begin + w->end - 1 - i : i);
}

/* Whether tasks first .. last - 1 contain all neighbours of this one in other rows. */
static int is_private(const gmg_operator *A, const gmg_task *w, size_t first, size_t last)
{
  const size_t j[] = {gmg_below(A, 1, w->j), gmg_above(A, 1, w->j), w->j, w->j};
  const size_t k[] = {w->k, w->k, gmg_below(A, 2, w->k), gmg_above(A, 2, w->k)};
  for (int i = 0; i < 4; i++) {
    const size_t task = gmg_task_number(A, w->begin, j[i], k[i]);
    if (task < first || task >= last) return 0;
  }
  return 1;
}

static void sweep_once(const gmg_smoother_level *level, const scalar *f, scalar *u, int backward)
{
  const gmg_operator *A = level->A;
  const real omega = (real)gmg_weight_gauss_seidel(A, level->params);
  const size_t tasks = gmg_tasks(A);
  const int wanted = level->params->deterministic || A->cells < GMG_MIN_CELLS_PARALLEL_SWEEP ? 1 : level->threads;
#pragma omp parallel num_threads(wanted)
  {
    const size_t threads = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
    const size_t mine = backward ? threads - 1 - me : me;
    const size_t begin = tasks * mine / threads, end = tasks * (mine + 1) / threads;
    for (size_t s = begin; s < end; s++) {
      const gmg_task w = gmg_task_at(A, backward ? begin + end - 1 - s : s);
      const gmg_line l = gmg_line_at(A, u, w.j, w.k);
      const row r = {&l, f + w.offset, u + w.offset, omega};
      const int shared = !is_private(A, &w, begin, end);
#define RELAX(dim, kind)                                       \
  case GMG_FORM(dim, kind):                                    \
    if (shared) relax_shared(dim, kind, backward, &r, &w);     \
    else if (backward) relax_private(dim, kind, 1, &r, &w);    \
    else relax_private(dim, kind, 0, &r, &w);                  \
    break;
      switch (gmg_form_of(A)) { GMG_FORMS(RELAX) }
#undef RELAX
    }
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state;
  for (int s = 0; s < steps; s++) sweep_once(l, f, u, leg == GMG_LEG_UP_REVERSED);
}

const gmg_smoother_ops R(gmg_gauss_seidel_host) = {.sweep = sweep};
