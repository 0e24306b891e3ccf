/** @file gmg.h
 *  @brief Geometric multigrid for `-div(beta grad u) + sigma u = f`, sigma >= 0, on structured grids: the user's header.
 *
 *  Arrays are packed `[n[2]][n[1]][n[0]]`, n[0] fastest. They have the problem's real type and lie in memory where the context
 *  runs (host context: ordinary host memory). The library never prints, never aborts and keeps no globals.
 *
 *  The six calls of embedding: gmg_context_create_host(), gmg_solver_create(), gmg_set_boundary_constant(), gmg_solve(),
 *  gmg_solver_destroy(), gmg_context_destroy().
 *
 *  Defaults, used by every demo:
 *  - Smoother "async" with overlap 1 and 2 local red-black sweeps; one step before and one after the coarse correction.
 *  - V cycles without acceleration where beta is constant and the mesh is uniform or nearly so.
 *  - F cycles and flexible CG where beta is an array; flexible CG where an axis is stretched by more than 3 (largest over
 *    smallest mesh width).
 *  - CG on the coarsest grid, all cores, rtol 1e-8 (double) or 1e-5 (float).
 *  - Corrections in float for problems in double, wherever that loses nothing (gmg_precision).
 *
 *  BORROWED marks a pointer to memory that the receiver does not own. Everything else that is handed over is copied.
 *
 *  A context and everything created from it are used by one thread at a time. Separate contexts are independent. */
#ifndef GMG_H
#define GMG_H

#include <stddef.h>

#define GMG_VERSION_MAJOR 0 /**< Major version. */
#define GMG_VERSION_MINOR 1 /**< Minor version. */
#define GMG_VERSION_PATCH 0 /**< Patch level. */

/** The version of this header as a number: 10000 major + 100 minor + patch. */
#define GMG_VERSION (10000 * GMG_VERSION_MAJOR + 100 * GMG_VERSION_MINOR + GMG_VERSION_PATCH)

#define GMG_TEXT_(x) #x           /**< Private. */
#define GMG_TEXT(x) GMG_TEXT_(x)  /**< Private: a macro's value as a string. */

/** The version of this header as a string, "major.minor.patch". */
#define GMG_VERSION_STRING GMG_TEXT(GMG_VERSION_MAJOR) "." GMG_TEXT(GMG_VERSION_MINOR) "." GMG_TEXT(GMG_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GMG_API
/** Marks what the library exports. All other symbols are hidden. */
#define GMG_API __attribute__((visibility("default")))
#endif

/** Every status with the text that gmg_status_string() returns. */
#define GMG_STATUS_LIST(X)                                                                       \
  X(GMG_OK, "ok")                                                                                \
  X(GMG_NOT_CONVERGED, "not converged")                                                          \
  X(GMG_STAGNATED, "stagnated at the rounding floor")                                            \
  X(GMG_DIVERGED, "diverged")                                                                    \
  X(GMG_ERR_ARGUMENT, "bad argument")                                                            \
  X(GMG_ERR_UNSUPPORTED, "not supported")                                                        \
  X(GMG_ERR_MEMORY, "out of memory")                                                             \
  X(GMG_ERR_DEVICE, "device error")                                                              \
  X(GMG_ERR_IO, "input or output failed")

/** What a call returns. The first four are outcomes of a solve, the others are errors. */
typedef enum gmg_status {
#define GMG_STATUS_ENUM(name, text) name,
  GMG_STATUS_LIST(GMG_STATUS_ENUM)
#undef GMG_STATUS_ENUM
} gmg_status;

/** Real type of all fields. */
typedef enum { GMG_F32, GMG_F64 } gmg_type;
/** Where the unknowns sit. */
typedef enum { GMG_VERTEX, GMG_CELL } gmg_centering;
/** Boundary kind of a face. */
typedef enum { GMG_DIRICHLET, GMG_NEUMANN, GMG_ROBIN, GMG_PERIODIC } gmg_bc;
/** Multigrid cycle. AUTO selects F cycles for an array beta and V cycles otherwise, also where a symmetric cycle is asked for. If
 *  F cycles turn out slow, V cycles finish the solve (docs/api/params.md). */
typedef enum { GMG_CYCLE_V, GMG_CYCLE_W, GMG_CYCLE_F, GMG_CYCLE_AUTO } gmg_cycle_kind;
/** Krylov acceleration. AUTO selects flexible CG for an array beta or an axis stretched by more than 3, else none. Without
 *  acceleration a solve with an array beta may diverge. CG needs a symmetric cycle, so a smoother with an adjoint: not
 *  "async". */
typedef enum { GMG_ACCEL_NONE, GMG_ACCEL_CG, GMG_ACCEL_FLEXIBLE_CG, GMG_ACCEL_AUTO } gmg_accel;
/** Solver of the coarsest grid. */
typedef enum { GMG_COARSE_CG, GMG_COARSE_CHOLESKY } gmg_coarse_kind;
/** Relaxation inside a block of the asynchronous smoother. */
typedef enum { GMG_LOCAL_RED_BLACK, GMG_LOCAL_JACOBI, GMG_LOCAL_GAUSS_SEIDEL } gmg_local_kind;
/** Order in which the blocks of the asynchronous smoother are relaxed. Natural: along the axes, axis 0 fastest. Two-colour:
 *  every other block first, as on a chess board. Random: the same permutation in every pass. Backward: the natural order from
 *  its end (docs/study-order.md). */
typedef enum { GMG_ORDER_NATURAL, GMG_ORDER_TWO_COLOUR, GMG_ORDER_RANDOM, GMG_ORDER_BACKWARD } gmg_block_order;
/** Who relaxes which block of the asynchronous smoother (docs/api/params.md). Static: fixed in advance. Dynamic: a worker takes the
 *  next block when it has finished one. AUTO selects dynamic on host threads, and on a device where in_flight or
 *  oversubscription is set; else static. After Tsai, Nayak, Chow, Anzt (2022). */
typedef enum { GMG_ASSIGN_AUTO, GMG_ASSIGN_STATIC, GMG_ASSIGN_DYNAMIC } gmg_assignment;
/** Restriction of residuals. Average: cells by overlap, vertices by full weighting with rows that sum to 1. Adjoint: the
 *  transpose of (bi-, tri-)linear interpolation with respect to the control volumes. AUTO selects adjoint for a symmetric cycle,
 *  and for red-black relaxation on levels that coarsen one or two axes; else average (docs/weights.md). */
typedef enum { GMG_RESTRICT_AUTO, GMG_RESTRICT_AVERAGE, GMG_RESTRICT_ADJOINT } gmg_restriction;
/** Precision of the corrections. Same: the problem's type everywhere. Mixed (GMG_F64 only): cycles compute corrections in float
 *  from residuals in double, so residual, solution and attainable accuracy are those of double (iterative refinement: Wilkinson
 *  1963). AUTO selects mixed for built-in smoothers, unless the problem is small, a symmetric cycle is asked for, there is one
 *  level only, or the problem is too ill-conditioned for corrections in single precision (docs/api/params.md has the limits).
 *  gmg_plan_info::precision reports the choice. */
typedef enum { GMG_PRECISION_SAME, GMG_PRECISION_MIXED, GMG_PRECISION_AUTO } gmg_precision;

typedef struct gmg_context gmg_context;   /**< Where gmg runs: host threads, or a device and a stream. */
typedef struct gmg_solver gmg_solver;     /**< Hierarchy, smoother states and fields for one problem. */
typedef struct gmg_smoother gmg_smoother; /**< A smoother; see gmg_smoother.h to write one. */

/** The problem: a plain value. Start from gmg_problem_default() and change what differs.
 *
 *  Cell-centred axes are n h long, with unknown i at (i + 1/2) h. Vertex-centred axes hold the unknowns only: with two Dirichlet
 *  walls the axis is (n + 1) h long, with unknown i at (i + 1) h; a Neumann or Robin wall carries an unknown. Periodic axes are
 *  n h long.
 *
 *  Coefficient arrays have the problem's type and lie where the context runs. They are BORROWED: read during gmg_plan(),
 *  gmg_solver_create() and gmg_solver_update(), and not needed afterwards. */
typedef struct gmg_problem {
  int dim;                    /**< 1, 2 or 3. Axes >= dim are ignored. */
  size_t n[3];                /**< Unknowns along each axis, >= 1. */
  double h[3];                /**< Mesh width along each axis, > 0. Not read where coord is set. */
  const double *coord[3];     /**< Stretched axis: increasing positions in host memory, or NULL for uniform spacing. BORROWED.
                                   Cell-centred: the n + 1 faces. Vertex-centred: every node, Dirichlet walls included.
                                   Periodic: n + 1 positions, the last one period after the first. */
  gmg_centering centering;    /**< GMG_CELL (default) or GMG_VERTEX. */
  gmg_type type;              /**< GMG_F64 (default) or GMG_F32. */
  gmg_bc bc[3][2];            /**< Boundary kind of the lower and upper face of each axis. Periodic on both or on none. */
  double robin[3][2][2];      /**< {a, b} of `a u + b du/dn = g`, a >= 0, b >= 0, one of them > 0 (n outward). */
  double shift;               /**< sigma, a constant >= 0. Added to the array sigma where that is set. */
  const void *beta;           /**< Coefficient > 0 of each unknown, problem shape, or NULL for 1. beta / h^2 must stay in the range
                                   of the type, and below 1e100. A face between two unknowns gets their harmonic mean, weighted
                                   by distance; a wall the value of its unknown (docs/api/problem.md). */
  const void *beta_face[3];   /**< Coefficient > 0 on the faces, for every axis < dim, or NULL: n[a] + 1 values along axis a, face
                                   i below unknown i. On a periodic axis the last repeats the first and is not read. Excludes
                                   beta. */
  const void *sigma;          /**< sigma >= 0 of each unknown, problem shape, or NULL for 0. */
} gmg_problem;

/** Called after every cycle whose residual was measured. A return other than 0 stops the solve.
 *  @param data      gmg_params::monitor_data
 *  @param cycle     cycles done so far (0: the initial guess)
 *  @param residual  ||f_eff - A u||_2
 *  @param target    the solve ends when residual <= target */
typedef int gmg_monitor(void *data, int cycle, double residual, double target);

/** How to solve: a plain value. Start from gmg_params_default() and change what differs. 0 means "choose for me" where a comment
 *  says so; gmg_plan() reports the choice. docs/api/params.md describes every member. */
typedef struct gmg_params {
  gmg_cycle_kind cycle;          /**< V, W or F cycle (GMG_CYCLE_AUTO). */
  int fmg;                       /**< > 0: full multigrid start with that many cycles a level. The guess in u is not used. */
  const gmg_smoother *smoother;  /**< BORROWED, must outlive the solver. Default: gmg_smoother_by_name("async"). */
  int pre;                       /**< Smoothing steps before the coarse correction (1). */
  int post;                      /**< Smoothing steps after it (1). pre + post >= 1. */
  double omega;                  /**< Relaxation weight in (0, 2). 0: best known for the level (docs/weights.md). */
  int local_sweeps;              /**< "async": sweeps inside a block (2). "chebyshev": degree of the polynomial (2). */
  gmg_local_kind local;          /**< "async": relaxation inside a block (red-black). */
  int overlap;                   /**< "async": layers relaxed redundantly and not written back: 0, 1 (default) or 2. */
  int passes;                    /**< "async": passes over all blocks in one smoothing step (1; the 2011 paper: 2). */
  size_t block[3];               /**< "async": unknowns of a block along each axis. 0: chosen for the cache. */
  gmg_block_order order;         /**< "async": order of the blocks (natural). */
  unsigned long seed;            /**< "async": seed of the random order (1). */
  gmg_assignment assignment;     /**< "async": who relaxes which block (GMG_ASSIGN_AUTO). */
  int in_flight;                 /**< "async": most blocks relaxed at the same time (Chow, Anzt, Dongarra 2015, Section 3.5): thread
                                      blocks of a device, dynamically assigned, or host threads. 0: all that fit. */
  int oversubscription;          /**< "async" on a device, dynamically assigned: thread blocks for each multiprocessor. Those that
                                      do not fit find nothing to do. 0: as many as fit. */
  int deterministic;             /**< 1: bitwise the same result every run, for any number of threads. "async" becomes its
                                      synchronous, double-buffered twin, "gauss_seidel" the sequential method. */
  int symmetric;                 /**< 1: symmetric cycle (reversed order on the upward leg, adjoint restriction). Converges more
                                      slowly. Implied by GMG_ACCEL_CG. */
  gmg_restriction restriction;   /**< Restriction of residuals (GMG_RESTRICT_AUTO). */
  gmg_accel accel;               /**< Acceleration (GMG_ACCEL_AUTO). */
  gmg_coarse_kind coarse;        /**< Solver of the coarsest grid (CG). */
  double coarse_rtol;            /**< Relative tolerance of the coarse CG. 0: 1e-6, or 1e-4 where cycles compute in float. */
  size_t coarse_cells;           /**< Coarsening stops at that many unknowns or fewer. 0: 64. */
  int max_levels;                /**< Most levels. 1: the coarse solver alone. 0: as many as help. */
  double coarsen_threshold;      /**< An axis is coarsened if its coupling is at least this fraction of the strongest. 0: 0.6. */
  int max_cycles;                /**< Cycle limit (100). */
  double rtol;                   /**< The solve ends at ||r||_2 <= max(rtol ||f_eff||_2, atol). 0: 1e-8 (double), 1e-5 (float).
                                      f_eff is f with the boundary values folded in: Dirichlet values enter as g / h^2 and can
                                      dominate it on fine grids. If f_eff = 0, rtol is relative to the first residual. */
  double atol;                   /**< Absolute tolerance (0). */
  int check_every;               /**< Cycles between measurements of the residual (1). 0: never; max_cycles cycles are run. */
  gmg_precision precision;       /**< Type in which cycles compute (GMG_PRECISION_AUTO). */
  int time_levels;               /**< 1: the report has the time on each level on a device, too. That takes events on the stream and
                                      an occasional wait for them (0). Host contexts always report it. */
  gmg_monitor *monitor;          /**< Called after each measured residual, or NULL. */
  void *monitor_data;            /**< Handed to the monitor. BORROWED. */
} gmg_params;

#define GMG_MAX_LEVELS 96 /**< No hierarchy is deeper. */

/** Warnings of gmg_plan() as bits, each with its text. */
#define GMG_WARNING_LIST(X)                                                                                  \
  X(GMG_WARN_COARSEST, 1, "cannot coarsen further: the coarsest grid is large for its solver")               \
  X(GMG_WARN_ANISOTROPY, 2, "anisotropy left over: strong and weak couplings are coarsened together")        \
  X(GMG_WARN_SINGULAR, 4, "singular: the solution is fixed to zero mean, an incompatible f is made compatible") \
  X(GMG_WARN_SMOOTHER, 8, "smoother unsuitable: its predicted factor is above 0.5")                          \
  X(GMG_WARN_TOLERANCE, 16, "tolerance below the estimated rounding floor for a smooth f: may end in GMG_STAGNATED") \
  X(GMG_WARN_STRETCH, 32, "an axis is stretched by more than 3: point smoothers are slow, flexible CG is needed and beyond 30 does not help much") \
  X(GMG_WARN_PLAIN, 64, "beta is an array and there is no acceleration: plain cycles may diverge where beta jumps")

/** Bits of gmg_plan_info::warnings. */
typedef enum gmg_warning {
#define GMG_WARNING_ENUM(name, bit, text) name = bit,
  GMG_WARNING_LIST(GMG_WARNING_ENUM)
#undef GMG_WARNING_ENUM
} gmg_warning;

/** What gmg_plan() reports of one level. */
typedef struct gmg_level_plan {
  size_t n[3];     /**< Unknowns along each axis. */
  size_t cells;    /**< Unknowns. */
  double h[3];     /**< Mesh width. */
  int coarsened[3];/**< 1 where the next level is coarser along that axis. */
  double omega;    /**< Weight that the smoother will use (0 on the coarsest level and for weightless smoothers). */
  double factor;   /**< Two-grid factor predicted by local Fourier analysis, or NaN. A V cycle is somewhat slower. For "async"
                        it is a lower bound: every local sweep counts as a global one. */
} gmg_level_plan;

/** What gmg_plan() reports before anything is allocated. */
typedef struct gmg_plan_info {
  int levels;                             /**< Number of levels, 1 at least. */
  gmg_level_plan level[GMG_MAX_LEVELS];   /**< level[0] is the finest. */
  size_t bytes;                           /**< Memory of the solver beyond the caller's u and f. */
  double predicted_factor;                /**< Largest of the levels' factors. NaN if the smoother has no symbol, beta is an
                                               array, or an axis is stretched by more than 1.5. */
  double floor;                           /**< Estimated rounding floor of ||r|| / ||f|| for a smooth f. */
  int singular;                           /**< 1 if constants are in the null space. */
  double stretch;                         /**< Largest over smallest mesh width, the worst axis. */
  gmg_accel accel;                        /**< The acceleration that will be used. */
  gmg_cycle_kind cycle;                   /**< The cycle that will be used. */
  gmg_precision precision;                /**< The precision that will be used: same or mixed. */
  unsigned warnings;                      /**< Bits of gmg_warning. */
  char text[1024];                        /**< The warnings in words, a line each. Empty if none. */
} gmg_plan_info;

/** What gmg_report has of one level. */
typedef struct gmg_level_report {
  size_t n[3];     /**< Unknowns along each axis. */
  size_t cells;    /**< Unknowns. */
  double seconds;  /**< Seconds of the solve spent on this level alone. On a device: time of the stream between events, or NaN
                        unless gmg_params::time_levels is set. Levels done in one launch count for the first of them. */
} gmg_level_report;

/** The result of a solve. BORROWED pointers stay valid until the solver's next call or its end. */
typedef struct gmg_report {
  gmg_status status;              /**< Outcome, as returned. */
  int cycles;                     /**< Cycles done. A full multigrid start counts as one. */
  double residual0;               /**< ||f_eff - A u||_2 of the guess (of u = 0 with a full multigrid start). */
  double residual;                /**< ||f_eff - A u||_2 at the end. NaN if never measured. */
  double factor;                  /**< Geometric mean of the reduction per cycle over the last five cycles at most (with
                                       check_every > 1: over as many measurements as cover five). */
  double target;                  /**< The solve ends at residual <= target. */
  double floor;                   /**< Estimated rounding floor of the residual, about eps ||A|| ||u||. 0 if not needed. */
  double seconds;                 /**< Duration of the call, in seconds. */
  const double *history;          /**< Residual after each measured cycle, history[0] = residual0. BORROWED. */
  int history_length;             /**< Entries of history. */
  const gmg_level_report *level;  /**< One entry a level, finest first. BORROWED. */
  int levels;                     /**< Entries of level. */
  int singular;                   /**< 1 if the problem is singular: u has zero mean. */
  double mean_removed;            /**< Volume-weighted mean subtracted from f_eff to make a singular problem compatible. NaN where
                                       nothing is measured (check_every = 0). */
  int deterministic;              /**< 1 if the smoother gives bitwise the same result every run. */
} gmg_report;

/** The version of the library that runs, "major.minor.patch". GMG_VERSION_STRING is the one compiled against. */
GMG_API const char *gmg_version(void);

/** The default problem: unit box, cell-centred, Dirichlet, GMG_F64, beta = 1, sigma = 0. Call gmg_problem_set_box() after changing
 *  the centring or the kind of a wall, for that changes the box that n and h span.
 *  @param dim 1, 2 or 3   @param n unknowns along each axis, dim entries   @return a value to change and pass on */
GMG_API gmg_problem gmg_problem_default(int dim, const size_t n[]);

/** Sets h so that the box has the given side lengths with the problem's centring and boundaries. Call it after those are set.
 *  @param problem changed in place   @param length side lengths, dim entries */
GMG_API void gmg_problem_set_box(gmg_problem *problem, const double length[]);

/** The default parameters: see the head of this file. */
GMG_API gmg_params gmg_params_default(void);

/** Sets the parameters of smoothing (smoother, omega, local_sweeps, local, overlap, passes, block, order, assignment, in_flight,
 *  oversubscription, deterministic) to those of a preset. All others keep their values.
 *
 *  "default": those of gmg_params_default(). "async-2011": async-(5) as in Anzt, Dongarra, Gates, Tomov (2011), with blocks of 512
 *  consecutive unknowns, 5 undamped Jacobi sweeps in each, no overlap, two passes a step. For comparison only: it does not
 *  damp oscillating errors (docs/api/params.md).
 *  @param params changed in place   @param name of the preset
 *  @return GMG_OK, or GMG_ERR_ARGUMENT for NULL or an unknown name; then nothing is changed */
GMG_API gmg_status gmg_params_set_preset(gmg_params *params, const char *name);

/** Names of the presets. @param i from 0 up   @return the name, or NULL past the last */
GMG_API const char *gmg_preset_name(int i);

/** A built-in smoother: "jacobi", "gauss_seidel", "red_black", "chebyshev" or "async".
 *  @return the smoother, a constant of the library. NULL for any other name: gmg_solver_create() then refuses it */
GMG_API const gmg_smoother *gmg_smoother_by_name(const char *name);

/** Names of the built-in smoothers. @param i from 0 up   @return the name, or NULL past the last */
GMG_API const char *gmg_smoother_name(int i);

/** A context on host threads. @param threads 0: all cores; at most 4096   @param[out] context NULL on failure
 *  @return GMG_OK, GMG_ERR_ARGUMENT or GMG_ERR_MEMORY */
GMG_API gmg_status gmg_context_create_host(int threads, gmg_context **context);

/** Destroys a context. All its solvers must have been destroyed. NULL is a no-op. */
GMG_API void gmg_context_destroy(gmg_context *context);

/** The text of the context's last error or unfinished solve. It names the argument and its value. Never NULL. BORROWED, valid
 *  until the context's next call. */
GMG_API const char *gmg_context_error(const gmg_context *context);

/** Threads of a host context; 1 on a device, 0 for NULL. */
GMG_API int gmg_context_threads(const gmg_context *context);

/** A status in words. Never NULL. */
GMG_API const char *gmg_status_string(gmg_status status);

/** Reports what gmg_solver_create() would build: levels, bytes, predicted factor, warnings. Allocates none of the solver's memory,
 *  but temporary host arrays of up to 176 bytes for each unknown of an axis. Reads coefficient arrays. Does not set up a
 *  user's smoother. Blocks.
 *  @param context BORROWED   @param problem, params as for gmg_solver_create()   @param[out] info
 *  @return as gmg_solver_create() */
GMG_API gmg_status gmg_plan(gmg_context *context, const gmg_problem *problem, const gmg_params *params,
                            gmg_plan_info *info);

/** Builds a solver. Allocates everything that it will ever need. Blocks.
 *  @param context BORROWED, must outlive the solver   @param problem, params copied   @param[out] solver NULL on failure
 *  @return GMG_OK, GMG_ERR_ARGUMENT, GMG_ERR_UNSUPPORTED or GMG_ERR_MEMORY; gmg_context_error() has the text */
GMG_API gmg_status gmg_solver_create(gmg_context *context, const gmg_problem *problem, const gmg_params *params,
                                     gmg_solver **solver);

/** Destroys a solver, and with it what its reports point to. NULL is a no-op. */
GMG_API void gmg_solver_destroy(gmg_solver *solver);

/** Solves A u = f. Blocks until the solve ends; with check_every = 0 a CUDA context returns once the work is enqueued. Allocates no
 *  memory (CUDA may, when it first captures a graph: docs/api/context.md).
 *  @param solver from gmg_solver_create()
 *  @param f  right-hand side of the equation (no h^2 folded in), problem shape, where the context runs
 *  @param u  guess in, solution out: the last iterate, whatever the outcome. Shape of f; must not overlap f
 *  @param[out] report may be NULL
 *  @return GMG_OK, GMG_NOT_CONVERGED, GMG_STAGNATED, GMG_DIVERGED, or GMG_ERR_ARGUMENT for NaN or infinity in f or u.
 *          With check_every = 0 nothing is measured or tested, and the return is GMG_OK.
 *  Squares of f and u must neither overflow nor underflow in double.
 *  Method: Brandt (1977); full multigrid start and cycles as in Trottenberg, Oosterlee, Schueller (2001). */
GMG_API gmg_status gmg_solve(gmg_solver *solver, const void *f, void *u, gmg_report *report);

/** One cycle from a zero guess for A z = r with zero boundary values: z = B r, where B approximates the inverse of A. Only enqueues
 *  (on a host context: returns when done). Allocates nothing. B is symmetric if params.symmetric or GMG_ACCEL_CG was set.
 *  @param solver from gmg_solver_create()
 *  @param r problem shape   @param[out] z same shape; must not overlap r   @return GMG_OK or GMG_ERR_ARGUMENT */
GMG_API gmg_status gmg_precondition(gmg_solver *solver, const void *r, void *z);

/** Changes the shift and the values of beta (or beta_face) and sigma, without new allocations. Costs less than a cycle. Which of
 *  the arrays are set, and everything else in problem, must be as at create; the error text says what differs. Boundary values
 *  stay. A problem may become singular or cease to be. In mixed precision values out of float's range are refused. The levels
 *  stay those chosen at create: where beta_face changes the ratios between the axes by more than about 2, create a new solver.
 *  Blocks.
 *  @return GMG_OK, GMG_ERR_ARGUMENT or GMG_ERR_UNSUPPORTED. On failure the solver is as before, unless a user's smoother or the
 *          coarse solver failed with the new arrays: then it must be updated again, and says so */
GMG_API gmg_status gmg_solver_update(gmg_solver *solver, const gmg_problem *problem);

/** Sets the boundary values of one face. Dirichlet: u = g. Neumann: beta du/dn = g (n outward). Robin: a u + b du/dn = g. Blocks.
 *  @param solver from gmg_solver_create()
 *  @param axis 0..dim-1   @param side 0 lower, 1 upper
 *  @param g  the face's unknowns, packed in the order of the remaining axes (axis 0: [n[2]][n[1]], axis 1:
 *            [n[2]][n[0]], axis 2: [n[1]][n[0]]; one value in 1D), problem's type, where the context runs; copied
 *  @return GMG_OK, or GMG_ERR_ARGUMENT for a periodic face, NaN or infinity */
GMG_API gmg_status gmg_set_boundary_values(gmg_solver *solver, int axis, int side, const void *g);

/** Sets one boundary value for a whole face: see gmg_set_boundary_values(). On a CUDA device it only enqueues.
 *  @return GMG_OK, or GMG_ERR_ARGUMENT for a periodic face or a value that is not finite in the problem's type */
GMG_API gmg_status gmg_set_boundary_constant(gmg_solver *solver, int axis, int side, double g);

/** Computes fluxes -beta du/dx_a and gradients du/dx_a of u on the faces of every axis a < dim, with the boundary values set. They
 *  are the differences from which A is made: the divergence of the fluxes plus sigma u is A u exactly. Only enqueues (on a host
 *  context: returns when done). Allocates nothing.
 *  @param solver from gmg_solver_create()
 *  @param u         problem shape, where the context runs; overlaps no output
 *  @param flux      an array for each axis, shaped as gmg_problem::beta_face: n[a] + 1 values along axis a, component along +a.
 *                   NULL, or NULL for an axis: not wanted. On a periodic axis the last repeats the first. No two overlap.
 *  @param gradient  likewise for du/dx_a
 *  @return GMG_OK, or GMG_ERR_ARGUMENT for NULL or an overlap */
GMG_API gmg_status gmg_flux(gmg_solver *solver, const void *u, void *const flux[3], void *const gradient[3]);

/** Computes r = f_eff - A u, where f_eff is f with the boundary values folded in and, if A is singular, made compatible. Only
 *  enqueues (on a host context: returns when done). Allocates nothing.
 *  @param solver from gmg_solver_create()
 *  @param f, u problem shape, where the context runs   @param[out] r same shape; must overlap neither
 *  @return GMG_OK, or GMG_ERR_ARGUMENT for NULL or an overlap */
GMG_API gmg_status gmg_residual(gmg_solver *solver, const void *f, const void *u, void *r);

#ifdef __cplusplus
}
#endif
#endif
