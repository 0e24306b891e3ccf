/** @file gmg_smoother.h
 *  @brief For those who write a smoother: what a level shows, and the table of functions that a smoother is.
 *
 *  A smoother changes u so that the error of A u = f becomes smooth. Fill in a gmg_smoother, put its address into
 *  gmg_params::smoother, and every cycle uses it. demos/custom_smoother.c is a complete one, demos/custom_smoother_cuda.cu one
 *  with a kernel of its own. */
#ifndef GMG_SMOOTHER_H
#define GMG_SMOOTHER_H

#include "gmg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The operator of one level. Row (i, j, k) reads, with three axes,
 *
 *      (diag0[i] + diag1[j] + diag2[k] + shift) u_ijk - lo0[i] u_(below0[i])jk - hi0[i] u_(above0[i])jk - ... = f_ijk
 *
 *  The arrays hold boundaries, centring and spacing. Where there is no neighbour the coupling is 0 and the index points at the
 *  unknown itself. If face is set, its coefficients multiply all terms of their faces: lo0[i] face0[i] and hi0[i] face0[i + 1]
 *  couple, and the axis adds lo_diag0[i] face0[i] + hi_diag0[i] face0[i + 1] to the diagonal instead of diag0[i]. If sigma is set,
 *  it is added to the diagonal. */
typedef struct gmg_operator {
  gmg_type type;           /**< Real type of lo, hi, diag and of all fields. */
  gmg_centering centering; /**< Where the unknowns sit. */
  int dim;                 /**< 1, 2 or 3; axes >= dim have n = 1 and no coupling. */
  size_t n[3];             /**< Unknowns along each axis. */
  size_t cells;            /**< n[0] n[1] n[2]. */
  const void *lo[3];       /**< Coupling to the lower neighbour, n[a] reals, where the context runs. */
  const void *hi[3];       /**< Coupling to the upper neighbour, n[a] reals, where the context runs. */
  const void *diag[3];     /**< Share of the diagonal, n[a] reals, where the context runs. */
  const void *lo_diag[3];  /**< The lower face's part of diag, n[a] reals: lo, or the wall term. NULL without face. */
  const void *hi_diag[3];  /**< The upper face's part. NULL without face. */
  const void *face[3];     /**< Coefficients on the faces, n[a] + 1 along axis a, or NULL: constant; where the
                                context runs. */
  const void *sigma;       /**< Array of sigma, or NULL, where the context runs; the shift comes on top. */
  const void *weight[3];   /**< Control volume along the axis, n[a] reals: A is symmetric under their product. */
  const int *below[3];     /**< Index of the lower neighbour, n[a] ints, where the context runs. */
  const int *above[3];     /**< Index of the upper neighbour, n[a] ints, where the context runs. */
  int wraps[3];            /**< 1 where the axis is periodic and has a neighbour beyond its end. */
  int uniform[3];          /**< 1 where lo, hi and diag are the same in all rows of the axis but the first and the last; 2 where
                                these too couple inwards as strongly. */
  int coarsened[3];        /**< 1 where the next level is coarser along that axis. */
  int adjoint;             /**< 1 where residuals are restricted by the adjoint of interpolation, 0: by averaging. */
  double coupling[3];      /**< Typical coupling inside the axis, beta/h^2 (0 where n = 1); host. */
  double h[3];             /**< Mean mesh width; host. */
  double stretch[3];       /**< Largest over smallest mesh width; host. */
  double shift;            /**< sigma; host. */
  double reaction_from_walls; /**< Wall terms of axes with a single unknown, which act like a shift; host. */
} gmg_operator;

struct gmg_exec; /* opaque */

/** One level as a smoother sees it. */
typedef struct gmg_smoother_level {
  const gmg_operator *A;       /**< The level's operator. */
  const gmg_params *params;    /**< The solver's parameters. */
  struct gmg_exec *exec;       /**< Opaque handle that gmg fills in: gmg_level_residual() needs it. */
  int index;                   /**< 0: the finest level. */
  int threads;                 /**< Host threads to use. */
  void *scratch;               /**< A field of the level's size, free to use during a sweep. */
} gmg_smoother_level;

/** Which leg of the cycle a sweep belongs to. Where a symmetric cycle is asked for, GMG_LEG_UP_REVERSED replaces
 *  GMG_LEG_UP: that sweep must be the adjoint of the downward one. */
typedef enum { GMG_LEG_DOWN, GMG_LEG_UP, GMG_LEG_UP_REVERSED } gmg_leg;

/** What a smoother promises, or is, under given parameters. */
enum {
  GMG_SMOOTHER_DETERMINISTIC = 1, /**< Bitwise the same result every run, for any number of threads. */
  GMG_SMOOTHER_ADJOINT = 2,       /**< GMG_LEG_UP_REVERSED is the adjoint of GMG_LEG_DOWN. */
  GMG_SMOOTHER_LINEAR = 4,        /**< The same linear map at every call. */
  GMG_SMOOTHER_COLOURED = 8       /**< Relaxes one colour after the other. Where one or two axes are coarsened, residuals
                                       are then best restricted by the adjoint of interpolation (docs/weights.md). */
};

/** The functions of a smoother for one backend and real type. `state` is the smoother's own, one a level. Fields have the level's
 *  size and the operator's type, and lie where the context runs. On a device sweeps only enqueue, on its stream. */
typedef struct gmg_smoother_ops {
  /** Allocates the state of a level (may be NULL: no state). Called at create for every level but the coarsest, which is
   *  the coarse solver's. */
  gmg_status (*setup)(const gmg_smoother_level *level, void **state);
  /** Takes over what depends on the operator's values (may be NULL). Called after setup and after every
   *  gmg_solver_update(). Must not allocate. */
  gmg_status (*update)(const gmg_smoother_level *level, void *state);
  /** Performs `steps` smoothing steps on A u = f in place. */
  void (*sweep)(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg);
  /** Performs `steps` steps from a u of zeros, without reading what stands in u (may be NULL: the cycle then fills u with 0 and
   *  sweeps). Begins the cycle on coarse levels, and on the finest one where a cycle preconditions. A deterministic smoother
   *  must give what sweep gives; any other may differ as its sweeps do. */
  void (*sweep_from_zero)(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg);
  /** Frees the state; called with what setup left, also when setup failed (may be NULL). */
  void (*destroy)(const gmg_smoother_level *level, void *state);
} gmg_smoother_ops;

/** Where a context runs. */
typedef enum { GMG_BACKEND_HOST, GMG_BACKEND_CUDA } gmg_backend;

/** A smoother: a name, what it promises, and its functions for each backend and real type. */
struct gmg_smoother {
  const char *name;                                                  /**< For messages and reports. */
  unsigned (*traits)(const gmg_params *params, int threads);         /**< GMG_SMOOTHER_* bits; NULL: none. */
  double (*weight)(const gmg_operator *A, const gmg_params *params); /**< Weight on a level, for gmg_plan(); may be NULL. */
  const gmg_smoother_ops *ops[2][2];                                 /**< By gmg_backend and gmg_type; NULL: not available. */
};

/** r = f - A u on a level, for smoothers built on residuals. All three have the level's size and type and lie where the context
 *  runs. r must not overlap u. On a device it only enqueues. Allocates nothing. */
GMG_API void gmg_level_residual(const gmg_smoother_level *level, const void *f, const void *u, void *r);

#ifdef __cplusplus
}
#endif
#endif
