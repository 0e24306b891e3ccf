/* gmg_context_create_cuda() for a library built without CUDA: returns GMG_ERR_UNSUPPORTED. Called through the API. */
#include "gmg_cuda.h"

gmg_status gmg_context_create_cuda(int device, gmg_cuda_stream stream, gmg_context **context)
{
  (void)device;
  (void)stream;
  if (!context) return GMG_ERR_ARGUMENT;
  *context = NULL;
  return GMG_ERR_UNSUPPORTED;
}
