// A C++ project, without C, that uses an installed gmg, with a smoother of its own: -Lap u = f on the unit interval cubed,
// u = x + y + z at the walls and everywhere.
#include <gmg.h>
#include <gmg_cuda.h>
#include <gmg_smoother.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

// Damped Jacobi for double.
void sweep(const gmg_smoother_level *level, void *, const void *f, void *u, int steps, gmg_leg)
{
  const gmg_operator &A = *level->A;
  const double diagonal = 2 * (A.coupling[0] + A.coupling[1] + A.coupling[2]) + A.reaction_from_walls + A.shift;
  const auto *r = static_cast<const double *>(level->scratch);
  for (int step = 0; step < steps; step++) {
    gmg_level_residual(level, f, u, level->scratch);
    for (std::size_t i = 0; i < A.cells; i++) static_cast<double *>(u)[i] += 6.0 / 7 / diagonal * r[i];
  }
}

struct destroyer {
  void operator()(gmg_context *context) const { gmg_context_destroy(context); }
  void operator()(gmg_solver *solver) const { gmg_solver_destroy(solver); }
};

} // namespace

int main()
{
  static_assert(GMG_VERSION == 10000 * GMG_VERSION_MAJOR + 100 * GMG_VERSION_MINOR + GMG_VERSION_PATCH, "version");
  constexpr std::size_t m = 24;
  const std::size_t n[3] = {m, m, m};
  const auto at = [](std::size_t i) { return (static_cast<double>(i) + 0.5) / m; };
  gmg_smoother_ops ops{};
  ops.sweep = sweep;
  gmg_smoother mine{};
  mine.name = "damped Jacobi";
  mine.ops[GMG_BACKEND_HOST][GMG_F64] = &ops;
  const gmg_problem problem = gmg_problem_default(3, n);
  gmg_params params = gmg_params_default();
  params.smoother = &mine;
  params.pre = params.post = 2;

  gmg_context *raw_context = nullptr;
  gmg_solver *raw_solver = nullptr;
  if (gmg_context_create_host(0, &raw_context) != GMG_OK) return 1;
  const std::unique_ptr<gmg_context, destroyer> context(raw_context);
  gmg_status status = gmg_solver_create(context.get(), &problem, &params, &raw_solver);
  const std::unique_ptr<gmg_solver, destroyer> solver(raw_solver);
  std::vector<double> f(m * m * m), u(m * m * m), g(m * m);
  for (int face = 0; face < 6 && status == GMG_OK; face++) {
    for (std::size_t i = 0; i < g.size(); i++) g[i] = face % 2 + at(i % m) + at(i / m);
    status = gmg_set_boundary_values(solver.get(), face / 2, face % 2, g.data());
  }
  gmg_report report{};
  if (status == GMG_OK) status = gmg_solve(solver.get(), f.data(), u.data(), &report);
  if (status != GMG_OK) std::printf("%s: %s\n", gmg_status_string(status), gmg_context_error(context.get()));

  double error = 0;
  for (std::size_t i = 0; i < u.size(); i++)
    error = std::fmax(error, std::fabs(u[i] - at(i % m) - at(i / m % m) - at(i / m / m)));
  std::printf("gmg %s from C++: %d cycles, error %.1e\n", gmg_version(), report.cycles, error);
  return status == GMG_OK && error < 1e-6 ? 0 : 1;
}
