/* Kernels of the plane sweep (plane_sweep.cuh), tables of its passes, and which pass writes to which target. Included by
   async/cuda/planes.cu and red_black/cuda.cu. */
#ifndef GMG_SMOOTHERS_RELAX_CUDA_PLANE_PASSES_H
#define GMG_SMOOTHERS_RELAX_CUDA_PLANE_PASSES_H

#include "plane_sweep.cuh"
#include "scheduling.cuh"

/* One thread block per block; blockIdx.y is the pass. */
template <int HALF_SWEEPS, int KIND>
static __global__ void __launch_bounds__(plane_shape<HALF_SWEEPS>::threads, plane_shape<HALF_SWEEPS>::blocks)
    plane_kernel(uniform_level s, const scalar *f, const scalar *from, scalar *to, scalar *interface_copy, update_output o,
                 restriction_output r)
{
  plane_sweep<HALF_SWEEPS, KIND>{s, f, from, to, interface_copy, o, r}.run(blockIdx.x);
}

template <int HALF_SWEEPS>
static __global__ void __launch_bounds__(plane_shape<HALF_SWEEPS>::threads, plane_shape<HALF_SWEEPS>::blocks)
    plane_kernel_dynamic(uniform_level s, const scalar *f, const scalar *from, scalar *to, work_queue queue)
{
  for_blocks<1>(queue, [&](unsigned block_index) {
    plane_sweep<HALF_SWEEPS, 0>{s, f, from, to, NULL, update_output{}, restriction_output{}}.run(block_index);
    __pipeline_wait_prior(0); /* waits for loads beyond the end */
  });
}

/* A kind of pass. */
typedef struct {
  int kind;
  /* NULL: not available in this type */
  void (*kernel)(uniform_level, const scalar *, const scalar *, scalar *, scalar *, update_output, restriction_output);
  size_t bytes; /* bytes of shared memory */
} plane_pass;

template <int HALF_SWEEPS> static constexpr size_t plane_pass_bytes(int kind)
{
  typedef plane_shape<HALF_SWEEPS> shape;
  return shape::reals * sizeof(scalar) + (kind & PASS_PROLONG ? plane_prolong_bytes<HALF_SWEEPS>() : 0) +
         (kind & PASS_BASE ? sizeof(typename plane_base<shape::rows, shape::steps>::memory) : 0) +
         (kind & PASS_RESTRICT ? plane_restriction<shape::threads, 0>::REALS * sizeof(scalar) : 0);
}

#define PLANE_PASS(HALF_SWEEPS, kind) {kind, plane_kernel<HALF_SWEEPS, kind>, plane_pass_bytes<HALF_SWEEPS>(kind)}
#define PLANE_PASS_IN_FLOAT(HALF_SWEEPS, kind) \
  {kind, IN_FLOAT((plane_kernel<HALF_SWEEPS, kind>)), plane_pass_bytes<HALF_SWEEPS>(kind)}

/* Finds a pass in a table that ends with kind -1. NULL if it is not available, or needs more than max_bytes. */
static inline const plane_pass *plane_pass_of(const plane_pass *p, int kind, size_t max_bytes)
{
  while (p->kind >= 0 && p->kind != kind) p++;
  return p->kind == kind && p->kernel && p->bytes <= max_bytes ? p : NULL;
}

/* Allows the passes of a table to use that much shared memory. */
static inline void allow_passes(const gmg_exec *e, const plane_pass *p, size_t max_bytes)
{
  for (; p->kind >= 0; p++)
    if (p->kernel)
      gmg_allow_shared(e, (const void *)p->kernel, max_bytes);
}

/* The pass of a table that writes to this target. NULL: there is none. A level in double always updates doubles. */
static inline const plane_pass *plane_pass_to(const plane_pass *p, size_t max_bytes, const gmg_update_target *to,
                                              const gmg_operator *A, const gmg_blocks *b)
{
  if (to->coarse && !planes_can_prolong(to, A, b)) return NULL;
  const int prolongs = !to->coarse ? 0 : planes_are_paired(to->prolong, A) ? PASS_PROLONG : PASS_PROLONG | PASS_UNPAIRED;
  if (to->base && (prolongs != PASS_PROLONG || A->part)) return NULL;
  return plane_pass_of(p, prolongs | (GMG_REAL_F32 && to->is_field ? 0 : PASS_UPDATE) | (to->base ? PASS_BASE : 0), max_bytes);
}

/* Whether the passes of a table can write u back from another field on the upward leg, with the correction. */
static inline int planes_can_double_buffer(const plane_pass *passes, size_t max_bytes, const gmg_operator *A, const gmg_blocks *b,
                                           const gmg_map *prolong)
{
  const gmg_update_target field = {.is_field = 1, .coarse = "any", .prolong = prolong};
  const gmg_update_target array = {.coarse = "any", .prolong = prolong};
  return plane_pass_to(passes, max_bytes, &field, A, b) && plane_pass_to(passes, max_bytes, &array, A, b);
}

/* The grid of one or more passes. */
static inline gmg_launch_shape plane_grid(const plane_pass *p, const gmg_blocks *b, size_t passes = 1)
{
  return {dim3((unsigned)b->total, (unsigned)passes), dim3((unsigned)(32 * plane_rows(b))), p->bytes};
}

#endif
