/** @file gmg_smoother.h
 *  @brief For those who write a smoother: what a level shows, and the table of functions that a smoother is.
 *
 *  A smoother changes u so that the error of A u = f becomes smooth. Fill in a gmg_smoother, put its address into
 *  gmg_params::smoother, and every cycle uses it. demos/custom_smoother.c is a complete one. */
#ifndef GMG_SMOOTHER_H
#define GMG_SMOOTHER_H

#include "gmg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The operator of one level, in the words of its rows. Row (i, j, k) reads, with three axes,
 *
 *      (diag0[i] + diag1[j] + diag2[k] + shift) u_ijk - lo0[i] u_(below0[i])jk - hi0[i] u_(above0[i])jk - ... = f_ijk
 *
 *  Boundaries, centring and spacing are contents of these arrays. Where there is no
 *  neighbour the coupling is 0 and the index points at the unknown itself. Where face is set, its coefficients multiply
 *  all terms of their faces: lo0[i] face0[i] and hi0[i] face0[i + 1] couple, and the axis adds
 *  lo_diag0[i] face0[i] + hi_diag0[i] face0[i + 1] to the diagonal instead of diag0[i]. Where sigma is set, it is added
 *  to the diagonal. */
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
  double reaction_from_walls;             /**< Wall terms of axes with a single unknown, which act like a shift; host. */
} gmg_operator;

struct gmg_exec; /* private: where the level lives */

/** One level as a smoother sees it. */
typedef struct gmg_smoother_level {
  const gmg_operator *A;       /**< The level's operator. */
  const gmg_params *params;    /**< The solver's parameters. */
  struct gmg_exec *exec;       /**< Private to built-in smoothers. */
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
                                       are then best restricted by the adjoint of interpolation (docs/omega.md). */
};

/** 1D map between a fine and a coarse axis. Private to the built-in smoothers (src/stencil/grid/map.h). */
struct gmg_map;

/** Where sweep_onto() leaves what sweep would leave in u: x = scale size[0] u + keep x. */
typedef struct gmg_onto {
  void *x;                       /**< A field of the level's size in double, where the context runs. */
  double scale;                  /**< Factor of u. */
  const double *size;            /**< A further factor of u that only the device knows: one double where the context runs; NULL: 1. */
  int keep;                      /**< 1, or 0: what stands in x does not count and need not be a number. */
  const void *coarse;            /**< The next coarser level's u, whose interpolation is to be added to u before the sweep, or
                                      NULL: none is. */
  const struct gmg_map *prolong; /**< That interpolation, a map to an axis. Private to the built-in smoothers. */
} gmg_onto;

/** The functions of a smoother for one backend and real type. `state` is the smoother's own, one a level. Fields have the level's size
 *  and the operator's type and lie where the context runs; on a device sweeps only enqueue, on its stream. */
typedef struct gmg_smoother_ops {
  /** Allocates the state of a level (may be NULL: no state). Called at create for every level but the coarsest, which is
   *  the coarse solver's. */
  gmg_status (*setup)(const gmg_smoother_level *level, void **state);
  /** Takes over what depends on the operator's values (may be NULL). Called after setup and after every
   *  gmg_solver_update(). Must not allocate. */
  gmg_status (*update)(const gmg_smoother_level *level, void *state);
  /** Performs `steps` smoothing steps on A u = f in place. */
  void (*sweep)(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg);
  /** Frees the state; called with what setup left, also when setup failed (may be NULL). */
  void (*destroy)(const gmg_smoother_level *level, void *state);
  /** The same as sweep on a u of zeros, without reading what stands in u (may be NULL: the cycle then fills u with 0 and
   *  sweeps). Begins the cycle on coarse levels, and on the finest one where a cycle preconditions. A deterministic smoother
   *  must give what sweep gives; any other may differ as its sweeps do. */
  void (*sweep_from_zero)(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg);
  /** The same as sweep (or sweep_from_zero) with GMG_LEG_DOWN, then the residual that it leaves, restricted, into `coarse`, a field of
   *  the next coarser level's size, where the context runs. What sweep would leave in u goes to `to`: u itself, or, where aside() says so,
   *  another field of the level, and what stands in u afterwards is of no use. Returns 1, or 0, with nothing done, where it cannot do so
   *  on this level: the cycle then sweeps and restricts (may be NULL: never). Like every sweep it only enqueues on a device.
   *  `restrict_`, a map to an axis, is private to the built-in smoothers. */
  int (*sweep_restrict)(const gmg_smoother_level *level, void *state, const void *f, void *u, void *to, int steps, int from_zero,
                        const struct gmg_map *restrict_, void *coarse);
  /** The same as sweep, but what it would leave in u goes to another field, and what stands in u afterwards is of no use. Returns
   *  1, or 0, with nothing done, where it cannot do so on this level or with these arguments: the cycle then sweeps and adds (may be
   *  NULL: never). Ends a cycle whose correction is of a narrower type than the problem, and goes up where aside() says so. */
  int (*sweep_onto)(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg,
                    const gmg_onto *onto);
  /** Whether, on this level of doubles, sweep_restrict() can put aside what it makes of u, and sweep_onto() take it from there back to u
   *  with the coarse correction: prolongation then needs no pass over memory of its own. 1 is a promise of both, for the steps of the
   *  level's parameters, from a u of zeros or another. Asked at create, after setup (may be NULL: 0). The maps are private to the
   *  built-in smoothers. */
  int (*aside)(const gmg_smoother_level *level, const void *state, const struct gmg_map *restrict_, const struct gmg_map *prolong);
} gmg_smoother_ops;

/** Effect of one smoothing step on the error's Fourier modes, for the factor that gmg_plan() predicts. Private to the
 *  built-in smoothers (src/smoothers/fourier.h): leave gmg_smoother::symbol NULL, and the plan predicts nothing. */
struct gmg_symbol;

/** A smoother: a name, what it promises, and its functions per real type. */
struct gmg_smoother {
  const char *name;                                                  /**< For messages and reports. */
  unsigned (*traits)(const gmg_params *params, int threads);         /**< GMG_SMOOTHER_* bits; NULL: none. */
  double (*weight)(const gmg_operator *A, const gmg_params *params); /**< Weight on a level, for gmg_plan(); may be NULL. */
  void (*symbol)(const gmg_operator *A, const gmg_params *params, gmg_leg leg, struct gmg_symbol *out); /**< Or NULL. */
  const gmg_smoother_ops *host[2];                                   /**< Host, by gmg_type; NULL: not available. */
  const gmg_smoother_ops *cuda[2];                                   /**< CUDA, by gmg_type; NULL: not available. */
};

/** r = f - A u on a level, for smoothers built on residuals. All three have the level's size and type and lie where the context runs; r
 *  must not overlap u. On a device it only enqueues. Allocates nothing. */
GMG_API void gmg_level_residual(const gmg_smoother_level *level, const void *f, const void *u, void *r);

#ifdef __cplusplus
}
#endif
#endif
