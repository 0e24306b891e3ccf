/* Early launch (programmatic dependent launch): kernels that begin before their predecessor on the stream has ended. On small
   levels a launch takes as long as half a pass. Used by kernels that run on small levels.

   Such a kernel calls gmg_wait_for_predecessor() before it writes anything, and before it reads anything that its predecessor
   writes. Its successor may begin then. Data written by earlier kernels can be read from the start, because the predecessor has
   waited, too. Such reads must bypass the L1 cache if any kernel in flight may write the data. */
#ifndef GMG_CORE_CUDA_PDL_H
#define GMG_CORE_CUDA_PDL_H

#include "device.h"

/* Waits until all work enqueued earlier is done. Then the next kernel may begin. */
static __device__ __forceinline__ void gmg_wait_for_predecessor(void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* Sets the launch attribute. Returns the number of attributes set: 1 if the device supports early launch, 0 otherwise. */
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

/* gmg_launch() with early launch. The kernel must call gmg_wait_for_predecessor(). */
template <class... Parameters, class... Arguments>
static inline void gmg_launch_early(const gmg_exec *e, const char *what, void (*kernel)(Parameters...), const gmg_launch_shape &g,
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
