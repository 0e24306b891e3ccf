/* A code that has a decomposition already solves Poisson's equation in it: 90 x 80 x 70 cells, Dirichlet walls. The processes form
   a Cartesian communicator, whose ranges gmg takes over. mpirun -n 4 cartesian */
#include "gmg_mpi.h"

#include <stdio.h>
#include <stdlib.h>

enum { DIM = 3, MOST_PARTS = 64 };

static const size_t whole[DIM] = {90, 80, 70};

/* The code's own ranges: the first parts have one cell more. */
static size_t begin_of(int axis, int parts, int part)
{
  const size_t each = whole[axis] / (size_t)parts, more = whole[axis] % (size_t)parts, p = (size_t)part;
  return p * each + (p < more ? p : more);
}

/* The communicator, and the process's place in it. MPI numbers processes along the last dimension first, and gmg along axis 0: so
   dimension d of MPI is axis DIM - 1 - d. */
static MPI_Comm create_cartesian(int parts[DIM], int at[DIM])
{
  int ranks, rank, dims[DIM] = {0}, periods[DIM] = {0}, place[DIM];
  MPI_Comm comm;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, DIM, dims);
  MPI_Cart_create(MPI_COMM_WORLD, DIM, dims, periods, 1, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Cart_coords(comm, rank, DIM, place);
  for (int a = 0; a < DIM; a++) parts[a] = dims[DIM - 1 - a], at[a] = place[DIM - 1 - a];
  return comm;
}

static gmg_status solve(MPI_Comm comm, const int parts[DIM], const int at[DIM], gmg_context **context, gmg_solver **solver)
{
  const gmg_problem problem = gmg_problem_default(DIM, whole); /* the same in all processes */
  const gmg_params params = gmg_params_default();
  gmg_report report;
  size_t cells = 1, first[DIM], n[DIM];
  int rank;
  gmg_status status = gmg_context_create_mpi(comm, parts, 1, context);
  for (int a = 0; a < DIM && status == GMG_OK; a++) {
    size_t cuts[MOST_PARTS + 1];
    for (int p = 0; p <= parts[a]; p++) cuts[p] = begin_of(a, parts[a], p);
    cells *= cuts[at[a] + 1] - cuts[at[a]];
    status = gmg_context_set_cuts(*context, a, cuts);
  }
  if (status == GMG_OK) status = gmg_local_box(*context, &problem, first, n); /* now the code's own */
  for (int a = 0; a < DIM && status == GMG_OK; a++)
    if (first[a] != begin_of(a, parts[a], at[a])) return GMG_ERR_ARGUMENT;
  if (status == GMG_OK) status = gmg_solver_create(*context, &problem, &params, solver);
  if (status != GMG_OK) return status;
  double *f = malloc(cells * sizeof *f), *u = calloc(cells, sizeof *u); /* the code's own arrays */
  for (size_t i = 0; f && i < cells; i++) f[i] = 1;
  status = gmg_solve(*solver, f, u, &report);
  free(f), free(u);
  MPI_Comm_rank(comm, &rank);
  if (rank == 0 && status == GMG_OK) printf("%d x %d x %d parts: %d cycles\n", parts[0], parts[1], parts[2], report.cycles);
  return status;
}

int main(int argc, char **argv)
{
  int parts[DIM], at[DIM], rank;
  gmg_context *context = NULL;
  gmg_solver *solver = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm comm = create_cartesian(parts, at);
  const gmg_status status = solve(comm, parts, at, &context, &solver);
  MPI_Comm_rank(comm, &rank);
  if (rank == 0 && status != GMG_OK) printf("%s: %s\n", gmg_status_string(status), gmg_context_error(context));
  gmg_solver_destroy(solver);
  gmg_context_destroy(context);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return status != GMG_OK;
}
