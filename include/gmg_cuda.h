/** @file gmg_cuda.h
 *  @brief Running gmg on an NVIDIA GPU: device pointers and the caller's stream. */
#ifndef GMG_CUDA_H
#define GMG_CUDA_H

#include "gmg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The CUDA runtime's cudaStream_t, declared here so that users without the toolkit can include this header. */
typedef struct CUstream_st *gmg_cuda_stream;

/** A context on a CUDA device; u and f are then device pointers.
 *  @param device CUDA device number   @param stream BORROWED; all work is enqueued on it (NULL: the default stream)
 *  @param[out] context NULL on failure
 *  @return GMG_ERR_UNSUPPORTED where the library was built without CUDA, as it is for now */
GMG_API gmg_status gmg_context_create_cuda(int device, gmg_cuda_stream stream, gmg_context **context);

#ifdef __cplusplus
}
#endif
#endif
