/* The table of the CUDA backend (core/backend.h). Only exec.c uses it. */
extern "C" {
#include "core/backend.h"

extern const struct gmg_array_ops gmg_array_cuda_f32, gmg_array_cuda_f64;
extern const struct gmg_grid_ops gmg_grid_cuda_f32, gmg_grid_cuda_f64;
extern const struct gmg_coarse_kernels gmg_coarse_kernels_cuda_f32, gmg_coarse_kernels_cuda_f64;

/* By real type, in the order of gmg_type. */
const gmg_backend_tables gmg_cuda_backend = {.memory = &gmg_memory_cuda,
                                             .trace = &gmg_trace_cuda,
                                             .graph = &gmg_graph_cuda,
                                             .vector = {&gmg_vector_cuda_f64, &gmg_vector_cuda_f32},
                                             .array = {&gmg_array_cuda_f64, &gmg_array_cuda_f32},
                                             .grid = {&gmg_grid_cuda_f64, &gmg_grid_cuda_f32},
                                             .coarse = {&gmg_coarse_kernels_cuda_f64, &gmg_coarse_kernels_cuda_f32}};
}
