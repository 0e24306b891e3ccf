/** @file gmg_smoother.h
 *  @brief How to write a smoother: the view of a level, and the table of a smoother's functions.
 *
 *  A smoother changes u so that the error of A u = f becomes smooth. Fill in a gmg_smoother and assign its address to
 *  gmg_params::smoother. Every cycle then uses it. demos/custom_smoother.c is a complete example.
 *  demos/custom_smoother_cuda.cu is an example with its own CUDA kernel. */
#ifndef GMG_SMOOTHER_H
#define GMG_SMOOTHER_H

#include "gmg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A box stencil on a level (gmg_operator::box). Row (i, j, k) is the sum of entry[x + 1 + 3 (y + 1) + 9 (z + 1)] u_(i+x)(j+y)(k+z)
 *  over x, y, z from -1 to 1, plus gmg_operator::shift times u_ijk. Neighbours wrap on periodic axes. Beyond a wall u is 0, or, if
 *  the wall mirrors, that of the neighbour on this side.
 *
 *  If array[13] is set, the entries vary. Row (i, j, k) is then the sum over the arrays alone. They are packed fields of reals in
 *  the memory of the context. They already contain the shift, so gmg_operator::shift must not be added. They also contain the
 *  effects of walls: an entry whose neighbour does not exist is 0. Arrays that the dimension does not have are NULL. */
typedef struct gmg_box {
  double entry[27];      /**< They add up to 0. Not used if the entries vary. */
  int mirrors[3][2];     /**< Whether the lower and the upper wall of an axis mirror. All 0 if the entries vary. */
  const void *array[27]; /**< Entries that vary, gmg_operator::cells reals each. All NULL: the entries are constant. */
} gmg_box;

/** The operator of one level. In 3D, row (i, j, k) is
 *
 *      (diag0[i] + diag1[j] + diag2[k] + shift) u_ijk - lo0[i] u_(i-1)jk - hi0[i] u_(i+1)jk - ... = f_ijk
 *
 *  (lo0 stands for lo[0], and so on.) The arrays contain the effects of boundaries, centring and spacing. If wraps0 is set, the
 *  unknown before the first is the last, and the unknown after the last is the first. Otherwise an end has no neighbour, and that
 *  coupling is 0.
 *
 *  If face is set, its coefficients multiply all terms of their faces. The couplings are then lo0[i] face0[i] and
 *  hi0[i] face0[i + 1]. The axis adds lo_diag0[i] face0[i] + hi_diag0[i] face0[i + 1] to the diagonal instead of diag0[i].
 *
 *  If sigma is set, it is added to the diagonal.
 *
 *  The arrays (lo, hi, diag, lo_diag, hi_diag, face, sigma, volume) are in the memory of the context. Everything else, including
 *  what `box` points to, is in host memory. */
typedef struct gmg_operator {
  gmg_type type;           /**< Real type of lo, hi, diag and of all fields. */
  gmg_centering centering; /**< Where the unknowns are. */
  int dim;                 /**< 1, 2 or 3. Axes >= dim have n = 1 and no coupling. */
  size_t n[3];             /**< Unknowns along each axis. */
  size_t cells;            /**< Total number of unknowns, n[0] n[1] n[2]. */
  const void *lo[3];       /**< Coupling to the lower neighbour, n[a] reals. */
  const void *hi[3];       /**< Coupling to the upper neighbour, n[a] reals. */
  const void *diag[3];     /**< The axis's contribution to the diagonal, n[a] reals. */
  const void *lo_diag[3];  /**< The lower face's part of diag, n[a] reals: lo, or the wall term. NULL without face. */
  const void *hi_diag[3];  /**< The upper face's part of diag, n[a] reals: hi, or the wall term. NULL without face. */
  const void *face[3];     /**< Coefficients on the faces, n[a] + 1 along axis a. NULL: constant coefficients. */
  const void *sigma;       /**< Array of sigma, or NULL. The shift is added to it. */
  const void *volume[3];   /**< Control volume along the axis, n[a] reals. A is symmetric with respect to their product. */
  int wraps[3];            /**< 1 if the axis is periodic and its last unknown is a neighbour of its first. */
  int uniform[3];          /**< 1: lo, hi and diag are the same in all rows but the first and the last. 2: in addition, all
                                couplings between neighbours along the axis are equal. 0: neither. */
  int mirrors[3][2];       /**< 1 if u continues beyond this wall as its mirror image about the outermost unknown. All couplings
                                along the axis are equal, but that of a mirroring wall's row is twice as large: a vertex on a
                                Neumann or Robin wall of a uniform axis. */
  int coarsened[3];        /**< 1 if the next level is coarser along this axis. */
  int restricts_by_adjoint; /**< 1: residuals are restricted by the adjoint of interpolation. 0: by averaging. */
  double coupling[3];      /**< Typical coupling inside the axis, beta / h^2. 0 if n = 1. */
  double h[3];             /**< Mean mesh width. */
  double stretch[3];       /**< Largest over smallest width of the finest mesh along the axis; the same on all levels. */
  double shift;            /**< The constant part of sigma. For a constant box stencil: plus the sum of the given entries. */
  double reaction_from_walls; /**< Sum of the wall terms of axes with a single unknown. It acts like a shift. */
  const gmg_box *box;      /**< A box stencil instead of the rows above, in host memory. lo, hi, diag and the arrays of
                                coefficients then have no meaning. NULL: there is none. */
  const struct gmg_operator_kind *kind;              /**< Private. */
  const struct gmg_residual_layouts *caller_layouts; /**< Private. NULL in what smoothers see. */
  const struct gmg_part *part;                       /**< Private. NULL: this process holds the whole level. */
  int halved[3];           /**< 1 if the next level has half as many intervals along this axis. 0: another number. */
  int finer_levels;        /**< Number of finer levels of the problem. */
  int all_coarsened;       /**< 1 if this level and all finer ones are coarsened along all axes. */
} gmg_operator;

struct gmg_exec; /* opaque */

/** A smoother's view of one level. */
typedef struct gmg_smoother_level {
  const gmg_operator *A;       /**< The level's operator. */
  const gmg_params *params;    /**< The solver's parameters: AUTO and 0 are replaced by what gmg has chosen, and
                                    GMG_NONE by 0. Exceptions: omega, coarse_cells, max_levels, async.block, async.in_flight and
                                    async.oversubscription may still be 0. async.assignment, precision and restriction may still
                                    be AUTO. traits() and weight() get the same parameters. */
  struct gmg_exec *exec;       /**< Opaque handle that gmg fills in. gmg_level_residual() needs it. */
  int index;                   /**< Number of the level. 0: the finest. */
  int threads;                 /**< Number of host threads to use. */
  void *scratch;               /**< A field of the level's size, which the smoother may overwrite during a sweep. */
} gmg_smoother_level;

/** The leg of the cycle that a sweep belongs to. In a symmetric cycle GMG_LEG_UP_REVERSED replaces GMG_LEG_UP. The sweep must then
 *  be the adjoint of the downward sweep. */
typedef enum { GMG_LEG_DOWN, GMG_LEG_UP, GMG_LEG_UP_REVERSED } gmg_leg;

/** Traits: the properties that a smoother promises for given parameters. */
enum {
  GMG_SMOOTHER_DETERMINISTIC = 1, /**< Bitwise the same result on every run, for any number of threads. */
  GMG_SMOOTHER_ADJOINT = 2,       /**< The sweep on GMG_LEG_UP_REVERSED is the adjoint of that on GMG_LEG_DOWN. */
  GMG_SMOOTHER_LINEAR = 4,        /**< The same linear map at every call. */
  GMG_SMOOTHER_COLOURED = 8,      /**< Relaxes one colour after the other. If one or two axes are coarsened, residuals are then best
                                       restricted by the adjoint of interpolation (docs/weights.md). */
  GMG_SMOOTHER_BOX = 16,          /**< Takes box stencils (gmg_operator::box), too. Without this trait a problem with a stencil
                                       is refused. */
  GMG_SMOOTHER_BOX_ARRAYS = 32    /**< Takes box stencils whose entries vary (gmg_box::array), too. Without this trait a problem
                                       with such a stencil is refused. */
};

/** The functions of a smoother for one backend and real type. Only sweep is required. `state` belongs to the smoother; each level
 *  has its own. Fields have the level's size and the operator's type. They are packed, and in the memory of the context. On a
 *  device sweeps only enqueue, on the stream of the context. */
typedef struct gmg_smoother_ops {
  /** Allocates the state of a level. gmg_solver_create() calls it for every level but the coarsest, which belongs to the coarse
   *  solver. NULL: the smoother has no state. */
  gmg_status (*setup)(const gmg_smoother_level *level, void **state);
  /** Recomputes what depends on the operator's values. Called after setup and after every gmg_solver_update(). Must not allocate.
   *  May be NULL. */
  gmg_status (*update)(const gmg_smoother_level *level, void *state);
  /** Does `steps` smoothing steps on A u = f, in place. */
  void (*sweep)(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg);
  /** Does `steps` smoothing steps from u = 0, without reading u. It is the first sweep of a cycle on coarse levels, and also on the
   *  finest level if the cycle computes a correction: as a preconditioner, with an acceleration, in mixed precision, or if f or u
   *  has gaps. For a deterministic smoother the result must be that of sweep on zeros. For any other smoother it may differ as much
   *  as its sweeps differ from run to run. NULL: the cycle fills u with 0 and calls sweep. */
  void (*sweep_from_zero)(const gmg_smoother_level *level, void *state, const void *f, void *u, int steps, gmg_leg leg);
  /** Frees the state. Also called if setup failed, with the state that setup has set. May be NULL. */
  void (*destroy)(const gmg_smoother_level *level, void *state);
} gmg_smoother_ops;

/** The backend of a context. */
typedef enum { GMG_BACKEND_HOST, GMG_BACKEND_CUDA } gmg_backend;

/** A smoother: its name, its promises, and its functions for each backend and real type. */
struct gmg_smoother {
  const char *name;                                                  /**< Used in messages and reports. */
  unsigned (*traits)(const gmg_params *params, int threads);         /**< GMG_SMOOTHER_* bits. NULL: none. */
  double (*weight)(const gmg_operator *A, const gmg_params *params); /**< Mean weight on a level, for gmg_plan(). May be NULL. */
  const gmg_smoother_ops *ops[2][2];                                 /**< [gmg_backend][gmg_type]. NULL: not available. */
};

/** Computes r = f - A u on a level, for smoothers that use residuals. f, u and r have the level's size and type, and are in the
 *  memory of the context. r must not overlap u. On a device it only enqueues; on the host it returns when done. Allocates
 *  nothing. */
GMG_API void gmg_level_residual(const gmg_smoother_level *level, const void *f, const void *u, void *r);

#ifdef __cplusplus
}
#endif
#endif
