! The types of the module have the layout of the C structs (layout.c), and text passes between the languages.
module layout_c
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_size_t), bind(C) :: c_problem(18), c_array_layout(4), c_stencil(6), c_params(30), c_async_params(11), &
    c_level_plan(7), c_plan_info(26), c_level_report(4), &
    c_report(17)
end module

program layout
  use, intrinsic :: iso_c_binding
  use gmg
  use layout_c
  implicit none
  type(gmg_problem), target :: p
  type(gmg_stencil), target :: s
  type(gmg_params), target :: m
  type(gmg_level_plan), target :: lp
  type(gmg_plan_info), target :: i
  type(gmg_level_report), target :: lr
  type(gmg_report), target :: r
  integer :: failures

  failures = 0
  call compare("gmg_problem", c_problem, c_loc(p), c_sizeof(p), [c_loc(p%size), c_loc(p%dim), c_loc(p%n), &
    c_loc(p%h), c_loc(p%coord), c_loc(p%centering), c_loc(p%type), c_loc(p%bc), c_loc(p%robin), c_loc(p%shift), c_loc(p%beta), &
    c_loc(p%beta_face), c_loc(p%sigma), c_loc(p%stencil), c_loc(p%f_layout), c_loc(p%u_layout), c_loc(p%coefficient_layout)])
  call compare("gmg_array_layout", c_array_layout, c_loc(p%f_layout), c_sizeof(p%f_layout), [c_loc(p%f_layout%row), &
    c_loc(p%f_layout%plane), c_loc(p%f_layout%first)])
  call compare("gmg_stencil", c_stencil, c_loc(s), c_sizeof(s), [c_loc(s%size), c_loc(s%entry), c_loc(s%entry(2, 2, 2)), &
    c_loc(s%array), c_loc(s%array(2, 2, 2))])
  call compare("gmg_params", c_params, c_loc(m), c_sizeof(m), [c_loc(m%size), c_loc(m%cycle), c_loc(m%fmg), &
    c_loc(m%smoother), c_loc(m%pre), c_loc(m%post), c_loc(m%omega), c_loc(m%chebyshev_degree), c_loc(m%async), &
    c_loc(m%deterministic), c_loc(m%symmetric), c_loc(m%restriction), &
    c_loc(m%accel), c_loc(m%coarse), c_loc(m%direct), c_loc(m%coarse_rtol), c_loc(m%coarse_cells), c_loc(m%max_levels), &
    c_loc(m%coarsen_threshold), c_loc(m%max_cycles), c_loc(m%rtol), c_loc(m%atol), c_loc(m%check_every), &
    c_loc(m%precision), c_loc(m%report_level_times), c_loc(m%monitor), c_loc(m%monitor_data), c_loc(m%line_axes), &
    c_loc(m%over_correction)])
  call compare("gmg_async_params", c_async_params, c_loc(m%async), c_sizeof(m%async), [c_loc(m%async%local_sweeps), &
    c_loc(m%async%local), c_loc(m%async%overlap), c_loc(m%async%passes), c_loc(m%async%block), c_loc(m%async%order), &
    c_loc(m%async%seed), c_loc(m%async%assignment), c_loc(m%async%in_flight), c_loc(m%async%oversubscription)])
  call compare("gmg_level_plan", c_level_plan, c_loc(lp), c_sizeof(lp), [c_loc(lp%n), c_loc(lp%cells), c_loc(lp%h), &
    c_loc(lp%coarsened), c_loc(lp%omega), c_loc(lp%factor)])
  call compare("gmg_plan_info", c_plan_info, c_loc(i), c_sizeof(i), [c_loc(i%levels), c_loc(i%level), c_loc(i%bytes), &
    c_loc(i%predicted_factor), c_loc(i%floor), c_loc(i%singular), c_loc(i%stretch), &
    c_loc(i%accel), c_loc(i%cycle), c_loc(i%precision), c_loc(i%smoother), c_loc(i%line_axes), &
    c_loc(i%coarse), c_loc(i%direct), c_loc(i%local), c_loc(i%order), c_loc(i%overlap), c_loc(i%fmg), c_loc(i%pre), c_loc(i%post), &
    c_loc(i%max_cycles), c_loc(i%check_every), &
    c_loc(i%warnings), &
    c_loc(i%text), c_loc(i%over_correction)])
  call compare("gmg_level_report", c_level_report, c_loc(lr), c_sizeof(lr), [c_loc(lr%n), c_loc(lr%cells), &
    c_loc(lr%seconds)])
  call compare("gmg_report", c_report, c_loc(r), c_sizeof(r), [c_loc(r%status), c_loc(r%cycles), c_loc(r%residual0), &
    c_loc(r%residual), c_loc(r%factor), c_loc(r%target), c_loc(r%floor), c_loc(r%seconds), c_loc(r%history), &
    c_loc(r%history_length), c_loc(r%level), c_loc(r%levels), c_loc(r%singular), c_loc(r%mean_removed), &
    c_loc(r%direct), c_loc(r%deterministic)])
  call texts()
  if (failures > 0) error stop "the Fortran module does not match the library"

contains

  subroutine compare(name, c, base, bytes, members)
    character(*), intent(in) :: name
    integer(c_size_t), intent(in) :: c(:), bytes
    type(c_ptr), intent(in) :: base, members(:)
    integer :: at
    do at = 1, size(members)
      if (address(members(at)) - address(base) == c(at)) cycle
      print '(2a, i0, 2(a, i0))', name, ": member ", at, " at ", address(members(at)) - address(base), ", in C at ", c(at)
      failures = failures + 1
    end do
    if (bytes == c(size(members) + 1)) return
    print '(2a, 2(i0, a))', name, ": ", bytes, " bytes, in C ", c(size(members) + 1)
    failures = failures + 1
  end subroutine

  integer(c_intptr_t) function address(pointer)
    type(c_ptr), intent(in) :: pointer
    address = transfer(pointer, address)
  end function

  ! Strings, and values of a few members by name.
  subroutine texts()
    type(c_ptr) :: context, solver
    integer :: at
    p = gmg_problem_default(2, [3_c_size_t, 4_c_size_t])
    m = gmg_params_default()
    call expect(p%dim == 2 .and. all(p%n == [3, 4, 1]) .and. p%centering == GMG_CELL .and. p%type == GMG_F64, "problem")
    call expect(.not. c_associated(m%smoother) .and. m%max_cycles == 100, "params")
    call expect(.not. c_associated(gmg_smoother_by_name("none")), "gmg_smoother_by_name")
    at = 0
    do while (gmg_smoother_name(at) /= "")
      call expect(c_associated(gmg_smoother_by_name(gmg_smoother_name(at))), gmg_smoother_name(at))
      at = at + 1
    end do
    call expect(at >= 5, "gmg_smoother_name")
    call expect(gmg_params_set_preset(m, "async-2011 ") == GMG_OK .and. m%async%local == GMG_LOCAL_JACOBI .and. &
      m%async%block(1) == 512 .and. gmg_params_set_preset(m, "none") == GMG_ERR_ARGUMENT .and. &
      m%async%passes == 2, "gmg_params_set_preset")
    call expect(gmg_preset_name(0) == "default" .and. gmg_preset_name(100) == "", "gmg_preset_name")
    call expect(gmg_status_string(GMG_OK) == "ok" .and. gmg_status_string(GMG_ERR_MEMORY) == "out of memory", "status")
    call expect(gmg_context_create_cuda(-1, c_null_ptr, context) /= GMG_OK, "gmg_context_create_cuda")
    call expect(gmg_context_create_host(1, context) == GMG_OK, "gmg_context_create_host")
    p%bc(2, 1) = GMG_PERIODIC ! upper face of the first axis only
    call expect(gmg_solver_create(context, p, m, solver) == GMG_ERR_ARGUMENT .and. .not. c_associated(solver), "create")
    call expect(index(gmg_context_error(context), "problem.bc[0]") > 0, gmg_context_error(context))
    p%bc = GMG_NEUMANN
    call expect(gmg_plan(context, p, m, i) == GMG_OK .and. i%singular == 1, "gmg_plan")
    call expect(iand(i%warnings, GMG_WARN_SINGULAR) /= 0 .and. index(gmg_plan_text(i), "singular") > 0, "gmg_plan_text")
    s = gmg_stencil_q1(2, [1d0, 0.5d0], 6d0)
    call expect(s%size == c_sizeof(s) .and. abs(s%entry(2, 2, 2) - (4 / 3d0 * 5 + 24 / 9d0)) < 1d-14, "gmg_stencil_q1")
    call expect(abs(s%entry(1, 2, 2) - (-4 / 6d0 + 8 / 6d0 + 4 / 6d0)) < 1d-14 .and. s%entry(2, 2, 1) == 0, "its order of axes")
    s = gmg_stencil_q1(2, sigma=0d0)
    call expect(abs(s%entry(2, 2, 2) - 8 / 3d0) < 1d-14, "gmg_stencil_q1 without h")
    p%centering = GMG_VERTEX
    p%stencil = c_loc(s)
    call expect(gmg_plan(context, p, m, i) == GMG_OK .and. i%coarse == GMG_COARSE_TENSOR, gmg_context_error(context))
    s = gmg_stencil_q1(4, sigma=0d0)
    call expect(s%entry(2, 2, 2) == 0 .and. gmg_plan(context, p, m, i) == GMG_ERR_ARGUMENT, "a stencil of zeros")
    call gmg_context_destroy(context)
  end subroutine

  subroutine expect(condition, words)
    logical, intent(in) :: condition
    character(*), intent(in) :: words
    if (condition) return
    print '(2a)', "not as expected: ", words
    failures = failures + 1
  end subroutine

end program
