/* A complete user-defined smoother on a CUDA device: weighted Jacobi with a kernel that reads the rows of gmg_operator. Solves
 * -Lap u = f on 96^3 unknowns with it. Exit status: 0 converged, 1 failed, 77 no device. */
#include "gmg_cuda.h"
#include "gmg_smoother.h"

#include <cuda_runtime.h>

#include <cstdio>

namespace {

/* The smoother and what its sweeps need. A sweep finds it through gmg_smoother_level::params, because `smoother` is the
   first member. */
struct jacobi {
  gmg_smoother smoother;
  cudaStream_t stream; /* the context's: sweeps are enqueued there */
};

template <typename real> __device__ real along(const gmg_operator &A, int axis, size_t at, size_t stride, const real *u, size_t c)
{
  const real lo = static_cast<const real *>(A.lo[axis])[at], hi = static_cast<const real *>(A.hi[axis])[at];
  const size_t last = A.n[axis] - 1, around = A.wraps[axis] ? last * stride : 0; /* the coupling of a missing neighbour is 0 */
  return lo * u[at > 0 ? c - stride : c + around] + hi * u[at < last ? c + stride : c - around];
}

/* to = u + weight D^-1 (f - A u) */
template <typename real> __global__ void jacobi_kernel(gmg_operator A, const real *f, const real *u, real weight, real *to)
{
  const size_t c = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (c >= A.cells) return;
  const size_t at[3] = {c % A.n[0], c / A.n[0] % A.n[1], c / (A.n[0] * A.n[1])}, stride[3] = {1, A.n[0], A.n[0] * A.n[1]};
  real diag = static_cast<real>(A.shift), sum = f[c];
  for (int axis = 0; axis < A.dim; axis++) {
    diag += static_cast<const real *>(A.diag[axis])[at[axis]];
    sum += along(A, axis, at[axis], stride[axis], u, c);
  }
  to[c] = u[c] + weight * (sum / diag - u[c]);
}

/* Steps alternate between u and the level's scratch field; the last one ends in u. */
template <typename real> void sweep(const gmg_smoother_level *level, void *, const void *f, void *u, int steps, gmg_leg)
{
  const gmg_operator *A = level->A;
  const cudaStream_t stream = reinterpret_cast<const jacobi *>(level->params->smoother)->stream;
  const real weight = static_cast<real>(2.0 * A->dim / (2 * A->dim + 1)); /* damps the upper half of the spectrum best */
  const unsigned threads = 256, blocks = static_cast<unsigned>((A->cells + threads - 1) / threads);
  real *const field[2] = {static_cast<real *>(u), static_cast<real *>(level->scratch)};
  if (steps % 2) cudaMemcpyAsync(field[1], u, A->cells * sizeof(real), cudaMemcpyDeviceToDevice, stream);
  for (int left = steps; left > 0; left--)
    jacobi_kernel<<<blocks, threads, 0, stream>>>(*A, static_cast<const real *>(f), field[left % 2], weight, field[(left - 1) % 2]);
}

/* Refuses arrays of beta and sigma, which the kernel does not read. */
gmg_status setup(const gmg_smoother_level *level, void **)
{
  return level->A->face[0] || level->A->sigma ? GMG_ERR_UNSUPPORTED : GMG_OK;
}

unsigned traits(const gmg_params *, int) { return GMG_SMOOTHER_DETERMINISTIC | GMG_SMOOTHER_ADJOINT | GMG_SMOOTHER_LINEAR; }

constexpr gmg_smoother_ops in_float = {.setup = setup, .sweep = sweep<float>};
constexpr gmg_smoother_ops in_double = {.setup = setup, .sweep = sweep<double>};

/* Fields of ones and zeros on the device. */
int make_fields(size_t cells, double **f, double **u)
{
  if (cudaMalloc(f, cells * sizeof **f) != cudaSuccess || cudaMalloc(u, cells * sizeof **u) != cudaSuccess) return 0;
  double *ones = new double[cells];
  for (size_t i = 0; i < cells; i++) ones[i] = 1;
  const cudaError_t copied = cudaMemcpy(*f, ones, cells * sizeof **f, cudaMemcpyHostToDevice);
  delete[] ones;
  return copied == cudaSuccess && cudaMemset(*u, 0, cells * sizeof **u) == cudaSuccess;
}

int solve(gmg_context *context, const gmg_smoother *smoother)
{
  const size_t n[3] = {96, 96, 96}, cells = n[0] * n[1] * n[2];
  const gmg_problem problem = gmg_problem_default(3, n);
  gmg_params params = gmg_params_default();
  gmg_solver *solver = nullptr;
  gmg_report report = {};
  double *f = nullptr, *u = nullptr;
  params.smoother = smoother;
  params.pre = params.post = 2;
  gmg_status status = make_fields(cells, &f, &u) ? gmg_solver_create(context, &problem, &params, &solver) : GMG_ERR_MEMORY;
  if (status == GMG_OK) status = gmg_solve(solver, f, u, &report);
  gmg_solver_destroy(solver);
  cudaFree(f), cudaFree(u);
  const cudaError_t launched = cudaGetLastError(); /* gmg does not check whether the smoother's kernels started */
  if (status != GMG_OK) std::fprintf(stderr, "%s: %s\n", gmg_status_string(status), gmg_context_error(context));
  if (launched != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(launched));
  if (status == GMG_OK) std::printf("%s: %d cycles, factor %.3f\n", smoother->name, report.cycles, report.factor);
  return status != GMG_OK || launched != cudaSuccess;
}

} // namespace

int main()
{
  jacobi mine = {};
  gmg_context *context = nullptr;
  if (cudaStreamCreate(&mine.stream) != cudaSuccess || gmg_context_create_cuda(0, mine.stream, &context) != GMG_OK) {
    std::printf("skipped: there is no CUDA device that this library was built for\n");
    return 77;
  }
  mine.smoother.name = "Jacobi of one's own";
  mine.smoother.traits = traits;
  mine.smoother.ops[GMG_BACKEND_CUDA][GMG_F32] = &in_float;
  mine.smoother.ops[GMG_BACKEND_CUDA][GMG_F64] = &in_double;
  const int failed = solve(context, &mine.smoother);
  gmg_context_destroy(context);
  cudaStreamDestroy(mine.stream);
  return failed;
}
