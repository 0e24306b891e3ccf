! The Fortran face of gmg_mpi.h, beside module gmg: contexts of several processes. The header is the reference. A communicator is
! the integer that Fortran's MPI has for it: MPI_COMM_WORLD of `use mpi`, MPI_COMM_WORLD%mpi_val of `use mpi_f08`. This module uses
! neither of them: they work with one compiler only.
module gmg_mpi
  use, intrinsic :: iso_c_binding
  implicit none
  private
  public :: gmg_context_create_mpi, gmg_context_create_mpi_cuda

  interface
    integer(c_int) function gmg_context_create_mpi(comm, cut, threads, context) bind(C, name="gmg_context_create_mpi_fortran")
      import
      integer(c_int), value :: comm
      integer(c_int), intent(in), optional :: cut(3)
      integer(c_int), value :: threads
      type(c_ptr), intent(out) :: context
    end function

    integer(c_int) function gmg_context_create_mpi_cuda(comm, cut, device, stream, context) &
        bind(C, name="gmg_context_create_mpi_cuda_fortran")
      import
      integer(c_int), value :: comm
      integer(c_int), intent(in), optional :: cut(3)
      integer(c_int), value :: device
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: context
    end function
  end interface
end module
