/* Line relaxation for 7-point operators on a CUDA device (lines.c). Called through gmg_smoother_ops. */
#include "stencil/operator/cuda/row.cuh"

namespace {
typedef gmg_operator operand;
enum { DIAGONAL = 0 };
}

#include "sweeps.cuh"

/* The rows of an operator with coefficients of one kind. */
template <int kind> struct point_rows {
  const gmg_operator &A;

  __device__ __forceinline__ size_t offset(const row_indices &x) const { return gmg_offset(gmg_layout_of(&A), x.i, x.j, x.k); }

  __device__ __forceinline__ lines_row row(int axis, const row_indices &x, const scalar *f, const scalar *u) const
  {
    const size_t c = offset(x);
    const gmg_row a = gmg_row_at<kind>(A, x.i, x.j, x.k);
    const scalar r = gmg_row_residual(3, a, gmg_near(gmg_neighbour_offsets_of(A, x.i, x.j, x.k, c), u), __ldg(f + c), u[c]);
    if (axis == 0) return {a.lo[0], a.hi[0], a.diag, r};
    return axis == 1 ? lines_row{a.lo[1], a.hi[1], a.diag, r} : lines_row{a.lo[2], a.hi[2], a.diag, r};
  }
};

template <int kind, int along, int shared>
static __global__ void __launch_bounds__(LINES_THREADS, 1)
    lines_kernel(gmg_operator A, line_blocks s, lines_part part, const scalar *f, scalar *u, real omega, scalar *room)
{
  relax_lines<along, shared>(point_rows<kind>{A}, s, part, f, u, omega, room);
}

namespace {
operand operand_of(const gmg_operator *A) { return *A; }

kernel *kernel_of(const gmg_operator *A, int along, int shared)
{
  if (along) return shared ? GMG_BY_KIND(A, lines_kernel, 1, 1) : GMG_BY_KIND(A, lines_kernel, 1, 0);
  return shared ? GMG_BY_KIND(A, lines_kernel, 0, 1) : GMG_BY_KIND(A, lines_kernel, 0, 0);
}
}

extern "C" const gmg_smoother_ops R(gmg_lines_cuda) = {.setup = setup, .sweep = sweep};
