! Module gmg_mpi: Poisson's equation on 48 x 64 cells, in a communicator whose processes are numbered backwards. Each process
! compares its part with its own solution of the whole. mpirun -n N test_mpi_fortran. Prints one line.
program mpi_fortran
  use, intrinsic :: iso_c_binding
  use mpi
  use gmg
  use gmg_mpi
  implicit none
  integer, parameter :: nx = 48, ny = 64
  integer :: comm, rank, ranks, world_rank, ierror
  integer(c_int) :: cycles(2)
  integer(c_size_t) :: first(3), n(3)
  real(c_double), allocatable :: alone(:, :), part(:, :)
  logical :: fine, all_fine
  type(c_ptr) :: context

  fine = gmg_context_create_mpi(MPI_COMM_WORLD, threads=1, context=context) == GMG_ERR_ARGUMENT ! before MPI_Init()
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, comm, ierror)
  call MPI_Comm_rank(comm, rank, ierror)
  call solve(MPI_COMM_SELF, [1, 1, 1], alone, cycles(1))
  call check(all(n == [nx, ny, 1]), "the box of one process")
  call solve(comm, [ranks, 1, 1], part, cycles(2)) ! gmg would cut the longer axis
  call check(n(1) == nx / ranks .and. n(2) == ny .and. first(1) == rank * n(1), "the box of a part")
  call check(abs(cycles(1) - cycles(2)) <= 1, "the number of cycles")
  call check(maxval(abs(part - alone(first(1) + 1 : first(1) + n(1), :))) < 1d-6, "the solution")
  call solve(comm, u=part, cycles=cycles(2)) ! gmg chooses the cut
  call check(n(1) == nx .and. n(2) == ny / ranks, "the box of a part of a chosen cut")
  call check(maxval(abs(part - alone(first(1) + 1 : first(1) + n(1), first(2) + 1 : first(2) + n(2)))) < 1d-6, "of a chosen cut")
  call check(gmg_context_create_mpi(comm, [1, 1, ranks + 1], 1, context) == GMG_ERR_ARGUMENT, "a cut for more processes")
  call check(gmg_context_create_mpi(MPI_COMM_NULL, threads=1, context=context) == GMG_ERR_ARGUMENT, "no communicator")
  call check(gmg_context_create_mpi_cuda(comm, device=-1, stream=c_null_ptr, context=context) /= GMG_OK .and. &
    .not. c_associated(context), "no device")
  call MPI_Comm_free(comm, ierror)
  call MPI_Reduce(fine, all_fine, 1, MPI_LOGICAL, MPI_LAND, 0, MPI_COMM_WORLD, ierror)
  if (world_rank == 0 .and. all_fine) print '(i0, a, i0, a, i0, a)', ranks, " processes: as alone, in ", cycles(2), " cycles"
  call MPI_Finalize(ierror)

contains

  ! Solves in the processes of `comm`, with f = the sum of two modes. first and n become this process's box.
  subroutine solve(comm, cut, u, cycles)
    integer, intent(in) :: comm
    integer(c_int), intent(in), optional :: cut(3)
    real(c_double), allocatable, intent(out) :: u(:, :)
    integer(c_int), intent(out) :: cycles
    real(c_double), parameter :: pi = acos(-1d0)
    real(c_double), allocatable :: f(:, :)
    type(gmg_problem) :: problem
    type(gmg_params) :: params
    type(gmg_report) :: report
    type(c_ptr) :: context, solver
    integer :: i, j
    problem = gmg_problem_default(2, [int(nx, c_size_t), int(ny, c_size_t)])
    params = gmg_params_default()
    params%direct = GMG_DIRECT_NEVER
    cycles = -1
    solver = c_null_ptr
    call check(gmg_context_create_mpi(comm, cut, 1, context) == GMG_OK, "gmg_context_create_mpi")
    call check(gmg_local_box(context, problem, first, n) == GMG_OK, gmg_context_error(context))
    allocate(f(n(1), n(2)), u(n(1), n(2)))
    do j = 1, int(n(2))
      do i = 1, int(n(1))
        f(i, j) = sin(pi * (first(1) + i - 0.5d0) / nx) * sin(pi * (first(2) + j - 0.5d0) / ny) + &
          0.3d0 * sin(3 * pi * (first(1) + i - 0.5d0) / nx) * sin(7 * pi * (first(2) + j - 0.5d0) / ny)
      end do
    end do
    u = 0
    call check(gmg_solver_create(context, problem, params, solver) == GMG_OK, gmg_context_error(context))
    call check(gmg_solve(solver, f, u, report) == GMG_OK, gmg_context_error(context))
    cycles = report%cycles
    call gmg_solver_destroy(solver)
    call gmg_context_destroy(context)
  end subroutine

  subroutine check(condition, words)
    logical, intent(in) :: condition
    character(*), intent(in) :: words
    fine = fine .and. condition
    if (.not. condition) print '(a, i0, 2a)', "process ", world_rank, ": not as expected: ", words
  end subroutine

end program
