! Embedding gmg in Fortran: -Lap u = f on the unit cube, walls at u = 0, with u = sin(pi x) sin(pi y) sin(pi z). Prints the
! plan, the table of cycles and the error against u; ends with exit status 1 if anything is not as it should be.
! u and f have a layer of ghosts around them, which are NaN to show that gmg neither reads nor writes them.
program embed
  use, intrinsic :: iso_c_binding
  use, intrinsic :: ieee_arithmetic, only: ieee_is_nan, ieee_quiet_nan, ieee_value
  use gmg
  implicit none
  integer, parameter :: n = 64
  real(c_double), parameter :: pi = 3.14159265358979323846_c_double
  real(c_double) :: u(0:n + 1, 0:n + 1, 0:n + 1), f(0:n + 1, 0:n + 1, 0:n + 1), exact(n, n, n), s(n), error
  real(c_double), pointer :: history(:)
  type(c_ptr) :: context, solver
  type(gmg_problem) :: problem
  type(gmg_array_layout) :: layout
  type(gmg_params) :: params
  type(gmg_plan_info) :: plan
  type(gmg_report) :: report
  integer :: status, i, j, k

  problem = gmg_problem_default(3, int([n, n, n], c_size_t)) ! unit box, cell-centred, Dirichlet, double
  params = gmg_params_default()                              ! V(1,1), async, rtol 1e-8
  s = [(sin(pi * (i - 0.5_c_double) * problem%h(1)), i = 1, n)]
  do k = 1, n
    do j = 1, n
      exact(:, j, k) = s * s(j) * s(k)
    end do
  end do
  f = ieee_value(1.0_c_double, ieee_quiet_nan)
  u = f
  f(1:n, 1:n, 1:n) = 3 * pi**2 * exact
  u(1:n, 1:n, 1:n) = 0
  layout = gmg_array_layout(row = n + 2, plane = (n + 2)**2, first = (n + 2)**2 + (n + 2) + 1) ! u(1, 1, 1) is the first unknown
  problem%f_layout = layout
  problem%u_layout = layout

  if (gmg_context_create_host(0, context) /= GMG_OK) error stop "no context"
  call check(gmg_plan(context, problem, params, plan))
  call check(gmg_solver_create(context, problem, params, solver))
  print '(3a, i0, a, i0, a, f0.3, a)', "embed: gmg ", gmg_version(), ", ", size(exact), " unknowns, ", plan%levels, &
    " levels, ", plan%bytes / 1e6_c_double, " MB beyond u and f"
  if (plan%warnings /= 0) print '(a)', gmg_plan_text(plan)

  status = gmg_solve(solver, f, u, report)
  call c_f_pointer(report%history, history, [report%history_length])
  print '(/, a)', "cycle      residual    factor"
  print '(i5, es14.5)', 0, history(1)
  do i = 2, size(history)
    print '(i5, es14.5, f10.4)', i - 1, history(i), history(i) / history(i - 1)
  end do

  error = maxval(abs(u(1:n, 1:n, 1:n) - exact))
  print '(/, 3a, i0, a, f6.4, a, es10.3)', "embed: ", gmg_status_string(status), " after ", report%cycles, &
    " cycles, ", report%seconds, " s; largest error against the exact solution", error
  call check(status)
  call gmg_solver_destroy(solver)
  call gmg_context_destroy(context)
  if (error > 1 / real(n, c_double)**2) error stop "embed: the solution is wrong"
  if (count(ieee_is_nan(u)) /= (n + 2)**3 - n**3) error stop "embed: a ghost was written"

contains

  subroutine check(status)
    integer, intent(in) :: status
    if (status == GMG_OK) return
    print '(4a)', "embed: ", gmg_status_string(status), ": ", gmg_context_error(context)
    error stop 1
  end subroutine

end program
