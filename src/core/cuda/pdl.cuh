/* Kernels that begin before the one ahead of them on the stream has ended (programmatic dependent launch): on small levels a launch
   takes as long as half a pass.

   Such a kernel waits for the one ahead before it writes anything, and before it reads anything that one writes; then the next may
   begin. What is older than the kernel ahead is there from the start, as whoever lets the next one begin has waited itself. It is
   read past the L1 cache unless nobody writes there meanwhile. */
#ifndef GMG_CORE_CUDA_PDL_H
#define GMG_CORE_CUDA_PDL_H

#include "device.h"

/* All that was enqueued before has been done. The next kernel may begin. */
static __device__ __forceinline__ void gmg_take_over(void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* One more attribute of a launch, where the device can do that. */
static inline unsigned gmg_early_attribute(const gmg_device *d, cudaLaunchAttribute *to)
{
#if CUDART_VERSION >= 12030
  to->id = cudaLaunchAttributeProgrammaticStreamSerialization, to->val.programmaticStreamSerializationAllowed = 1;
  return d->begins_early ? 1 : 0;
#else
  (void)d, (void)to;
  return 0;
#endif
}

/* gmg_launch() of a kernel that begins so; it must take over. */
template <class... Parameters, class... Arguments>
static inline void gmg_launch_early(const gmg_exec *e, const char *what, void (*kernel)(Parameters...), const gmg_grid &g,
                                    const Arguments &...arguments)
{
  gmg_device *d = gmg_device_of(e);
  cudaLaunchAttribute early = {};
  cudaLaunchConfig_t c = {};
  c.gridDim = g.blocks, c.blockDim = g.threads, c.dynamicSmemBytes = g.bytes, c.stream = d->stream;
  c.attrs = &early, c.numAttrs = gmg_early_attribute(d, &early);
  gmg_cuda_note(d, cudaLaunchKernelEx(&c, kernel, static_cast<Parameters>(arguments)...), what);
}

#endif
