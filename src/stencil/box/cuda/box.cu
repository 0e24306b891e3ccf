/* Box stencils on a CUDA device: their operations, by rows. Called through gmg_operator_ops. */
#include "stencil/generic/cuda/by_rows.cuh"

#include "columns.cuh"

#include "stencil/transfer/cuda/restrict_columns.cuh"

static void restrict_residual(const gmg_exec *e, const gmg_operator *A, const gmg_map map[3], const void *f, const void *u,
                              void *r, void *coarse)
{
  if (restrict_columns<box_lane_columns<3>>(e, A, gmg_box_rows_of(A), map, f, u, coarse)) return;
  gmg_store_and_restrict(e, A, map, f, u, r, coarse);
}

static constexpr gmg_operator_ops table()
{
  gmg_operator_ops t = gmg_by_rows<box_rows>::table();
  t.restrict_residual = restrict_residual;
  return t;
}

extern "C" const gmg_operator_ops R(gmg_box_cuda) = table();
