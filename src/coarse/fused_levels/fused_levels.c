/* Which backends do small levels in one go. */
#include "fused_levels.h"

#ifdef GMG_CUDA
extern const gmg_tail_ops gmg_tail_cuda_f32, gmg_tail_cuda_f64, gmg_tail_faces_cuda_f32, gmg_tail_faces_cuda_f64;
#endif

const gmg_tail_ops *gmg_tail_of(const gmg_exec *e, int which)
{
  enum { MOST = 2 };
  static const gmg_tail_ops *const tails[][2][MOST + 1] = {
      [GMG_BACKEND_HOST] = {{NULL}, {NULL}},
#ifdef GMG_CUDA
      [GMG_BACKEND_CUDA] = {{&gmg_tail_cuda_f32, &gmg_tail_faces_cuda_f32}, {&gmg_tail_cuda_f64, &gmg_tail_faces_cuda_f64}},
#endif
  };
  return tails[e->backend][e->type][which];
}
