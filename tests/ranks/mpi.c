/* gmg with MPI: every process solves its part, and compares it with its own solution of the whole problem. mpirun -n N test_mpi.
   With the argument "cuda" each has a device, and the whole problem is solved on the host. Prints one line. */
#include "device.h"
#include "gmg_mpi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t value_at(size_t i, size_t j, size_t k) { return (i * 7919 + j * 104729 + k * 1299709) % 1009; }

/* f of a box. */
static double *fill(const size_t first[3], const size_t n[3])
{
  double *f = malloc(n[0] * n[1] * n[2] * sizeof *f);
  for (size_t k = 0; f && k < n[2]; k++)
    for (size_t j = 0; j < n[1]; j++)
      for (size_t i = 0; i < n[0]; i++)
        f[(k * n[1] + j) * n[0] + i] = (double)value_at(first[0] + i, first[1] + j, first[2] + k) / 504.0 - 1;
  return f;
}

typedef struct {
  gmg_status status;
  int cycles;
  double *u;
  size_t first[3], n[3];
} result;

static result solve(gmg_context *c, int on_device, const gmg_problem *p, const gmg_params *params)
{
  gmg_solver *s = NULL;
  gmg_report report = {.cycles = 0};
  result r = {.status = gmg_local_box(c, p, r.first, r.n)};
  if (r.status) return r;
  const size_t bytes = r.n[0] * r.n[1] * r.n[2] * sizeof(double);
  double *f = fill(r.first, r.n), *there[2] = {f, NULL};
  r.u = there[1] = calloc(bytes, 1);
  for (int i = 0; i < 2 && on_device; i++) {
    double *copy = device_alloc(bytes);
    device_copy(copy, there[i], bytes);
    there[i] = copy;
  }
  r.status = gmg_solver_create(c, p, params, &s);
  for (int again = 0; again < 3 && !r.status; again++) { /* as recorded, too */
    if (on_device) device_copy(there[1], r.u, bytes);
    else memset(r.u, 0, bytes);
    r.status = gmg_solve(s, there[0], there[1], &report);
  }
  if (on_device) device_copy(r.u, there[1], bytes), device_release(there[0]), device_release(there[1]);
  if (r.status) fprintf(stderr, "%s\n", gmg_context_error(c));
  r.cycles = report.cycles;
  gmg_solver_destroy(s);
  free(f);
  return r;
}

int main(int argc, char **argv)
{
  int rank, ranks, provided, bad = 0, any_bad;
  const size_t n[3] = {72, 61, 70}; /* two levels are cut, also on devices */
  gmg_problem p = gmg_problem_default(3, n);
  gmg_params params = gmg_params_default();
  gmg_context *c = NULL, *own = NULL;
  if (gmg_context_create_mpi(MPI_COMM_NULL, NULL, 1, &c) != GMG_ERR_ARGUMENT) return 1; /* before MPI_Init() */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  p.bc[1][0] = GMG_NEUMANN;
  params.direct = GMG_DIRECT_NEVER, params.rtol = 1e-10;
  const int wrong[3] = {ranks + 1, 1, 1};
  if (gmg_context_create_mpi(MPI_COMM_WORLD, wrong, 1, &c) != GMG_ERR_ARGUMENT || c) bad = 1;
  const int on_device = argc > 1 && strcmp(argv[1], "cuda") == 0;
  if (on_device && (without_device() || device_count() < ranks)) { /* the same on all */
    if (rank == 0) printf("skipped: %d devices for %d processes\n", device_count(), ranks);
    MPI_Finalize();
    return SKIPPED;
  }
  if (on_device) device_use(rank);
  const gmg_status created = on_device ? gmg_context_create_mpi_cuda(MPI_COMM_WORLD, NULL, rank, NULL, &c)
                                       : gmg_context_create_mpi(MPI_COMM_WORLD, NULL, 1, &c);
  if (created || gmg_context_create_host(1, &own)) MPI_Abort(MPI_COMM_WORLD, 1);
  const result part = solve(c, on_device, &p, &params), whole = solve(own, 0, &p, &params);
  bad |= part.status != GMG_OK || whole.status != GMG_OK || abs(part.cycles - whole.cycles) > 1;
  double most = 0, size = 0;
  for (size_t k = 0; !bad && k < part.n[2]; k++)
    for (size_t j = 0; j < part.n[1]; j++)
      for (size_t i = 0; i < part.n[0]; i++) {
        const double x = whole.u[((part.first[2] + k) * n[1] + part.first[1] + j) * n[0] + part.first[0] + i];
        most = fmax(most, fabs(x - part.u[(k * part.n[1] + j) * part.n[0] + i])), size = fmax(size, fabs(x));
      }
  bad |= !(most <= 1e-7 * size);
  free(part.u), free(whole.u);
  gmg_context_destroy(c);
  gmg_context_destroy(own);
  MPI_Allreduce(&bad, &any_bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("%d processes, %d cycles: %s\n", ranks, part.cycles, any_bad ? "wrong" : "as alone");
  MPI_Finalize();
  return any_bad;
}
