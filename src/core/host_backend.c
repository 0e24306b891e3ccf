/* The host's tables. */
#include "backend.h"

extern const struct gmg_stencil_ops gmg_stencil_host_f32, gmg_stencil_host_f64;
extern const struct gmg_coarse_kernels gmg_coarse_kernels_none;

const gmg_backend_tables gmg_host_backend = {.memory = &gmg_memory_host,
                                             .trace = &gmg_trace_host,
                                             .vector = {&gmg_vector_host_f32, &gmg_vector_host_f64},
                                             .stencil = {&gmg_stencil_host_f32, &gmg_stencil_host_f64},
                                             .coarse = {&gmg_coarse_kernels_none, &gmg_coarse_kernels_none}};
