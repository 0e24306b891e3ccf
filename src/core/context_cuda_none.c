/* Contexts on a device for a library built without CUDA: they are GMG_ERR_UNSUPPORTED. Called through the API. */
#include "gmg_cuda.h"

gmg_status gmg_context_create_cuda(int device, gmg_cuda_stream stream, gmg_context **context)
{
  (void)device;
  (void)stream;
  if (!context) return GMG_ERR_ARGUMENT;
  *context = NULL;
  return GMG_ERR_UNSUPPORTED;
}

gmg_status gmg_context_create_cuda_ranks(const gmg_transport *transport, const int cut[3], int device, gmg_cuda_stream stream,
                                         gmg_context **context)
{
  (void)transport, (void)cut;
  return gmg_context_create_cuda(device, stream, context);
}

gmg_status gmg_context_create_cuda_devices(int count, const int devices[], const gmg_cuda_stream streams[], const int cut[3],
                                           gmg_context *contexts[])
{
  (void)devices, (void)streams, (void)cut;
  for (int i = 0; contexts && i < count; i++) contexts[i] = NULL;
  return count < 1 || !contexts ? GMG_ERR_ARGUMENT : GMG_ERR_UNSUPPORTED;
}
