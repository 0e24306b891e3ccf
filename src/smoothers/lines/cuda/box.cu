/* Line relaxation for variable box stencils on a CUDA device: the coarse levels of black box coarsening (lines.c). A line is
   coupled to lines that are diagonal neighbours, too, so 3D has four colours. Called through gmg_smoother_ops. */
#include "stencil/operator/cuda/row.cuh"

#include "stencil/box_arrays/rows.h"

namespace {
typedef gmg_box_array_rows operand;
enum { DIAGONAL = 1 };
}

#include "sweeps.cuh"

/* The rows of a stencil in 2D or 3D. */
template <int dim> struct box_rows {
  const gmg_box_array_rows &A;

  __device__ __forceinline__ size_t offset(const row_indices &x) const { return gmg_offset(A.layout, x.i, x.j, x.k); }

  __device__ __forceinline__ lines_row row(int axis, const row_indices &x, const scalar *f, const scalar *u) const
  {
    const size_t c = offset(x);
    const int step = axis == 0 ? 1 : dim == 2 || axis == 1 ? 3 : 9; /* between the entries of neighbours along the axis */
    const scalar image = gmg_box_array_image(dim, &A, gmg_box_array_steps_at(&A, 0, x.i), gmg_box_array_steps_at(&A, 1, x.j),
                                             gmg_box_array_steps_at(&A, 2, x.k), c, u + c);
    return {-A.entry[13 - step][c], -A.entry[13 + step][c], A.entry[13][c], __ldg(f + c) - image};
  }
};

template <int dim, int along, int shared>
static __global__ void __launch_bounds__(LINES_THREADS, 1)
    lines_box_kernel(gmg_box_array_rows A, line_blocks s, lines_part part, const scalar *f, scalar *u, real omega, scalar *room)
{
  relax_lines<along, shared>(box_rows<dim>{A}, s, part, f, u, omega, room);
}

namespace {
operand operand_of(const gmg_operator *A) { return gmg_box_array_rows_of(A); }

template <int dim> kernel *kernel_in(int along, int shared)
{
  if (along) return shared ? lines_box_kernel<dim, 1, 1> : lines_box_kernel<dim, 1, 0>;
  return shared ? lines_box_kernel<dim, 0, 1> : lines_box_kernel<dim, 0, 0>;
}

kernel *kernel_of(const gmg_operator *A, int along, int shared)
{
  return A->dim > 2 ? kernel_in<3>(along, shared) : kernel_in<2>(along, shared);
}
}

extern "C" const gmg_smoother_ops R(gmg_lines_box_cuda) = {.setup = setup, .sweep = sweep};
