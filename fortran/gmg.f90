! The Fortran face of gmg: gmg.h, gmg_cuda.h and the function of gmg_smoother.h, through iso_c_binding. The headers are the
! reference; docs/api/fortran.md tells what differs:
!   - Array members have their indices reversed and count from 1: bc(side, axis), robin(1:2 = {a, b}, side, axis), and
!     entry(x + 2, y + 2, z + 2) and array(x + 2, y + 2, z + 2) of a stencil.
!   - Fields (f, u, r, z, g) are contiguous arrays of the problem's type and of any rank, u(nx, ny, nz) with nx = n(1).
!   - Handles, and pointers inside the types, are type(c_ptr).
!   - Strings come back as Fortran strings.
module gmg
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: gmg_params_set_preset, gmg_preset_name
  public :: gmg_version, gmg_smoother_by_name, gmg_smoother_name, gmg_status_string, gmg_context_error, gmg_plan_text
  public :: gmg_problem_default, gmg_problem_set_box, gmg_params_default, gmg_context_create_host, gmg_context_destroy
  public :: gmg_context_create_ranks, gmg_context_set_cuts, gmg_local_box, gmg_context_create_parts
  public :: gmg_context_create_cuda_ranks
  public :: gmg_context_create_cuda_devices, gmg_solver_create_parts, gmg_solver_update_parts, gmg_solve_parts_sized
  public :: gmg_solve_parts, gmg_precondition_parts, gmg_residual_parts
  public :: gmg_context_create_cuda, gmg_context_threads, gmg_plan, gmg_solver_create, gmg_solver_destroy, gmg_solve
  public :: gmg_precondition, gmg_solver_update, gmg_set_boundary_values, gmg_set_boundary_constant, gmg_flux
  public :: gmg_residual, gmg_level_residual, gmg_monitor, gmg_status_is_outcome
  public :: gmg_problem_init, gmg_params_init, gmg_plan_sized, gmg_solve_sized
  public :: gmg_stencil_q1, gmg_stencil_q1_init
  public :: gmg_smoother_offload_create, gmg_smoother_offload_destroy, gmg_smoother_offload_seconds

  ! Enumerations, in the order of gmg.h.
  enum, bind(C) ! gmg_status
    enumerator :: GMG_OK, GMG_NOT_CONVERGED, GMG_STAGNATED, GMG_DIVERGED, GMG_ERR_ARGUMENT, GMG_ERR_UNSUPPORTED, &
      GMG_ERR_MEMORY, GMG_ERR_DEVICE, GMG_ERR_IO
  end enum
  public :: GMG_OK, GMG_NOT_CONVERGED, GMG_STAGNATED, GMG_DIVERGED, GMG_ERR_ARGUMENT, GMG_ERR_UNSUPPORTED, &
    GMG_ERR_MEMORY, GMG_ERR_DEVICE, GMG_ERR_IO
  enum, bind(C) ! gmg_type
    enumerator :: GMG_F64, GMG_F32
  end enum
  public :: GMG_F64, GMG_F32
  enum, bind(C) ! gmg_centering
    enumerator :: GMG_CELL, GMG_VERTEX
  end enum
  public :: GMG_CELL, GMG_VERTEX
  enum, bind(C) ! gmg_bc
    enumerator :: GMG_DIRICHLET, GMG_NEUMANN, GMG_ROBIN, GMG_PERIODIC
  end enum
  public :: GMG_DIRICHLET, GMG_NEUMANN, GMG_ROBIN, GMG_PERIODIC
  enum, bind(C) ! gmg_cycle_kind
    enumerator :: GMG_CYCLE_AUTO, GMG_CYCLE_V, GMG_CYCLE_W, GMG_CYCLE_F
  end enum
  public :: GMG_CYCLE_AUTO, GMG_CYCLE_V, GMG_CYCLE_W, GMG_CYCLE_F
  enum, bind(C) ! gmg_accel
    enumerator :: GMG_ACCEL_AUTO, GMG_ACCEL_NONE, GMG_ACCEL_CG, GMG_ACCEL_FLEXIBLE_CG
  end enum
  public :: GMG_ACCEL_AUTO, GMG_ACCEL_NONE, GMG_ACCEL_CG, GMG_ACCEL_FLEXIBLE_CG
  enum, bind(C) ! gmg_coarse_kind
    enumerator :: GMG_COARSE_AUTO, GMG_COARSE_CG, GMG_COARSE_DENSE, GMG_COARSE_TENSOR
  end enum
  public :: GMG_COARSE_AUTO, GMG_COARSE_CG, GMG_COARSE_DENSE, GMG_COARSE_TENSOR
  enum, bind(C) ! gmg_direct
    enumerator :: GMG_DIRECT_AUTO, GMG_DIRECT_NEVER, GMG_DIRECT_ALWAYS
  end enum
  public :: GMG_DIRECT_AUTO, GMG_DIRECT_NEVER, GMG_DIRECT_ALWAYS
  enum, bind(C) ! gmg_local_kind
    enumerator :: GMG_LOCAL_AUTO, GMG_LOCAL_RED_BLACK, GMG_LOCAL_JACOBI, GMG_LOCAL_GAUSS_SEIDEL
  end enum
  public :: GMG_LOCAL_AUTO, GMG_LOCAL_RED_BLACK, GMG_LOCAL_JACOBI, GMG_LOCAL_GAUSS_SEIDEL
  enum, bind(C) ! gmg_block_order
    enumerator :: GMG_ORDER_AUTO, GMG_ORDER_NATURAL, GMG_ORDER_TWO_COLOUR, GMG_ORDER_RANDOM, GMG_ORDER_BACKWARD
  end enum
  public :: GMG_ORDER_AUTO, GMG_ORDER_NATURAL, GMG_ORDER_TWO_COLOUR, GMG_ORDER_RANDOM, GMG_ORDER_BACKWARD
  enum, bind(C) ! gmg_assignment
    enumerator :: GMG_ASSIGN_AUTO, GMG_ASSIGN_STATIC, GMG_ASSIGN_DYNAMIC
  end enum
  public :: GMG_ASSIGN_AUTO, GMG_ASSIGN_STATIC, GMG_ASSIGN_DYNAMIC
  enum, bind(C) ! gmg_restriction
    enumerator :: GMG_RESTRICT_AUTO, GMG_RESTRICT_AVERAGE, GMG_RESTRICT_ADJOINT
  end enum
  public :: GMG_RESTRICT_AUTO, GMG_RESTRICT_AVERAGE, GMG_RESTRICT_ADJOINT
  enum, bind(C) ! gmg_coarsening
    enumerator :: GMG_COARSENING_AUTO, GMG_COARSENING_DISCRETIZE, GMG_COARSENING_BLACK_BOX
  end enum
  public :: GMG_COARSENING_AUTO, GMG_COARSENING_DISCRETIZE, GMG_COARSENING_BLACK_BOX
  enum, bind(C) ! gmg_halos
    enumerator :: GMG_HALOS_AUTO, GMG_HALOS_EXACT, GMG_HALOS_ASYNC
  end enum
  public :: GMG_HALOS_AUTO, GMG_HALOS_EXACT, GMG_HALOS_ASYNC
  enum, bind(C) ! gmg_precision
    enumerator :: GMG_PRECISION_AUTO, GMG_PRECISION_SAME, GMG_PRECISION_MIXED
  end enum
  public :: GMG_PRECISION_AUTO, GMG_PRECISION_SAME, GMG_PRECISION_MIXED
  enum, bind(C) ! gmg_warning: bits
    enumerator :: GMG_WARN_COARSEST = 1, GMG_WARN_ANISOTROPY = 2, GMG_WARN_SINGULAR = 4, GMG_WARN_SMOOTHER = 8, &
      GMG_WARN_TOLERANCE = 16, GMG_WARN_STRETCH = 32, GMG_WARN_NO_ACCELERATION = 64
  end enum
  public :: GMG_WARN_COARSEST, GMG_WARN_ANISOTROPY, GMG_WARN_SINGULAR, GMG_WARN_SMOOTHER, GMG_WARN_TOLERANCE, &
    GMG_WARN_STRETCH, GMG_WARN_NO_ACCELERATION

  integer, parameter, public :: GMG_MAX_LEVELS = 96
  integer(c_int), parameter, public :: GMG_NONE = -1

  type, bind(C), public :: gmg_stencil
    integer(c_size_t) :: size
    real(c_double) :: entry(3, 3, 3)
    type(c_ptr) :: array(3, 3, 3) = c_null_ptr
  end type

  type, bind(C), public :: gmg_array_layout
    integer(c_size_t) :: row
    integer(c_size_t) :: plane
    integer(c_size_t) :: first
  end type

  type, bind(C), public :: gmg_problem
    integer(c_size_t) :: size
    integer(c_int) :: dim
    integer(c_size_t) :: n(3)
    real(c_double) :: h(3)
    type(c_ptr) :: coord(3)
    integer(c_int) :: centering
    integer(c_int) :: type
    integer(c_int) :: bc(2, 3)
    real(c_double) :: robin(2, 2, 3)
    real(c_double) :: shift
    type(c_ptr) :: beta
    type(c_ptr) :: beta_face(3)
    type(c_ptr) :: sigma
    type(c_ptr) :: stencil
    type(gmg_array_layout) :: f_layout
    type(gmg_array_layout) :: u_layout
    type(gmg_array_layout) :: coefficient_layout
    integer(c_size_t) :: halo(3)
  end type

  type, bind(C), public :: gmg_async_params
    integer(c_int) :: local_sweeps
    integer(c_int) :: local
    integer(c_int) :: overlap
    integer(c_int) :: passes
    integer(c_size_t) :: block(3)
    integer(c_int) :: order
    integer(c_long) :: seed
    integer(c_int) :: assignment
    integer(c_int) :: in_flight
    integer(c_int) :: oversubscription
  end type

  type, bind(C), public :: gmg_params
    integer(c_size_t) :: size
    integer(c_int) :: cycle
    integer(c_int) :: fmg
    type(c_ptr) :: smoother
    integer(c_int) :: pre
    integer(c_int) :: post
    real(c_double) :: omega
    integer(c_int) :: chebyshev_degree
    type(gmg_async_params) :: async
    integer(c_int) :: deterministic
    integer(c_int) :: symmetric
    integer(c_int) :: restriction
    integer(c_int) :: accel
    integer(c_int) :: coarse
    integer(c_int) :: direct
    real(c_double) :: coarse_rtol
    integer(c_size_t) :: coarse_cells
    integer(c_int) :: max_levels
    real(c_double) :: coarsen_threshold
    integer(c_int) :: max_cycles
    real(c_double) :: rtol
    real(c_double) :: atol
    integer(c_int) :: check_every
    integer(c_int) :: precision
    integer(c_int) :: report_level_times
    type(c_funptr) :: monitor
    type(c_ptr) :: monitor_data
    integer(c_int) :: line_axes
    integer(c_int) :: coarsening
    integer(c_int) :: halos
    real(c_double) :: over_correction
  end type

  type, bind(C), public :: gmg_level_plan
    integer(c_size_t) :: n(3)
    integer(c_size_t) :: cells
    real(c_double) :: h(3)
    integer(c_int) :: coarsened(3)
    real(c_double) :: omega
    real(c_double) :: factor
  end type

  type, bind(C), public :: gmg_plan_info
    integer(c_int) :: levels
    type(gmg_level_plan) :: level(GMG_MAX_LEVELS)
    integer(c_size_t) :: bytes
    real(c_double) :: predicted_factor
    real(c_double) :: floor
    integer(c_int) :: singular
    real(c_double) :: stretch
    integer(c_int) :: accel
    integer(c_int) :: cycle
    integer(c_int) :: precision
    type(c_ptr) :: smoother
    integer(c_int) :: line_axes
    integer(c_int) :: coarse
    integer(c_int) :: direct
    integer(c_int) :: local
    integer(c_int) :: order
    integer(c_int) :: overlap
    integer(c_int) :: fmg
    integer(c_int) :: pre
    integer(c_int) :: post
    integer(c_int) :: max_cycles
    integer(c_int) :: check_every
    integer(c_int) :: warnings
    character(kind=c_char) :: text(1024)
    integer(c_int) :: coarsening
    real(c_double) :: margin
    integer(c_int) :: halos
    integer(c_size_t) :: halo(3)
    real(c_double) :: over_correction
  end type

  type, bind(C), public :: gmg_level_report
    integer(c_size_t) :: n(3)
    integer(c_size_t) :: cells
    real(c_double) :: seconds
  end type

  type, bind(C), public :: gmg_report
    integer(c_int) :: status
    integer(c_int) :: cycles
    real(c_double) :: residual0
    real(c_double) :: residual
    real(c_double) :: factor
    real(c_double) :: target
    real(c_double) :: floor
    real(c_double) :: seconds
    type(c_ptr) :: history
    integer(c_int) :: history_length
    type(c_ptr) :: level
    integer(c_int) :: levels
    integer(c_int) :: singular
    real(c_double) :: mean_removed
    integer(c_int) :: direct
    integer(c_int) :: deterministic
  end type

  abstract interface
    ! The interface of a monitor. Set it by params%monitor = c_funloc(monitor).
    integer(c_int) function gmg_monitor(data, cycle, residual, target) bind(C)
      import
      type(c_ptr), value :: data
      integer(c_int), value :: cycle
      real(c_double), value :: residual, target
    end function
  end interface

  interface
    subroutine gmg_problem_init(problem, size, dim, n) bind(C)
      import
      type(gmg_problem), intent(inout) :: problem
      integer(c_size_t), value :: size
      integer(c_int), value :: dim
      integer(c_size_t), intent(in) :: n(*)
    end subroutine

    integer(c_int) function gmg_stencil_q1_init(stencil, size, dim, h, sigma) bind(C)
      import
      type(gmg_stencil), intent(inout) :: stencil
      integer(c_size_t), value :: size
      integer(c_int), value :: dim
      real(c_double), intent(in), optional :: h(*)
      real(c_double), value :: sigma
    end function

    subroutine gmg_problem_set_box(problem, length) bind(C)
      import
      type(gmg_problem), intent(inout) :: problem
      real(c_double), intent(in) :: length(*)
    end subroutine

    subroutine gmg_params_init(params, size) bind(C)
      import
      type(gmg_params), intent(inout) :: params
      integer(c_size_t), value :: size
    end subroutine

    integer(c_int) function gmg_context_create_host(threads, context) bind(C)
      import
      integer(c_int), value :: threads
      type(c_ptr), intent(out) :: context
    end function

    integer(c_int) function gmg_context_create_ranks(transport, cut, threads, context) bind(C)
      import
      type(c_ptr), value :: transport ! a gmg_transport, made in C
      integer(c_int), intent(in), optional :: cut(3)
      integer(c_int), value :: threads
      type(c_ptr), intent(out) :: context
    end function

    integer(c_int) function gmg_context_create_cuda_ranks(transport, cut, device, stream, context) bind(C)
      import
      type(c_ptr), value :: transport ! a gmg_transport, made in C
      integer(c_int), intent(in), optional :: cut(3)
      integer(c_int), value :: device
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: context
    end function

    integer(c_int) function gmg_context_create_parts(count, cut, threads, contexts) bind(C)
      import
      integer(c_int), value :: count, threads
      integer(c_int), intent(in), optional :: cut(3)
      type(c_ptr), intent(out) :: contexts(*)
    end function

    integer(c_int) function gmg_context_create_cuda_devices(count, devices, streams, cut, contexts) bind(C)
      import
      integer(c_int), value :: count
      integer(c_int), intent(in) :: devices(*)
      type(c_ptr), intent(in), optional :: streams(*)
      integer(c_int), intent(in), optional :: cut(3)
      type(c_ptr), intent(out) :: contexts(*)
    end function

    ! Lists of addresses: c_loc() of a problem, of an array.
    integer(c_int) function gmg_solver_create_parts(count, contexts, problems, params, solvers) bind(C)
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: contexts(*), problems(*)
      type(gmg_params), intent(in), optional :: params
      type(c_ptr), intent(out) :: solvers(*)
    end function

    integer(c_int) function gmg_solver_update_parts(count, solvers, problems) bind(C)
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: solvers(*), problems(*)
    end function

    integer(c_int) function gmg_solve_parts_sized(count, solvers, f, u, report, size) bind(C)
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: solvers(*), f(*), u(*)
      type(gmg_report), intent(inout), optional :: report
      integer(c_size_t), value :: size
    end function

    integer(c_int) function gmg_precondition_parts(count, solvers, r, z) bind(C)
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: solvers(*), r(*), z(*)
    end function

    integer(c_int) function gmg_residual_parts(count, solvers, f, u, r) bind(C)
      import
      integer(c_int), value :: count
      type(c_ptr), intent(in) :: solvers(*), f(*), u(*), r(*)
    end function

    integer(c_int) function gmg_context_set_cuts(context, axis, cuts) bind(C)
      import
      type(c_ptr), value :: context
      integer(c_int), value :: axis ! from 0 up
      integer(c_size_t), intent(in), optional :: cuts(*)
    end function

    integer(c_int) function gmg_local_box(context, problem, first, n) bind(C)
      import
      type(c_ptr), value :: context
      type(gmg_problem), intent(in) :: problem
      integer(c_size_t), intent(out) :: first(3), n(3)
    end function

    integer(c_int) function gmg_context_create_cuda(device, stream, context) bind(C)
      import
      integer(c_int), value :: device
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: context
    end function

    integer(c_int) function gmg_smoother_offload_create(device, inner, smoother) bind(C)
      import
      type(c_ptr), value :: device, inner
      type(c_ptr), intent(out) :: smoother
    end function

    subroutine gmg_smoother_offload_destroy(smoother) bind(C)
      import
      type(c_ptr), value :: smoother
    end subroutine

    integer(c_int) function gmg_smoother_offload_seconds(smoother, sweeps, transfers) bind(C)
      import
      type(c_ptr), value :: smoother
      real(c_double), intent(out) :: sweeps, transfers
    end function

    subroutine gmg_context_destroy(context) bind(C)
      import
      type(c_ptr), value :: context
    end subroutine

    integer(c_int) function gmg_status_is_outcome(status) bind(C)
      import
      integer(c_int), value :: status
    end function

    integer(c_int) function gmg_context_threads(context) bind(C)
      import
      type(c_ptr), value :: context
    end function

    integer(c_int) function gmg_plan_sized(context, problem, params, info, size) bind(C)
      import
      type(c_ptr), value :: context
      type(gmg_problem), intent(in) :: problem
      type(gmg_params), intent(in) :: params
      type(gmg_plan_info), intent(inout) :: info
      integer(c_size_t), value :: size
    end function

    integer(c_int) function gmg_solver_create(context, problem, params, solver) bind(C)
      import
      type(c_ptr), value :: context
      type(gmg_problem), intent(in) :: problem
      type(gmg_params), intent(in) :: params
      type(c_ptr), intent(out) :: solver
    end function

    subroutine gmg_solver_destroy(solver) bind(C)
      import
      type(c_ptr), value :: solver
    end subroutine

    integer(c_int) function gmg_solve_sized(solver, f, u, report, size) bind(C)
      import
      type(c_ptr), value :: solver
      type(*), intent(in) :: f(*)
      type(*), intent(inout) :: u(*)
      type(gmg_report), intent(inout), optional :: report
      integer(c_size_t), value :: size
    end function

    integer(c_int) function gmg_precondition(solver, r, z) bind(C)
      import
      type(c_ptr), value :: solver
      type(*), intent(in) :: r(*)
      type(*), intent(inout) :: z(*)
    end function

    integer(c_int) function gmg_solver_update(solver, problem) bind(C)
      import
      type(c_ptr), value :: solver
      type(gmg_problem), intent(in) :: problem
    end function

    ! As in C, axis counts from 0 and side is 0 or 1.
    integer(c_int) function gmg_set_boundary_values(solver, axis, side, g) bind(C)
      import
      type(c_ptr), value :: solver
      integer(c_int), value :: axis, side
      type(*), intent(in) :: g(*)
    end function

    integer(c_int) function gmg_set_boundary_constant(solver, axis, side, g) bind(C)
      import
      type(c_ptr), value :: solver
      integer(c_int), value :: axis, side
      real(c_double), value :: g
    end function

    ! flux and gradient: c_loc() of an array for each axis, or c_null_ptr.
    integer(c_int) function gmg_flux(solver, u, flux, gradient) bind(C)
      import
      type(c_ptr), value :: solver
      type(*), intent(in) :: u(*)
      type(c_ptr), intent(in), optional :: flux(3), gradient(3)
    end function

    integer(c_int) function gmg_residual(solver, f, u, r) bind(C)
      import
      type(c_ptr), value :: solver
      type(*), intent(in) :: f(*), u(*)
      type(*), intent(inout) :: r(*)
    end function

    ! For a sweep written in Fortran, with its own arguments. The table of the smoother's functions must be defined in C.
    subroutine gmg_level_residual(level, f, u, r) bind(C)
      import
      type(c_ptr), value :: level, f, u, r
    end subroutine
  end interface

  interface ! wrapped below
    type(c_ptr) function c_version() bind(C, name="gmg_version")
      import
    end function

    type(c_ptr) function c_smoother_by_name(name) bind(C, name="gmg_smoother_by_name")
      import
      character(kind=c_char), intent(in) :: name(*)
    end function

    type(c_ptr) function c_smoother_name(i) bind(C, name="gmg_smoother_name")
      import
      integer(c_int), value :: i
    end function

    integer(c_int) function c_params_set_preset(params, name) bind(C, name="gmg_params_set_preset")
      import
      type(gmg_params), intent(inout) :: params
      character(kind=c_char), intent(in) :: name(*)
    end function

    type(c_ptr) function c_preset_name(i) bind(C, name="gmg_preset_name")
      import
      integer(c_int), value :: i
    end function

    type(c_ptr) function c_status_string(status) bind(C, name="gmg_status_string")
      import
      integer(c_int), value :: status
    end function

    type(c_ptr) function c_context_error(context) bind(C, name="gmg_context_error")
      import
      type(c_ptr), value :: context
    end function

    integer(c_size_t) function c_strlen(text) bind(C, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

  type(gmg_problem) function gmg_problem_default(dim, n) result(problem)
    integer(c_int), intent(in) :: dim
    integer(c_size_t), intent(in) :: n(*)
    call gmg_problem_init(problem, c_sizeof(problem), dim, n)
  end function

  type(gmg_stencil) function gmg_stencil_q1(dim, h, sigma) result(stencil)
    integer(c_int), intent(in) :: dim
    real(c_double), intent(in), optional :: h(*)
    real(c_double), intent(in) :: sigma
    integer(c_int) :: status
    status = gmg_stencil_q1_init(stencil, c_sizeof(stencil), dim, h, sigma) ! on an error all entries are 0, which create refuses
  end function

  type(gmg_params) function gmg_params_default() result(params)
    call gmg_params_init(params, c_sizeof(params))
  end function

  integer(c_int) function gmg_plan(context, problem, params, info) result(status)
    type(c_ptr), intent(in) :: context
    type(gmg_problem), intent(in) :: problem
    type(gmg_params), intent(in) :: params
    type(gmg_plan_info), intent(inout) :: info
    status = gmg_plan_sized(context, problem, params, info, c_sizeof(info))
  end function

  integer(c_int) function gmg_solve(solver, f, u, report) result(status)
    type(c_ptr), intent(in) :: solver
    type(*), intent(in) :: f(*)
    type(*), intent(inout) :: u(*)
    type(gmg_report), intent(inout), optional :: report
    type(gmg_report) :: shape_of_report
    status = gmg_solve_sized(solver, f, u, report, c_sizeof(shape_of_report))
  end function

  integer(c_int) function gmg_solve_parts(solvers, f, u, report) result(status)
    type(c_ptr), intent(in) :: solvers(:), f(*), u(*)
    type(gmg_report), intent(inout), optional :: report
    type(gmg_report) :: shape_of_report
    status = gmg_solve_parts_sized(int(size(solvers), c_int), solvers, f, u, report, c_sizeof(shape_of_report))
  end function

  function gmg_version() result(text)
    character(:), allocatable :: text
    text = string(c_version())
  end function

  ! The smoother of that name; c_null_ptr if there is none. Trailing blanks are ignored.
  function gmg_smoother_by_name(name) result(smoother)
    character(*), intent(in) :: name
    type(c_ptr) :: smoother
    smoother = c_smoother_by_name(trim(name) // c_null_char)
  end function

  ! The name of built-in smoother i, counted from 0; empty past the last.
  function gmg_smoother_name(i) result(text)
    integer, intent(in) :: i
    character(:), allocatable :: text
    text = string(c_smoother_name(int(i, c_int)))
  end function

  ! Sets the smoother and the smoothing parameters of a preset. Trailing blanks of the name are ignored.
  integer function gmg_params_set_preset(params, name) result(status)
    type(gmg_params), intent(inout) :: params
    character(*), intent(in) :: name
    status = c_params_set_preset(params, trim(name) // c_null_char)
  end function

  ! The name of preset i, counted from 0; empty past the last.
  function gmg_preset_name(i) result(text)
    integer, intent(in) :: i
    character(:), allocatable :: text
    text = string(c_preset_name(int(i, c_int)))
  end function

  function gmg_status_string(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text
    text = string(c_status_string(int(status, c_int)))
  end function

  function gmg_context_error(context) result(text)
    type(c_ptr), intent(in) :: context
    character(:), allocatable :: text
    text = string(c_context_error(context))
  end function

  ! info%text: the warnings as text, one per line.
  function gmg_plan_text(info) result(text)
    type(gmg_plan_info), intent(in) :: info
    character(:), allocatable :: text
    text = characters(info%text)
  end function

  function string(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: chars(:)
    text = ""
    if (.not. c_associated(pointer)) return
    call c_f_pointer(pointer, chars, [c_strlen(pointer)])
    text = characters(chars)
  end function

  ! The characters before the first null character, or all.
  function characters(chars) result(text)
    character(kind=c_char), intent(in) :: chars(:)
    character(:), allocatable :: text
    integer :: i, length
    length = findloc(chars == c_null_char, .true., 1) - 1
    if (length < 0) length = size(chars)
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = chars(i)
    end do
  end function

end module gmg
