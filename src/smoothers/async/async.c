/* The block-asynchronous smoother async-(k) (Anzt, Tomov, Dongarra, Heuveline 2013; as a smoother: Anzt, Dongarra, Gates, Tomov
   2011): traits, weight, symbol, parameters and preset. Its functions are in host/ and cuda/. Called through registry.c. */
#include "core/backend.h"
#include "async.h"

#include "smoothers/fourier.h"
#include "smoothers/weight.h"
#include "stencil/operator/fields.h"

static int local_sweeps_of_a_step(const gmg_params *p) { return p->async.local_sweeps * p->async.passes; }

/* The deterministic twin is a fixed linear map. With overlap the restricted write-back makes it unsymmetric. */
static unsigned traits(const gmg_params *p, int threads)
{
  (void)threads;
  const unsigned coloured = p->async.local == GMG_LOCAL_RED_BLACK ? GMG_SMOOTHER_COLOURED : 0;
  if (!p->deterministic) return coloured;
  return coloured | GMG_SMOOTHER_DETERMINISTIC | GMG_SMOOTHER_LINEAR | (p->async.overlap == 0 ? GMG_SMOOTHER_ADJOINT : 0);
}

/* The weight for box stencils in 2^dim colours. Factors of V(1,1) with two local sweeps and overlap 1:

     weight                 1      1.1    1.15   1.2
     27 equal points, 64^3  0.045  0.026  0.019  0.013
     7 points, 63^3         0.106  0.074  0.057  0.040
     Q1, 127^3              0.008  0.016  0.022  0.027 */
static const double BOX_OVER_RELAXATION = 1.15;

double gmg_weight_async(const gmg_operator *A, const gmg_params *p)
{
  if (p->omega > 0) return p->omega;
  if (p->async.local == GMG_LOCAL_JACOBI) return gmg_weight_jacobi(A, p);
  if (p->async.local == GMG_LOCAL_GAUSS_SEIDEL || p->async.overlap == 0) return 1;
  if (A->box) return BOX_OVER_RELAXATION;
  return gmg_red_black_over_relaxation(A, p, local_sweeps_of_a_step(p));
}

/* Only red-black sweeps over a block with overlap have different weights. */
static int varies(const gmg_operator *A, const gmg_params *p)
{
  return p->omega == 0 && p->async.local == GMG_LOCAL_RED_BLACK && p->async.overlap > 0 && !A->box;
}

void gmg_weights_async(const gmg_operator *A, const gmg_params *p, gmg_leg leg, double weight[GMG_HALF_SWEEPS])
{
  if (varies(A, p)) gmg_red_black_weights(A, p, local_sweeps_of_a_step(p), leg, weight);
  else
    for (int h = 0; h < GMG_HALF_SWEEPS; h++) weight[h] = gmg_weight_async(A, p);
}

/* A block with overlap relaxes as well as a sweep over the whole grid. */
static double over_correction(const gmg_operator *A, const gmg_params *p, double mirrored)
{
  if (p->async.local != GMG_LOCAL_RED_BLACK || p->async.overlap == 0 || p->async.passes > 1) return 1;
  return gmg_over_correction_red_black(A, local_sweeps_of_a_step(p), mirrored);
}

/* With two layers a block does nearly the same as sweeps over the whole level, whatever other blocks do meanwhile. In 2D they are
   cheap. docs/weights.md has the measurements. */
static void choose(const gmg_problem *problem, gmg_params *p)
{
  gmg_async_params *q = &p->async;
  const int constant = !problem->beta && !problem->beta_face[0] && !problem->sigma && !problem->stencil;
  const int red_black = q->local == GMG_LOCAL_AUTO || q->local == GMG_LOCAL_RED_BLACK;
  if (q->overlap == 0) q->overlap = problem->dim == 2 && constant && red_black && q->local_sweeps != 1 ? 2 : 1;
}

/* The symbol of blocks that always see fresh values: every local sweep counts as a global one. */
static void symbol(const gmg_operator *A, const gmg_params *p, gmg_leg leg, gmg_symbol *s)
{
  double weight[GMG_HALF_SWEEPS];
  const double omega = gmg_weight_async(A, p);
  const int sweeps = local_sweeps_of_a_step(p), reversed = leg == GMG_LEG_UP_REVERSED;
  gmg_weights_async(A, p, leg, weight);
  if (p->async.local == GMG_LOCAL_RED_BLACK) gmg_symbol_red_black(s, weight, reversed, sweeps);
  else if (p->async.local == GMG_LOCAL_JACOBI) gmg_symbol_jacobi(s, omega, sweeps);
  else gmg_symbol_gauss_seidel(s, omega, reversed, sweeps);
}

/* A small level is a single block, unless the caller chose the block. Factor of the last cycles on a periodic 65^3 with unknowns
   on vertices, where 17^3 and coarser levels relax so: 0.080 without additional sweeps, 0.047 with two, 0.039 with four. With
   blocks on all levels it is 0.051. */
static int bottom_sweeps(const gmg_params *p, const gmg_operator *A)
{
  const int chosen = p->async.block[0] || p->async.block[1] || p->async.block[2];
  const int has_seam = gmg_odd_seam(A, 0) || gmg_odd_seam(A, 1) || gmg_odd_seam(A, 2);
  if (p->async.local != GMG_LOCAL_RED_BLACK || chosen) return 0;
  return (p->async.local_sweeps + (has_seam ? GMG_SEAM_SWEEPS : 0)) * p->async.passes;
}

/* Blocks of a process's own unknowns relax `overlap` planes of ghosts, too, and read one more. Where blocks cover the ghosts, or
   are cut, each half sweep reads one plane more. Blocks that cover ghosts need no exchange between passes; cut ones have it. */
static int ghosts(const gmg_params *p, int has_seams, int relaxes_ghosts)
{
  const int stages = p->async.local == GMG_LOCAL_RED_BLACK ? 2 : 1;
  if (relaxes_ghosts) return local_sweeps_of_a_step(p) * stages;
  if (!p->deterministic || p->async.local == GMG_LOCAL_GAUSS_SEIDEL) return p->async.overlap + 1;
  return (p->async.local_sweeps + (has_seams && stages == 2 ? GMG_SEAM_SWEEPS : 0)) * stages;
}

static const gmg_option options[] = {GMG_OPTION(DOUBLE, omega, 0, 0, 2),
                                     GMG_OPTION(INT, async.local_sweeps, 2, 1, 100),
                                     GMG_ENUM_OPTION(async.local, local, GMG_LOCAL_RED_BLACK),
                                     GMG_OPTION(COUNT, async.overlap, 0, 1, 2),
                                     GMG_OPTION(INT, async.passes, 1, 1, 100),
                                     GMG_OPTION(SIZES, async.block, 0, 0, 0),
                                     GMG_ENUM_OPTION(async.order, order, GMG_ORDER_NATURAL),
                                     GMG_ENUM_OPTION(async.assignment, assignment, GMG_ASSIGN_AUTO),
                                     GMG_OPTION(INT, async.in_flight, 0, 0, 1 << 20),
                                     GMG_OPTION(INT, async.oversubscription, 0, 0, 64),
                                     GMG_OPTION(INT, deterministic, 0, 0, 1),
                                     {0}};

extern const gmg_builtin_smoother gmg_smoother_async;

/* The smoother of Anzt, Dongarra, Gates, Tomov (2011). */
static void use_2011(gmg_params *p)
{
  p->smoother = &gmg_smoother_async.base;
  p->omega = 1;
  p->async.local = GMG_LOCAL_JACOBI;
  p->async.local_sweeps = 5;
  p->async.overlap = GMG_NONE;
  p->async.passes = 2;
  p->async.block[0] = 512;
  p->async.block[1] = p->async.block[2] = 1;
}

extern const gmg_smoother_ops gmg_async_box_host_f32, gmg_async_box_host_f64;
extern const gmg_smoother_ops gmg_async_host_f32, gmg_async_host_f64, gmg_async_cuda_f32, gmg_async_cuda_f64;
extern const gmg_fused_ops gmg_async_fused_cuda_f32, gmg_async_fused_cuda_f64;

const gmg_builtin_smoother gmg_smoother_async = {
    .base = {.name = "async",
             .traits = traits,
             .weight = gmg_weight_async,
             .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_async_host_f32, [GMG_F64] = &gmg_async_host_f64},
                     [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_async_cuda_f32),
                                           [GMG_F64] = GMG_ON_CUDA(&gmg_async_cuda_f64)}}},
    .box = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_async_box_host_f32, [GMG_F64] = &gmg_async_box_host_f64},
            [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_async_cuda_f32), [GMG_F64] = GMG_ON_CUDA(&gmg_async_cuda_f64)}},
    .symbol = symbol,
    .over_correction = over_correction,
    .bottom_sweeps = bottom_sweeps,
    .half_sweep_weights = gmg_weights_async,
    .choose = choose,
    .ghosts = ghosts,
    .fused = {[GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_async_fused_cuda_f32),
                                    [GMG_F64] = GMG_ON_CUDA(&gmg_async_fused_cuda_f64)}},
    .options = options,
    .preset = {"async-2011", use_2011}};
