/* Poisson's equation in several processes. mpirun -n 4 example [N]: N^3 cells, Dirichlet walls, f = 1. */
#include "gmg_mpi.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t cells = argc > 1 ? (size_t)atol(argv[1]) : 64, whole[3] = {cells, cells, cells};
  const gmg_problem problem = gmg_problem_default(3, whole); /* the same in all processes */
  const gmg_params params = gmg_params_default();
  gmg_context *context = NULL;
  gmg_solver *solver = NULL;
  gmg_report report;
  size_t first[3], n[3]; /* this process's box */
  double *f = NULL, *u = NULL;

  gmg_status status = gmg_context_create_mpi(MPI_COMM_WORLD, NULL, 1, &context);
  if (status == GMG_OK) status = gmg_local_box(context, &problem, first, n);
  if (status == GMG_OK) status = gmg_solver_create(context, &problem, &params, &solver);
  if (status == GMG_OK) {
    const size_t own = n[0] * n[1] * n[2];
    f = malloc(own * sizeof *f), u = calloc(own, sizeof *u);
    for (size_t i = 0; f && i < own; i++) f[i] = 1;
    status = gmg_solve(solver, f, u, &report); /* collective: a process without memory passes NULL, an error of all */
  }
  if (rank == 0 && status == GMG_OK) printf("%d cycles, %.3f s, residual %.1e\n", report.cycles, report.seconds, report.residual);
  else if (rank == 0) printf("%s: %s\n", gmg_status_string(status), gmg_context_error(context));
  free(f), free(u);
  gmg_solver_destroy(solver);
  gmg_context_destroy(context); /* before MPI_Finalize() */
  MPI_Finalize();
  return status != GMG_OK;
}
