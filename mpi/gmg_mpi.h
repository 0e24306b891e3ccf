/** @file gmg_mpi.h
 *  @brief gmg in several processes with MPI. A library of its own (libgmg_mpi), so that gmg itself does not need MPI. */
#ifndef GMG_MPI_H
#define GMG_MPI_H

#include "gmg_cuda.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Creates a context on host threads for all processes of a communicator. Collective, like all later calls on this context and its
 *  solvers: every process makes them in the same order. gmg_local_box() says which part of the grid a process holds. Call it
 *  between MPI_Init() and MPI_Finalize(), and destroy the context before MPI_Finalize(). gmg calls MPI only from the thread that
 *  calls gmg, so MPI_THREAD_FUNNELED is enough.
 *  @param comm duplicated
 *  @param cut number of parts along each axis, whose product must be the number of processes; NULL, or 0 for all axes: gmg
 *             chooses, for each problem. Processes are numbered along axis 0 first
 *  @param threads number of threads of this process; 0: all cores   @param[out] context NULL on failure
 *  @return GMG_OK; GMG_ERR_ARGUMENT, also if MPI is not initialised; or GMG_ERR_MEMORY. An error of one process is an error of
 *          all. A failure of MPI itself is handled by the communicator's error handler, which usually ends the job */
GMG_API gmg_status gmg_context_create_mpi(MPI_Comm comm, const int cut[3], int threads, gmg_context **context);

/** Creates a context on a CUDA device for each process of a communicator. All processes must be on one host, and each needs a
 *  device of its own. MPI is used at create, and between calls; it need not know of CUDA.
 *  @param comm, cut as for gmg_context_create_mpi()
 *  @param device, stream as for gmg_context_create_cuda()   @param[out] context NULL on failure
 *  @return as gmg_context_create_cuda_ranks(), or as gmg_context_create_mpi() */
GMG_API gmg_status gmg_context_create_mpi_cuda(MPI_Comm comm, const int cut[3], int device, gmg_cuda_stream stream,
                                               gmg_context **context);

/** @name For Fortran
 *  Called by module gmg_mpi (gmg_mpi.f90) as gmg_context_create_mpi() and gmg_context_create_mpi_cuda(): with a communicator of
 *  Fortran, which is an integer. All else is as in the functions above.
 *  @{ */
GMG_API gmg_status gmg_context_create_mpi_fortran(int comm, const int cut[3], int threads, gmg_context **context);
GMG_API gmg_status gmg_context_create_mpi_cuda_fortran(int comm, const int cut[3], int device, gmg_cuda_stream stream,
                                                       gmg_context **context);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
