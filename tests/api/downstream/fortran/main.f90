! A Fortran project, without C, that uses an installed gmg: -Lap u = 0 in single precision with u = 1 on all walls.
program downstream
  use, intrinsic :: iso_c_binding
  use gmg
  implicit none
  real(c_float) :: f(32, 16), u(32, 16)
  type(c_ptr) :: context, solver
  type(gmg_problem) :: problem
  integer :: face

  problem = gmg_problem_default(2, int(shape(u), c_size_t))
  problem%type = GMG_F32
  f = 0
  u = 0
  if (gmg_context_create_host(1, context) /= GMG_OK) error stop "no context"
  call check(gmg_solver_create(context, problem, gmg_params_default(), solver))
  do face = 0, 3
    call check(gmg_set_boundary_constant(solver, face / 2, mod(face, 2), 1.0_c_double))
  end do
  call check(gmg_solve(solver, f, u))
  print '(3a, es8.1)', "gmg ", gmg_version(), " from Fortran: error", maxval(abs(u - 1))
  if (maxval(abs(u - 1)) > 1e-3) error stop "wrong solution"
  if (gmg_set_boundary_constant(solver, 2, 0, 1.0_c_double) /= GMG_ERR_ARGUMENT) error stop "axis 2 of 2D was accepted"
  if (index(gmg_context_error(context), "axis") == 0) error stop "no error text"
  call gmg_solver_destroy(solver)
  call gmg_context_destroy(context)

contains

  subroutine check(status)
    integer, intent(in) :: status
    if (status == GMG_OK) return
    print '(3a)', gmg_status_string(status), ": ", gmg_context_error(context)
    error stop "failed"
  end subroutine

end program
