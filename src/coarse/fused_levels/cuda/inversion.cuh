/* Computes the inverse of the exact level (exact.cuh), at create and update. Included by levels.cu. */
#ifndef GMG_COARSE_FUSED_LEVELS_CUDA_INVERSION_H
#define GMG_COARSE_FUSED_LEVELS_CUDA_INVERSION_H

#include "coarse/cuda/kernels.h"
#include "exact.cuh"

extern "C" {
#include "coarse/tensor/modes.h"
}

static size_t exact_cells(const fused_state *s)
{
  const int *n = s->level[s->exact].n;
  return (size_t)(n[0] * n[1] * n[2]);
}

/* Bytes for computing the inverse of the exact level, which follow the inverses: the modes of its axes; with rows the matrix, its
   control volumes and work space. */
static size_t inversion_bytes(const fused_state *s)
{
  size_t numbers = 0;
  if (s->exact < 0) return 0;
  const size_t n = exact_cells(s);
  if (s->has_rows) return (n + 1) * n * sizeof(double) + R(gmg_invert_work)(n);
  for (int a = 0; a < 3; a++) numbers += (size_t)(s->level[s->exact].n[a] * (s->level[s->exact].n[a] + 2));
  return numbers * sizeof(double);
}
static size_t before_inversion(const fused_state *s) { return before_inverse(s) + (size_t)s->blocks * inverse_bytes(s); }

/* Computes the modes of an axis, and uploads its eigenvalues, multiplied by scale, its control volumes and eigenvectors to *to,
   which then points behind them. */
static gmg_status load_modes(gmg_exec *e, const gmg_axis_spec *spec, double scale, int a, level_modes *m, double **to)
{
  gmg_axis x;
  gmg_modes modes;
  const size_t n = spec->n;
  GMG_TRY(gmg_axis_create(e->context, spec, &x));
  const gmg_status status = gmg_modes_create(e->context, &x, &modes);
  if (status == GMG_OK) {
    for (size_t i = 0; i < n; i++) modes.value[i] *= scale;
    m->value[a] = *to, m->volume[a] = *to + n, m->vector[a] = *to + 2 * n;
    e->memory->upload(e->context, *to, modes.value, n * sizeof(double));
    e->memory->upload(e->context, *to + n, x.volume, n * sizeof(double));
    e->memory->upload(e->context, *to + 2 * n, modes.vector, n * n * sizeof(double));
    *to += n * (n + 2);
    gmg_modes_destroy(&modes);
  }
  gmg_axis_destroy(&x);
  return status;
}

/* The inverse of the exact level, from the modes of its axes. */
static gmg_status invert_by_modes(gmg_exec *e, const gmg_bottom_problem *p, const fused_state *s, const int axis[3])
{
  static const double ROUNDING = 1e-10;
  const gmg_bottom_level *from = &p->level[s->exact];
  const small_level *L = &s->level[s->exact];
  level_modes modes;
  double *to = (double *)(s->tables + before_inversion(s)), most = 0;
  for (int a = 0; a < 3; a++) {
    GMG_TRY(load_modes(e, &from->axis[axis[a]], from->scale, a, &modes, &to));
    most += 4 * from->A->coupling[a];
  }
  gmg_launch(e, "small levels", exact_kernel, {dim3((unsigned)from->A->cells), dim3(GMG_THREADS), 0}, *L, modes, from->A->shift,
             p->singular ? ROUNDING * most : 0., s->pitch, (real *)(s->tables + before_inverse(s)));
  return GMG_OK;
}

/* The inverse of the exact level from its rows, by elimination in double. */
static void invert_by_rows(const gmg_exec *e, const gmg_bottom_problem *p, const fused_state *s)
{
  const gmg_bottom_level *from = &p->level[s->exact];
  const small_level *L = &s->level[s->exact];
  const size_t n = exact_cells(s);
  double *const numbers = (double *)(s->tables + before_inversion(s));
  const level_matrix m = {s->swapped, p->singular ? from->volume : 0, numbers + n * n, numbers};
  gmg_launch(e, "small levels", GMG_BY_KIND(from->A, assemble_kernel), gmg_flat_shape(n * n), *from->A, *L, m);
  R(gmg_invert_cuda)(e, n, m.volumes, m.volumes + n, m.numbers);
  gmg_launch(e, "small levels", GMG_BY_KIND(from->A, store_inverse_kernel), gmg_flat_shape(n * n), *from->A, *L, m, s->pitch,
             (real *)(s->tables + before_inverse(s)));
}

#endif
