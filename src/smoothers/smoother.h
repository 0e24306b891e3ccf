/* Private side of the smoothers: the registry's rows, weights, symbols. Calls core and stencil; called by mg. */
#ifndef GMG_SMOOTHER_PRIVATE_H
#define GMG_SMOOTHER_PRIVATE_H

#include "gmg_smoother.h"

#include "core/exec.h"
#include "stencil/stencil.h"

/* The functions that fit exec's backend and type, or NULL. */
const gmg_smoother_ops *gmg_smoother_ops_of(const gmg_smoother *s, const gmg_exec *e);
unsigned gmg_smoother_traits(const gmg_params *params, int threads); /* GMG_SMOOTHER_* bits of params->smoother */
int gmg_smoother_is_builtin(const gmg_smoother *s);
/* Red-black sweeps that a step comes to where a level is a single block, or 0: something else. */
int gmg_smoother_whole(const gmg_params *params);

/* Whether gmg_smoother_ops::aside is asked at all: gmg_onto brings u back in double. */
static inline int gmg_may_go_aside(const gmg_operator *A) { return A->type == GMG_F64; }

/* Range of the eigenvalues of D^-1 A over the frequencies that the coarser grid cannot see. */
void gmg_high_frequency_range(const gmg_operator *A, double *lowest, double *highest);

/* Weights: params->omega if given, else the best known. weight.c says where they come from. */
double gmg_weight_jacobi(const gmg_operator *A, const gmg_params *p);
double gmg_weight_red_black(const gmg_operator *A, const gmg_params *p);
double gmg_weight_gauss_seidel(const gmg_operator *A, const gmg_params *p);
double gmg_weight_async(const gmg_operator *A, const gmg_params *p);

extern const gmg_smoother_ops gmg_jacobi_host_f32, gmg_jacobi_host_f64;
extern const gmg_smoother_ops gmg_gauss_seidel_host_f32, gmg_gauss_seidel_host_f64;
extern const gmg_smoother_ops gmg_red_black_host_f32, gmg_red_black_host_f64;
extern const gmg_smoother_ops gmg_chebyshev_host_f32, gmg_chebyshev_host_f64;
extern const gmg_smoother_ops gmg_async_host_f32, gmg_async_host_f64;
/* where the library is built with CUDA */
extern const gmg_smoother_ops gmg_jacobi_cuda_f32, gmg_jacobi_cuda_f64;
extern const gmg_smoother_ops gmg_gauss_seidel_cuda_f32, gmg_gauss_seidel_cuda_f64;
extern const gmg_smoother_ops gmg_red_black_cuda_f32, gmg_red_black_cuda_f64;
extern const gmg_smoother_ops gmg_chebyshev_cuda_f32, gmg_chebyshev_cuda_f64;
extern const gmg_smoother_ops gmg_async_cuda_f32, gmg_async_cuda_f64;

#endif
