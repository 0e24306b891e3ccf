/** @file gmg.h
 *  @brief Geometric multigrid for `-div(beta grad u) + sigma u = f` on structured grids: the user's header.
 *
 *  Arrays are packed `[n[2]][n[1]][n[0]]`, n[0] fastest, unless the problem has layouts (gmg_array_layout). They have the problem's
 *  real type and are in the memory of the context: ordinary memory for a host context, device memory for a CUDA context. The
 *  library never prints and never aborts. Its only global state, one for each thread, is the id of the process in which the thread
 *  started OpenMP (to detect fork()).
 *
 *  Six calls are enough to embed gmg: gmg_context_create_host(), gmg_solver_create(), gmg_set_boundary_constant(), gmg_solve(),
 *  gmg_solver_destroy(), gmg_context_destroy().
 *
 *  Defaults: a direct solve if the problem is separable and not too large. Otherwise V(1,1) cycles with the smoother "async" and
 *  corrections in float where that loses no accuracy; flexible CG and mostly F cycles if beta is an array. All cores. For strongly
 *  stretched axes, and for coefficients whose strong direction changes, the smoother is "lines". docs/api/params.md lists all of
 *  them, and says what AUTO chooses and within which limits.
 *
 *  BORROWED marks a pointer to memory that the receiver does not own. All other arguments are copied.
 *
 *  Only one thread at a time may use a context and the objects created from it. Separate contexts are independent. After fork() a
 *  child process may use a context of one thread. Calls that would need threads or a device of the parent are refused with
 *  GMG_ERR_UNSUPPORTED (docs/api/context.md). */
#ifndef GMG_H
#define GMG_H

#include <stddef.h>

#define GMG_VERSION_MAJOR 0 /**< Major version. */
#define GMG_VERSION_MINOR 2 /**< Minor version. */
#define GMG_VERSION_PATCH 0 /**< Patch level. */

/** The version of this header as a number: 10000 major + 100 minor + patch. */
#define GMG_VERSION (10000 * GMG_VERSION_MAJOR + 100 * GMG_VERSION_MINOR + GMG_VERSION_PATCH)

#define GMG_TEXT_(x) #x           /**< Private: helper of GMG_TEXT(). */
#define GMG_TEXT(x) GMG_TEXT_(x)  /**< Private: the value of a macro as a string. */

/** The version of this header as a string, "major.minor.patch". */
#define GMG_VERSION_STRING GMG_TEXT(GMG_VERSION_MAJOR) "." GMG_TEXT(GMG_VERSION_MINOR) "." GMG_TEXT(GMG_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GMG_API
/** Marks the exported functions of the library. All other symbols are hidden. */
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

/** The return value of a call. The first four are outcomes of a solve. The others are errors
 *  (gmg_status_is_outcome()). */
typedef enum gmg_status {
#define GMG_STATUS_ENUM(name, text) name,
  GMG_STATUS_LIST(GMG_STATUS_ENUM)
#undef GMG_STATUS_ENUM
} gmg_status;

/** Real type of all fields: double (the default) or float. */
typedef enum { GMG_F64, GMG_F32 } gmg_type;
/** Where the unknowns are: in the centres of the mesh's cells (the default), or on its vertices. */
typedef enum { GMG_CELL, GMG_VERTEX } gmg_centering;
/** Kind of boundary condition on a face of the box. Dirichlet is the default. */
typedef enum { GMG_DIRICHLET, GMG_NEUMANN, GMG_ROBIN, GMG_PERIODIC } gmg_bc;
/** Multigrid cycle. AUTO selects F cycles for an array beta, but for few unknowns with black box coarsening or on CUDA
 *  (docs/api/params.md), and for a cell-centred problem with a box stencil. Otherwise, and always if a symmetric cycle is required,
 *  it selects V cycles. */
typedef enum { GMG_CYCLE_AUTO, GMG_CYCLE_V, GMG_CYCLE_W, GMG_CYCLE_F } gmg_cycle_kind;
/** Krylov acceleration. AUTO selects flexible CG for an array beta, a strongly stretched axis, or sigma below zero, and none
 *  otherwise. Without acceleration a solve with an array beta may diverge. CG requires a symmetric cycle, and so a smoother
 *  with an adjoint; "async" has one only with deterministic = 1 and async.overlap = GMG_NONE. */
typedef enum { GMG_ACCEL_AUTO, GMG_ACCEL_NONE, GMG_ACCEL_CG, GMG_ACCEL_FLEXIBLE_CG } gmg_accel;
/** Solver of the coarsest grid. AUTO selects CG, or dense if the problem has a stencil or coarsening is black box, and the coarsest
 *  grid is small enough. If the problem is separable, AUTO selects tensor where that is faster (docs/api/params.md).
 *  - CG: conjugate gradients (Hestenes, Stiefel 1952). For every problem whose matrix is symmetric.
 *  - Dense: a dense factor, for at most 1024 unknowns: Cholesky, or LU if the problem has a stencil that is not symmetric.
 *  - Tensor: a direct solver for separable problems. These have no beta, beta_face or sigma, but in 1D any without a stencil is
 *    separable. A stencil is separable if its entries are constant, the same on both sides of each axis, and positive for all
 *    frequencies. Meshes, walls and sizes are arbitrary; axes but the last have at most 4096 unknowns. Method: Lynch, Rice,
 *    Thomas (1964); Buzbee, Golub, Nielson (1970). */
typedef enum { GMG_COARSE_AUTO, GMG_COARSE_CG, GMG_COARSE_DENSE, GMG_COARSE_TENSOR } gmg_coarse_kind;
/** Whether the problem is solved directly, by the solver of GMG_COARSE_TENSOR, without a hierarchy. A cycle then is a direct solve
 *  for the residual, and the first one solves the problem up to rounding. gmg_plan_info::direct reports the choice.
 *  - AUTO: where this is faster than cycles (docs/api/params.md), unless cycle, accel, fmg, symmetric, coarse, coarse_cells or
 *    max_levels is set, the smoother is another than the default, or check_every is GMG_NONE. gmg_solver_update() then takes
 *    separable stencils only.
 *  - Never: always cycles. GMG_COARSE_AUTO then does not select tensor, either.
 *  - Always: problems that are not separable are refused. */
typedef enum { GMG_DIRECT_AUTO, GMG_DIRECT_NEVER, GMG_DIRECT_ALWAYS } gmg_direct;
/** When processes that share a grid exchange the planes beside their parts, the halos (docs/api/ranks.md). Without effect in one
 *  process.
 *  - AUTO: async on devices and exact on hosts, and exact where a part is too thin for async.
 *  - Exact: before each operation that reads them. A cycle is that of one process.
 *  - Async: once for each level and cycle. Between exchanges a process computes its halos itself: it relaxes them, restricts from
 *    them and corrects them. They are wider, so that what is wrong at their outer side hardly reaches its own unknowns. Norms are
 *    exact. */
typedef enum { GMG_HALOS_AUTO, GMG_HALOS_EXACT, GMG_HALOS_ASYNC } gmg_halos;
/** Relaxation inside a block of the asynchronous smoother. AUTO selects red-black. */
typedef enum { GMG_LOCAL_AUTO, GMG_LOCAL_RED_BLACK, GMG_LOCAL_JACOBI, GMG_LOCAL_GAUSS_SEIDEL } gmg_local_kind;
/** Order in which the blocks of the asynchronous smoother are relaxed (docs/study-order.md).
 *  - AUTO: natural.
 *  - Natural: along the axes, axis 0 fastest.
 *  - Two-colour: all blocks of one colour first, coloured like a chess board.
 *  - Random: a random permutation, the same in every pass.
 *  - Backward: the natural order reversed. */
typedef enum { GMG_ORDER_AUTO, GMG_ORDER_NATURAL, GMG_ORDER_TWO_COLOUR, GMG_ORDER_RANDOM, GMG_ORDER_BACKWARD } gmg_block_order;
/** Which worker relaxes which block of the asynchronous smoother (docs/api/params.md). Method: Tsai, Nayak, Chow, Anzt (2022).
 *  - Static: fixed in advance.
 *  - Dynamic: a worker takes the next block when it has finished one.
 *  - AUTO: dynamic on host threads; on a device dynamic if in_flight or oversubscription is set, otherwise static. */
typedef enum { GMG_ASSIGN_AUTO, GMG_ASSIGN_STATIC, GMG_ASSIGN_DYNAMIC } gmg_assignment;
/** Restriction of residuals (docs/weights.md).
 *  - Average: cells are averaged, weighted by their overlap with the coarse cell; vertices use full weighting, with rows that sum
 *    to 1.
 *  - Adjoint: the transpose of (bi-, tri-)linear interpolation with respect to the control volumes.
 *  - AUTO: adjoint where a symmetric cycle or the smoother needs it, otherwise average. */
typedef enum { GMG_RESTRICT_AUTO, GMG_RESTRICT_AVERAGE, GMG_RESTRICT_ADJOINT } gmg_restriction;
/** Precision of the corrections. gmg_plan_info::precision reports the choice of AUTO. Method: iterative refinement (Wilkinson
 *  1963).
 *  - Same: the problem's type everywhere.
 *  - Mixed (GMG_F64 only): cycles compute corrections in float from residuals in double. The residual, the solution and the
 *    attainable accuracy are those of double.
 *  - AUTO: mixed where it pays and loses no accuracy. */
typedef enum { GMG_PRECISION_AUTO, GMG_PRECISION_SAME, GMG_PRECISION_MIXED } gmg_precision;

/** How coarse grids represent the operator. gmg_plan_info::coarsening reports the choice of AUTO.
 *  - Discretize: the operator is discretised again on every level, with mean coefficients. Variable stencils get Galerkin products
 *    with fixed transfers instead.
 *  - Black box: interpolation follows from the rows of the matrix, and coarse operators are Galerkin products. For media that no
 *    coarse grid represents: coefficients that jump from unknown to unknown, or along narrow bands. A cycle needs more time, and
 *    the solver more memory. Not with a full multigrid start. Method: Dendy (1982, 1987); de Zeeuw (1990).
 *  - AUTO: black box if the array beta has many jumps, if the array sigma has strong ones, or in 2D, if beta_face has many jumps
 *    or, on the host, if its strong direction changes (docs/api/params.md). */
typedef enum { GMG_COARSENING_AUTO, GMG_COARSENING_DISCRETIZE, GMG_COARSENING_BLACK_BOX } gmg_coarsening;

/** "None", for counts whose 0 means that gmg chooses. */
#define GMG_NONE (-1)

typedef struct gmg_context gmg_context;   /**< Where gmg runs: host threads, or a device and a stream. */
typedef struct gmg_solver gmg_solver;     /**< The hierarchy, smoother states and fields for one problem. */
typedef struct gmg_smoother gmg_smoother; /**< A smoother. gmg_smoother.h says how to write one. */

/** A box stencil: an operator whose rows couple an unknown with all neighbours in a box of 3, 9 or 27 points, diagonals included,
 *
 *      (A u)_ijk = sum over z, y, x of entry[z + 1][y + 1][x + 1] u_(i+x)(j+y)(k+z),   x, y, z from -1 to 1
 *
 *  Entries are those of the equation A u = f itself, mesh widths included. In 2D only entry[1] is used, in 1D only entry[1][1]. All
 *  others must be 0. The entry of the unknown itself, entry[1][1][1], must be positive. All others may have any sign. Constant
 *  entries must not add up to less than 0. Entries need not be symmetric, as with convection; conjugate gradients
 *  (gmg_params::accel, GMG_COARSE_CG) and symmetric cycles are then refused.
 *
 *  Entries that vary are arrays, with a value for each row. A stencil with at least one array is variable: coarse operators are
 *  Galerkin products. On vertices an axis is coarsened only where its number of intervals is even (or 1), and cells are merged in
 *  pairs; gmg_params::coarsening has transfers for any number.
 *
 *  A Dirichlet wall, where u = 0, is one mesh width beyond the outermost unknowns: entries across it are dropped. A Neumann wall,
 *  where the flux is 0, goes through the outermost unknowns: the neighbour across it is the one on this side, u_(-1) = u_1. On
 *  cells, which only variable stencils have, u_(-1) = -u_0 beyond a Dirichlet wall, and u_0 beyond a Neumann wall. See
 *  docs/api/stencil.md. */
typedef struct gmg_stencil {
  size_t size;             /**< sizeof(gmg_stencil) where the program was compiled. 0: this version's. */
  double entry[3][3][3];   /**< [z + 1][y + 1][x + 1]: the factor of the neighbour at distance x, y, z along the axes 0, 1, 2. */
  const void *array[3][3][3]; /**< The same factor for each row, or NULL: it is entry[z + 1][y + 1][x + 1] in all rows. With an
                                   array that entry must be 0. Shape and type of the problem, gmg_problem::coefficient_layout,
                                   memory of the context. BORROWED, as in gmg_problem. On vertices, values for neighbours across a
                                   Dirichlet wall are not read. On cells they are. */
} gmg_stencil;

/** Where the unknowns of an array of yours are. Unknown (i, j, k) is
 *
 *      array[first + i + j row + k plane]
 *
 *  Zeros: packed, so that unknown (i, j, k) is array[i + n[0] (j + n[1] k)]. An array with ghost layers, or a part of a larger
 *  array, has other numbers. gmg neither reads nor writes the elements between the unknowns, but for those that gmg_problem::halo
 *  names. */
typedef struct gmg_array_layout {
  size_t row;   /**< Elements from one row to the next: at least n[0]. 0: n[0]. Not read in 1D. */
  size_t plane; /**< Elements from one plane to the next: a multiple of row, at least n[1] rows. 0: n[1] rows. Only read in 3D. */
  size_t first; /**< Elements before unknown (0, 0, 0). */
} gmg_array_layout;

/** The problem, a plain struct. Start from gmg_problem_default() and change the members that differ. 0 means the default in every
 *  member but dim and n, so a struct of zeros with dim and n set is the default problem, too. Later versions may add members at the
 *  end. A program compiled with an older header states its smaller size; members beyond that size count as 0.
 *
 *  A cell-centred axis is n h long, and unknown i is at (i + 1/2) h. A vertex-centred axis with two Dirichlet walls is (n + 1) h
 *  long, and unknown i is at (i + 1) h: Dirichlet walls hold no unknowns. A Neumann or Robin wall of a vertex-centred axis holds an
 *  unknown. A periodic axis is n h long.
 *
 *  Coefficient arrays have the problem's type and are in the memory of the context. They are BORROWED: gmg_plan(),
 *  gmg_solver_create() and gmg_solver_update() read them, and they are not needed afterwards. On a CUDA context kernels that read
 *  them may run later (docs/api/context.md). */
typedef struct gmg_problem {
  size_t size;                /**< sizeof(gmg_problem) where the program was compiled (gmg_problem_init()). 0: this version's. */
  int dim;                    /**< 1, 2 or 3. Axes >= dim are ignored. */
  size_t n[3];                /**< Unknowns along each axis, >= 1. */
  double h[3];                /**< Mesh width along each axis. 0: an axis of length 1 (with this centring and these walls). Not
                                   read on an axis with coord. */
  const double *coord[3];     /**< Positions along a stretched axis, increasing, or NULL for uniform spacing. Host memory. BORROWED.
                                   Cell-centred: the n + 1 faces. Vertex-centred: all nodes, including Dirichlet walls.
                                   Periodic: n + 1 positions, the last one period after the first. */
  gmg_centering centering;    /**< GMG_CELL (default) or GMG_VERTEX. */
  gmg_type type;              /**< GMG_F64 (default) or GMG_F32. */
  gmg_bc bc[3][2];            /**< Boundary condition on the lower and upper face of each axis. GMG_PERIODIC on both or on none. */
  double robin[3][2][2];      /**< {a, b} of `a u + b du/dn = g` (n outward). a >= 0, b >= 0. {0, 0}: {1, 1}. */
  double shift;               /**< A constant sigma. It is added to the array sigma, if there is one. The sum may be below zero, as
                                   long as the matrix is positive definite (gmg_plan_info::margin). shift / (beta / h^2) must
                                   neither overflow nor underflow in the type. If neither a Dirichlet nor a Robin wall fixes u, the
                                   shift must not be so small that rounding loses it (docs/api/problem.md). */
  const void *beta;           /**< One coefficient > 0 per unknown, shape of the problem, or NULL for 1. beta and beta / h^2 must be
                                   in the range of the type, and between 1e-100 and 1e100; the smallest beta at least 1e-50 times
                                   the largest. A face between two unknowns gets their harmonic mean, weighted by distance. A wall
                                   gets the value of its unknown (docs/api/problem.md). */
  const void *beta_face[3];   /**< One coefficient > 0 per face, an array for every axis < dim, or NULL. n[a] + 1 values along axis
                                   a, face i below unknown i. On a periodic axis the last value repeats the first and is not read.
                                   Not together with beta. */
  const void *sigma;          /**< One sigma per unknown, shape of the problem, or NULL for 0. */
  const gmg_stencil *stencil; /**< A box stencil, or NULL for -div(beta grad u). Host memory. BORROWED, like the arrays. For
                                   vertex-centred problems, and with arrays also cell-centred ones, with uniform
                                   spacing and Dirichlet, Neumann or periodic walls. shift is added to the entry of the
                                   unknown itself. Not together with beta, beta_face, sigma or coord. Such a problem has
                                   no boundary values and no fluxes. */
  gmg_array_layout f_layout;  /**< Of right-hand sides and residuals: f of gmg_solve(), f and r of gmg_residual(), r of
                                   gmg_precondition(). */
  gmg_array_layout u_layout;  /**< Of solutions: u of gmg_solve(), gmg_residual() and gmg_flux(), z of gmg_precondition(). */
  gmg_array_layout coefficient_layout; /**< Of beta, beta_face, sigma and the arrays of a stencil. With beta_face a row is at
                                            least n[0] + 1 elements, and a plane at least n[1] + 1 rows. Zeros: each array is
                                            packed in its own shape. */
  size_t halo[3];             /**< In several processes: layers beyond this process's unknowns that f, r, u and z have in memory, on
                                   both sides of each axis (0). gmg works in an array with enough of them (gmg_plan_info::halo)
                                   instead of a copy, and writes them, also those of f and r (docs/api/ranks.md). */
} gmg_problem;

/** A function of yours that gmg calls after each measured residual. If it returns a value other than 0, the solve ends. On the same
 *  solver it may call gmg_flux(); all other calls are refused with GMG_ERR_ARGUMENT.
 *  @param data      gmg_params::monitor_data
 *  @param cycle     number of cycles so far (0: the initial guess)
 *  @param residual  ||f_eff - A u||_2
 *  @param target    the solve ends when residual <= target */
typedef int gmg_monitor(void *data, int cycle, double residual, double target);

/** Parameters of the smoother "async", a part of gmg_params. As there, 0 means the default. Later versions add no members. */
typedef struct gmg_async_params {
  int local_sweeps;           /**< Sweeps inside a block (2). */
  gmg_local_kind local;       /**< Relaxation inside a block (GMG_LOCAL_AUTO). */
  int overlap;                /**< Layers around a block, relaxed redundantly and not written back: GMG_NONE, 1 or 2 (0: 2 in
                                   2D with constant coefficients, otherwise 1). */
  int passes;                 /**< Passes over all blocks in one smoothing step (1). The 2011 paper uses 2. */
  size_t block[3];            /**< Unknowns of a block along each axis. 0: chosen for the cache. */
  gmg_block_order order;      /**< Order of the blocks (GMG_ORDER_AUTO). */
  unsigned long seed;         /**< Seed of the random order (1). */
  gmg_assignment assignment;  /**< Which worker relaxes which block (GMG_ASSIGN_AUTO). */
  int in_flight;              /**< Maximum number of blocks relaxed at the same time, by thread blocks of a device (with dynamic
                                   assignment) or by host threads. 0: all that fit. Method: Chow, Anzt, Dongarra (2015), Section
                                   3.5. */
  int oversubscription;       /**< On a device with dynamic assignment: thread blocks per multiprocessor. 0: as many as fit.
                                   Thread blocks that do not fit start when no block is left to relax, so they do
                                   nothing. */
} gmg_async_params;

/** How to solve, a plain struct. Start from gmg_params_default(), or from a struct of zeros, and change the members that differ.
 *  In every member 0 means the default, which is in parentheses, or that gmg chooses the value. A count of none is GMG_NONE, where
 *  that is allowed. Later versions may add members at the end, as for gmg_problem. gmg_plan() reports what gmg has chosen.
 *  docs/api/params.md describes every member. */
typedef struct gmg_params {
  size_t size;                   /**< sizeof(gmg_params) where the program was compiled (gmg_params_init()). 0: this version's. */
  gmg_cycle_kind cycle;          /**< V, W or F cycle (GMG_CYCLE_AUTO). */
  int fmg;                       /**< > 0: full multigrid start with that many cycles per level. The guess in u is not used.
                                      GMG_NONE or 0: no such start. */
  const gmg_smoother *smoother;  /**< BORROWED, must outlive the solver. NULL: chosen by gmg, "async" or, where the strong couplings
                                      change from place to place, "lines" (docs/api/params.md). */
  int pre;                       /**< Smoothing steps before the coarse-grid correction (1), or GMG_NONE. */
  int post;                      /**< Smoothing steps after the coarse-grid correction (1), or GMG_NONE unless pre is GMG_NONE. */
  double omega;                  /**< Relaxation weight in (0, 2). 0: best known for each level (docs/weights.md). */
  int chebyshev_degree;          /**< "chebyshev": degree of the polynomial (2). */
  gmg_async_params async;        /**< "async". */
  int deterministic;             /**< 1: bitwise the same result on every run, for any number of threads, and of processes on hosts
                                      with exact halos (docs/api/ranks.md). "async" then uses its synchronous, double-buffered
                                      version, and "gauss_seidel" the sequential method. On hosts sums do not depend on the
                                      order of their terms (Demmel, Nguyen 2015). */
  int symmetric;                 /**< 1: symmetric cycle (reversed order on the upward leg, adjoint restriction). Converges more
                                      slowly. GMG_ACCEL_CG implies it. */
  gmg_restriction restriction;   /**< Restriction of residuals (GMG_RESTRICT_AUTO). */
  gmg_accel accel;               /**< Acceleration (GMG_ACCEL_AUTO). */
  gmg_coarse_kind coarse;        /**< Solver of the coarsest grid (GMG_COARSE_AUTO). */
  gmg_direct direct;             /**< Direct solution of the whole problem (GMG_DIRECT_AUTO). */
  double coarse_rtol;            /**< Relative tolerance of CG on the coarsest grid. 0: 1e-6, or 1e-4 if cycles compute in float. */
  size_t coarse_cells;           /**< Coarsening stops at this number of unknowns or fewer. 0: 64; for the dense solver more
                                      on CUDA, and with black box coarsening (docs/api/params.md). */
  int max_levels;                /**< Maximum number of levels. 1: only the coarse solver. 0: as many as help. */
  double coarsen_threshold;      /**< An axis is coarsened if its coupling is at least this fraction of the strongest. 0: 0.6. */
  int max_cycles;                /**< Maximum number of cycles (100). GMG_NONE: only the residual of the guess is measured. */
  double rtol;                   /**< The solve ends when ||r||_2 <= max(rtol ||f_eff||_2, atol). 0: 1e-8, or 1e-5 for GMG_F32.
                                      f_eff is f with the boundary values folded in. Dirichlet values enter it as g / h^2, and can
                                      dominate it on fine grids. If f_eff = 0, rtol is relative to the first residual. */
  double atol;                   /**< Absolute tolerance (0). */
  int check_every;               /**< Cycles between measurements of the residual. GMG_NONE: max_cycles cycles, nothing is measured.
                                      0: 1 or, in mixed precision on large grids without a monitor, up to 4, as the target needs. */
  gmg_precision precision;       /**< Type in which cycles compute (GMG_PRECISION_AUTO). */
  int report_level_times;        /**< 1: the report includes the time on each level on a device, too (0). This costs events on
                                      the stream, and an occasional wait for them. Host contexts always report it. */
  gmg_monitor *monitor;          /**< Function called after each measured residual, or NULL. */
  void *monitor_data;            /**< First argument of the monitor. BORROWED. */
  int line_axes;                 /**< "lines": the axes along which lines are relaxed, in turn: the sum of 1, 2 and 4 for axes 0, 1
                                      and 2. 0: all axes that are stretched or, if none is, all axes. */
  gmg_coarsening coarsening;     /**< Operators and transfers of coarse grids (GMG_COARSENING_AUTO). */
  gmg_halos halos;               /**< Exchanges between processes that share the grid (GMG_HALOS_AUTO). */
  double over_correction;        /**< The correction of the finest grid by the coarser ones is multiplied by this (docs/weights.md),
                                      but not what the direct solver does on the coarsest of several.
                                      0: best known. Another value than 1 needs constant coefficients, no box stencil, and no full
                                      multigrid start. */
} gmg_params;

#define GMG_MAX_LEVELS 96 /**< The maximum number of levels of any hierarchy. */

/** The warnings of gmg_plan(): name, bit and text of each. */
#define GMG_WARNING_LIST(X)                                                                                  \
  X(GMG_WARN_COARSEST, 1, "cannot coarsen further: the coarsest grid is large for its solver")               \
  X(GMG_WARN_ANISOTROPY, 2, "anisotropy left over: strong and weak couplings are coarsened together")        \
  X(GMG_WARN_SINGULAR, 4, "singular: the solution is fixed to zero mean, an incompatible f is made compatible") \
  X(GMG_WARN_SMOOTHER, 8, "smoother unsuitable: its predicted factor is above 0.5")                          \
  X(GMG_WARN_TOLERANCE, 16, "tolerance below the estimated rounding floor for a smooth f: may end in GMG_STAGNATED") \
  X(GMG_WARN_STRETCH, 32,                                                                                    \
    "an axis is stretched by more than 3: point smoothers are slow, use flexible CG, or the smoother \"lines\"")   \
  X(GMG_WARN_NO_ACCELERATION, 64, "beta is an array and there is no acceleration: plain cycles may diverge where beta jumps")

/** The bits of gmg_plan_info::warnings. */
typedef enum gmg_warning {
#define GMG_WARNING_ENUM(name, bit, text) name = bit,
  GMG_WARNING_LIST(GMG_WARNING_ENUM)
#undef GMG_WARNING_ENUM
} gmg_warning;

/** The plan of one level. */
typedef struct gmg_level_plan {
  size_t n[3];     /**< Unknowns along each axis. */
  size_t cells;    /**< Total number of unknowns, n[0] n[1] n[2]. */
  double h[3];     /**< Mesh width. */
  int coarsened[3];/**< 1 if the next level is coarser along this axis. */
  double omega;    /**< Weight that the smoother will use, or the mean of several. 0 on the coarsest level, and for smoothers
                        without a weight. */
  double factor;   /**< Two-grid convergence factor predicted by local Fourier analysis, or NaN. A V cycle is somewhat slower. For
                        "async" it is a lower bound, because every local sweep counts as a global one. */
} gmg_level_plan;

/** The result of gmg_plan(), known before anything is allocated. Later versions may add members at the end. */
typedef struct gmg_plan_info {
  int levels;                             /**< Number of levels, at least 1. */
  gmg_level_plan level[GMG_MAX_LEVELS];   /**< level[0] is the finest. */
  size_t bytes;                           /**< Memory of the solver in bytes, without the caller's u and f. */
  double predicted_factor;                /**< Largest factor of all levels. NaN if there is only one level, the smoother has no
                                               symbol, the problem has a stencil, beta is an array, or an axis is strongly
                                               stretched (docs/api/plan.md). */
  double floor;                           /**< Estimated rounding floor of ||r|| / ||f|| for a smooth f. */
  int singular;                           /**< 1 if constants are in the null space. */
  double stretch;                         /**< Largest over smallest mesh width, for the axis with the largest ratio. */
  gmg_accel accel;                        /**< The acceleration that will be used. */
  gmg_cycle_kind cycle;                   /**< The cycle that will be used. */
  gmg_precision precision;                /**< The precision that will be used: same or mixed. */
  const gmg_smoother *smoother;           /**< The smoother that will be used. BORROWED. */
  int line_axes;                          /**< "lines": the axes along which lines are relaxed, as gmg_params::line_axes. 0 for any
                                               other smoother. */
  gmg_coarse_kind coarse;                 /**< The solver of the coarsest grid that will be used. */
  int direct;                             /**< 1: the problem is solved directly, without a hierarchy (gmg_params::direct). */
  gmg_local_kind local;                   /**< "async": the relaxation inside a block that will be used. */
  gmg_block_order order;                  /**< "async": the order of the blocks that will be used. */
  int overlap;                            /**< "async": layers around a block. 0: none. */
  int fmg;                                /**< Cycles per level of the full multigrid start. 0: no such start. */
  int pre;                                /**< Smoothing steps before the coarse-grid correction. 0: none. */
  int post;                               /**< Smoothing steps after the coarse-grid correction. 0: none. */
  int max_cycles;                         /**< Maximum number of cycles. 0: none. */
  int check_every;                        /**< Cycles between measurements of the residual, at most if it was not given. 0: nothing
                                               is measured. */
  unsigned warnings;                      /**< Bits of gmg_warning. */
  char text[1024];                        /**< The warnings in words, one per line. Empty if there are none. */
  gmg_coarsening coarsening;              /**< The operators of coarse grids that will be used. */
  double margin;                          /**< The smallest eigenvalue of the matrix, estimated, if sigma, shift included, is below
                                               zero anywhere: the shift may decrease by less than this. NaN otherwise. */
  gmg_halos halos;                        /**< The exchanges between processes that will be used. GMG_HALOS_AUTO: there is only one
                                               process. */
  size_t halo[3];                         /**< Layers with which an array needs no copy (gmg_problem::halo). 0 on an axis that is
                                               not cut. */
  double over_correction;                 /**< The factor of the coarse correction that will be used. 1: none. */
} gmg_plan_info;

/** The report of one level. */
typedef struct gmg_level_report {
  size_t n[3];     /**< Unknowns along each axis. */
  size_t cells;    /**< Total number of unknowns, n[0] n[1] n[2]. */
  double seconds;  /**< Seconds spent on this level, without coarser levels. On a device: time between events on the stream, or NaN
                        unless gmg_params::report_level_times is set. If several levels share one launch, its time is
                        reported for the finest of them. */
} gmg_level_report;

/** The result of a solve. Later versions may add members at the end. BORROWED pointers are valid until
 *  the solver's next call, or until it is destroyed. */
typedef struct gmg_report {
  gmg_status status;              /**< Outcome: the return value of gmg_solve(). */
  int cycles;                     /**< Number of cycles. A full multigrid start counts as one. */
  double residual0;               /**< ||f_eff - A u||_2 of the guess. With a full multigrid start: of u = 0. */
  double residual;                /**< ||f_eff - A u||_2 at the end. NaN if never measured. */
  double factor;                  /**< Convergence factor: geometric mean of the residual reduction per cycle, over the last five
                                       cycles, or a few more if the residual before them was not measured. */
  double target;                  /**< The solve ends when residual <= target. */
  double floor;                   /**< Estimated rounding floor of the residual, about eps ||A|| ||u||. 0 if it was not needed. */
  double seconds;                 /**< Duration of the call, in seconds. */
  const double *history;          /**< history[i]: residual after i cycles, NaN if it was not measured. history[0] = residual0,
                                       history[cycles] = residual. BORROWED. */
  int history_length;             /**< Number of entries of history: cycles + 1, or 0 if nothing was measured. */
  const gmg_level_report *level;  /**< One entry per level, finest first. BORROWED. */
  int levels;                     /**< Number of entries of level. */
  int singular;                   /**< 1 if the problem is singular. u then has zero mean. */
  double mean_removed;            /**< Volume-weighted mean subtracted from f_eff to make a singular problem compatible. NaN if
                                       nothing is measured (check_every = GMG_NONE). */
  int direct;                     /**< 1 if the problem was solved directly, without a hierarchy. */
  int deterministic;              /**< 1 if the smoother gives bitwise the same result on every run. */
} gmg_report;

/** The version of the library in use, "major.minor.patch". GMG_VERSION_STRING is the version compiled against. */
GMG_API const char *gmg_version(void);

/** Sets the first `size` bytes of *problem to the defaults. For programs compiled with another version of this header;
 *  gmg_problem_default() is the shorter call.
 *  @param problem in host memory; NULL: nothing is done   @param size sizeof(gmg_problem); members beyond those of the library
 *                 become 0   @param dim, n as for gmg_problem_default() */
GMG_API void gmg_problem_init(gmg_problem *problem, size_t size, int dim, const size_t n[]);

/** The default problem: unit box, cell-centred, Dirichlet, GMG_F64, beta = 1, sigma = 0. After changing the centring or a boundary
 *  condition, call gmg_problem_set_box(): the size of the box depends on both.
 *  @param dim 1, 2 or 3   @param n unknowns along each axis, dim entries; NULL: 0, which gmg_solver_create() refuses
 *  @return the problem */
static inline gmg_problem gmg_problem_default(int dim, const size_t n[])
{
  gmg_problem problem;
  gmg_problem_init(&problem, sizeof problem, dim, n);
  return problem;
}

/** gmg_stencil_q1() for a gmg_stencil of another size. Fills `size` bytes of the stencil, no more. */
GMG_API gmg_status gmg_stencil_q1_init(gmg_stencil *stencil, size_t size, int dim, const double h[], double sigma);

/** The stencil of (bi-, tri-)linear finite elements for -div(grad u) + sigma u on a uniform mesh: (stiffness matrix + sigma mass
 *  matrix) / volume of a cell. f must be the load vector divided by the same volume. Method: elements Q1 (Strang, Fix 1973).
 *  @param dim 1, 2 or 3   @param h mesh widths, dim entries; NULL: 1   @param sigma >= 0
 *  @return the stencil; with zeros, which gmg_solver_create() refuses, if an argument is out of its range */
static inline gmg_stencil gmg_stencil_q1(int dim, const double h[], double sigma)
{
  gmg_stencil stencil;
  (void)gmg_stencil_q1_init(&stencil, sizeof stencil, dim, h, sigma);
  return stencil;
}

/** Sets h so that the box has the given side lengths. h depends on the centring and the boundary conditions, so set these first.
 *  @param problem changed in place; NULL: nothing is done
 *  @param length side lengths, dim entries; NULL: those of the unit box. gmg_solver_create() refuses a length of 0 */
GMG_API void gmg_problem_set_box(gmg_problem *problem, const double length[]);

/** Sets the first `size` bytes of *params to the defaults. For programs compiled with another version of this header;
 *  gmg_params_default() is the shorter call.
 *  @param params in host memory; NULL: nothing is done   @param size sizeof(gmg_params); members beyond those of the library
 *                become 0 */
GMG_API void gmg_params_init(gmg_params *params, size_t size);

/** The default parameters. They are listed at the top of this file. */
static inline gmg_params gmg_params_default(void)
{
  gmg_params params;
  gmg_params_init(&params, sizeof params);
  return params;
}

/** Sets the smoothing parameters (smoother, omega, chebyshev_degree, async without its seed, deterministic) to those of a
 *  preset. All other members keep their values.
 *  - "default": the values of gmg_params_default().
 *  - "async-2011": async-(5) as in Anzt, Dongarra, Gates, Tomov (2011), with blocks of 512 consecutive unknowns, 5 undamped Jacobi
 *    sweeps in each, no overlap, and two passes per step. For comparison only: it does not damp high-frequency errors
 *    (docs/api/params.md).
 *
 *  @param params changed in place   @param name name of the preset
 *  @return GMG_OK, or GMG_ERR_ARGUMENT for NULL or an unknown name. After an error nothing is changed */
GMG_API gmg_status gmg_params_set_preset(gmg_params *params, const char *name);

/** Names of the presets. @param i index, from 0 up   @return the name, or NULL if i is past the last one */
GMG_API const char *gmg_preset_name(int i);

/** A built-in smoother: "jacobi", "gauss_seidel", "red_black", "chebyshev", "async" or "lines".
 *  @return the smoother, a constant of the library, or NULL for any other name. Check the result if the name is a user's input:
 *          NULL in gmg_params::smoother means that gmg chooses */
GMG_API const gmg_smoother *gmg_smoother_by_name(const char *name);

/** Names of the built-in smoothers. @param i index, from 0 up   @return the name, or NULL if i is past the last one */
GMG_API const char *gmg_smoother_name(int i);

/** Creates a context on host threads, and starts them for the calling thread.
 *  @param threads number of threads, at most 4096; 0: all cores   @param[out] context NULL on failure
 *  @return GMG_OK, GMG_ERR_ARGUMENT, or GMG_ERR_MEMORY, also if the system does not let the process have so many threads */
GMG_API gmg_status gmg_context_create_host(int threads, gmg_context **context);

/** Destroys a context. Destroy all its solvers first. NULL is a no-op. */
GMG_API void gmg_context_destroy(gmg_context *context);

/** The text of the context's last error, or of its last solve that did not converge. It names the argument and its value. Never
 *  NULL. BORROWED, valid until the context's next call. */
GMG_API const char *gmg_context_error(const gmg_context *context);

/** The number of threads of a host context, 1 for a CUDA context, or 0 for NULL. */
GMG_API int gmg_context_threads(const gmg_context *context);

/** The unknowns whose values this process passes to gmg: a box of the problem's grid. A context of one process has all of them. In
 *  several processes (gmg_mpi.h, gmg_transport.h) gmg_problem::n is the size of the whole grid, but every array contains the values
 *  of this box alone: f, u, beta, beta_face (one more along its axis), sigma, and boundary values. Reads the sizes, the
 *  mesh and the walls of the problem. Unlike all other calls in several processes it is not collective.
 *  @param context from gmg_context_create_host(), _mpi() or _ranks()   @param problem its arrays may be NULL
 *  @param[out] first the first unknown of the box along each axis   @param[out] n the number of its unknowns along each axis
 *  @return GMG_OK, or GMG_ERR_ARGUMENT or GMG_ERR_UNSUPPORTED if the grid cannot be cut for so many processes */
GMG_API gmg_status gmg_local_box(gmg_context *context, const gmg_problem *problem, size_t first[3], size_t n[3]);

/** A status in words. Never NULL. */
GMG_API const char *gmg_status_string(gmg_status status);

/** Whether a status is the outcome of a solve that ran: u then holds the last iterate.
 *  @return 1 for GMG_OK, GMG_NOT_CONVERGED, GMG_STAGNATED and GMG_DIVERGED; 0 for errors, and for numbers that are not a status */
GMG_API int gmg_status_is_outcome(gmg_status status);

/** gmg_plan() for a gmg_plan_info of another size, such as that of an older header. Fills `size` bytes of info, no more; members
 *  that the library does not know become 0. */
GMG_API gmg_status gmg_plan_sized(gmg_context *context, const gmg_problem *problem, const gmg_params *params, gmg_plan_info *info,
                                  size_t size);

/** Reports what gmg_solver_create() would build: levels, bytes, predicted factor, warnings. Allocates only temporary host memory:
 *  up to 176 (n[0] + n[1] + n[2]) bytes for the axes, the history, and the matrices of GMG_COARSE_DENSE. Reads coefficient arrays.
 *  Does not call the setup of a user's smoother. Blocks.
 *  @param context BORROWED   @param problem, params as for gmg_solver_create()   @param[out] info the report, in host memory
 *  @return the status that gmg_solver_create() would return (exceptions: docs/api/plan.md) */
static inline gmg_status gmg_plan(gmg_context *context, const gmg_problem *problem, const gmg_params *params,
                                  gmg_plan_info *info)
{
  return gmg_plan_sized(context, problem, params, info, sizeof *info);
}

/** Builds a solver. Allocates all the memory that the solver will need. Blocks, on a CUDA context until the arrays are checked.
 *  @param context BORROWED, must outlive the solver   @param problem, params copied   @param[out] solver NULL on failure
 *  @return GMG_OK, GMG_ERR_ARGUMENT, GMG_ERR_UNSUPPORTED or GMG_ERR_MEMORY; gmg_context_error() returns the text */
GMG_API gmg_status gmg_solver_create(gmg_context *context, const gmg_problem *problem, const gmg_params *params,
                                     gmg_solver **solver);

/** Destroys a solver, and the arrays that its reports point to. NULL is a no-op. If the solver's own
 *  monitor or smoother calls it, it destroys nothing and only sets the text of gmg_context_error(). */
GMG_API void gmg_solver_destroy(gmg_solver *solver);

/** gmg_solve() for a gmg_report of another size, such as that of an older header. Fills `size` bytes of report, no more; members
 *  that the library does not know become 0. */
GMG_API gmg_status gmg_solve_sized(gmg_solver *solver, const void *f, void *u, gmg_report *report, size_t size);

/** Solves A u = f. Blocks until the solve ends; with check_every = GMG_NONE a CUDA context returns once the work is enqueued.
 *  Allocates no fields. On a CUDA context the first solves that record a graph allocate a few hundred bytes of host memory and what
 *  the driver needs (docs/api/context.md). The squares of f and u must neither overflow nor underflow in double. Method: Brandt
 *  (1977); full multigrid start and cycles as in Trottenberg, Oosterlee, Schueller (2001).
 *  @param solver from gmg_solver_create()
 *  @param f  right-hand side of the equation, not multiplied by h^2; shape of the problem, in the memory of the context
 *  @param u  in: initial guess; out: solution, or the last iterate if the solve did not converge. Shape of f; must not overlap f
 *  @param[out] report may be NULL. After an error: the status, NaN and zeros
 *  @return GMG_OK, GMG_NOT_CONVERGED, GMG_STAGNATED, GMG_DIVERGED, or GMG_ERR_ARGUMENT for NaN, infinity or too large a value
 *          in f or u (the text names it). With check_every = GMG_NONE nothing is measured or tested, and the call returns GMG_OK */
static inline gmg_status gmg_solve(gmg_solver *solver, const void *f, void *u, gmg_report *report)
{
  return gmg_solve_sized(solver, f, u, report, sizeof *report);
}

/** Runs one cycle for A z = r, from a zero guess and with zero boundary values: z = B r, where B approximates the inverse of A. On
 *  a CUDA context it only enqueues; on a host context it returns when done. Allocates no fields (docs/api/context.md). B is
 *  symmetric if params.symmetric or GMG_ACCEL_CG was set. Method: multigrid as a preconditioner, Kettler (1982).
 *  @param solver from gmg_solver_create()
 *  @param r shape of the problem, in the memory of the context   @param[out] z same shape; must not overlap r
 *  @return GMG_OK or GMG_ERR_ARGUMENT */
GMG_API gmg_status gmg_precondition(gmg_solver *solver, const void *r, void *z);

/** Changes the shift and the values of beta (or beta_face) and sigma, or the entries of a stencil. Blocks, on a CUDA context until
 *  the arrays are checked. Allocates nothing. Costs less than a cycle, unless the problem has a stencil or the coarse solver is
 *  Cholesky: coarse operators and the factor are then computed again. If sigma is below zero anywhere, it takes the memory of
 *  another solver for the time of some cycles, to find the smallest eigenvalue.
 *
 *  Only the shift, the stencil and the contents of the arrays may differ from the problem given to gmg_solver_create(); the error
 *  text says what else differs. The problem may become singular, or stop being singular. In mixed precision, values out of float's
 *  range are refused. Boundary values are kept. The levels stay those that gmg_solver_create() chose: if a new beta_face changes
 *  the ratios between the axes much, create a new solver (docs/api/update.md).
 *  @return GMG_OK, GMG_ERR_ARGUMENT or GMG_ERR_UNSUPPORTED. On failure the solver is unchanged, with one exception: if a user's
 *          smoother or the coarse solver fails with new arrays, or fails again when the old shift is restored, solves are refused
 *          until another update succeeds, and the text says so */
GMG_API gmg_status gmg_solver_update(gmg_solver *solver, const gmg_problem *problem);

/** Sets the boundary values of one face. Dirichlet: u = g. Neumann: beta du/dn = g (n outward). Robin: a u + b du/dn = g. On a
 *  host context it returns when done. On a CUDA context it waits until g is checked, and enqueues the copy (docs/api/boundary.md).
 *  @param solver from gmg_solver_create()
 *  @param axis 0..dim-1   @param side 0 lower, 1 upper
 *  @param g  one value per unknown of the face, packed in the order of the remaining axes (axis 0: [n[2]][n[1]], axis 1:
 *            [n[2]][n[0]], axis 2: [n[1]][n[0]]; one value in 1D); problem's type, in the memory of the context; copied
 *  @return GMG_OK, GMG_ERR_ARGUMENT for a periodic face, NaN, infinity or a value whose square overflows, or GMG_ERR_UNSUPPORTED
 *          if the problem has a stencil */
GMG_API gmg_status gmg_set_boundary_values(gmg_solver *solver, int axis, int side, const void *g);

/** Sets the same boundary value on a whole face (see gmg_set_boundary_values()). On a CUDA context it only enqueues.
 *  @return GMG_OK, GMG_ERR_ARGUMENT for a periodic face or a value that is not finite in the problem's type or whose square
 *          overflows, or GMG_ERR_UNSUPPORTED if the problem has a stencil */
GMG_API gmg_status gmg_set_boundary_constant(gmg_solver *solver, int axis, int side, double g);

/** Computes the fluxes -beta du/dx_a and gradients du/dx_a of u on the faces of every axis a < dim, with the current boundary
 *  values. A is built from the same differences: the divergence of the fluxes plus sigma u equals A u exactly. On a CUDA context it
 *  only enqueues; on a host context it returns when done. Allocates nothing.
 *  @param solver from gmg_solver_create()
 *  @param u         shape of the problem, in the memory of the context; must not overlap an output
 *  @param flux      one array per axis, with the shape of gmg_problem::beta_face (n[a] + 1 values along axis a): component along
 *                   +a. On a periodic axis the last value repeats the first. Pass NULL, or NULL for one axis, to skip it. Outputs
 *                   must not overlap
 *  @param gradient  the same for du/dx_a
 *  @return GMG_OK, GMG_ERR_ARGUMENT for NULL or an overlap, or GMG_ERR_UNSUPPORTED if the problem has a stencil */
GMG_API gmg_status gmg_flux(gmg_solver *solver, const void *u, void *const flux[3], void *const gradient[3]);

/** Computes r = f_eff - A u. f_eff is f with the boundary values folded in, and is made compatible if A is singular. On a CUDA
 *  context it only enqueues; on a host context it returns when done. Allocates nothing.
 *  @param solver from gmg_solver_create()
 *  @param f, u shape of the problem, in the memory of the context   @param[out] r same shape; must not overlap f or u
 *  @return GMG_OK, or GMG_ERR_ARGUMENT for NULL or an overlap */
GMG_API gmg_status gmg_residual(gmg_solver *solver, const void *f, const void *u, void *r);

#ifdef __cplusplus
}
#endif
#endif
