/* Box stencils on a CUDA device: their operations, by rows. Called through gmg_operator_ops. */
#include "stencil/generic/cuda/by_rows.cuh"

#include "columns.cuh"

extern "C" const gmg_operator_ops R(gmg_box_cuda) = gmg_by_rows<box_rows>::table();
