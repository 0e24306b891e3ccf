/* Gauss-Seidel in lexicographic order on host threads. One thread (or params.deterministic) is the true sequential
   method, the CPU reference of Anzt, Dongarra, Gates, Tomov (2011). With more, each thread owns a block of lines,
   Gauss-Seidel inside, the newest values across; shared values are read and written by relaxed atomics. */
#include "gauss_seidel.h"

#include "core/host/atomics.h"
#include "stencil/operator/host/grid_row.h"

GMG_INLINE void relax(const int dim, const int kind, const gmg_line *l, size_t i, const real *f, real *u, real omega)
{
  gmg_neighbours near = {.lo = {gmg_load(i > 0 ? u + i - 1 : l->before)},
                         .hi = {gmg_load(i + 1 < l->n ? u + i + 1 : l->after)}};
  if (dim > 1) near.lo[1] = gmg_load(l->y_lo + i), near.hi[1] = gmg_load(l->y_hi + i);
  if (dim > 2) near.lo[2] = gmg_load(l->z_lo + i), near.hi[2] = gmg_load(l->z_hi + i);
  gmg_store(u + i, gmg_row_relaxed(dim, kind, gmg_line_row(dim, kind, l, i), near, f[i], gmg_load(u + i), omega));
}

GMG_INLINE void sweep_form(const int dim, const int kind, const gmg_smoother_level *level, const real *f, real *u, int backward)
{
  const gmg_operator *A = level->A;
  const real omega = (real)gmg_weight_gauss_seidel(A, level->params);
  const size_t tasks = gmg_tasks(A);
  const int threads = level->params->deterministic || A->cells < 4096 ? 1 : level->threads;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (size_t s = 0; s < tasks; s++) {
    const gmg_task w = gmg_task_at(A, backward ? tasks - 1 - s : s);
    const gmg_line l = gmg_line_at(A, u, w.j, w.k);
    real *line = u + w.offset;
    for (size_t i = w.begin; i < w.end; i++)
      relax(dim, kind, &l, backward ? w.begin + w.end - 1 - i : i, f + w.offset, line, omega);
  }
}

static void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  (void)state;
  const int backward = leg == GMG_LEG_UP_REVERSED;
  for (int s = 0; s < steps; s++) {
#define SWEEP(dim, kind) \
  case GMG_FORM(dim, kind): sweep_form(dim, kind, l, f, u, backward); break;
    switch (gmg_form_of(l->A)) { GMG_FORMS(SWEEP) }
#undef SWEEP
  }
}

const gmg_smoother_ops R(gmg_gauss_seidel_host) = {.sweep = sweep};
