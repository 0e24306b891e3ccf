/* A C project that uses an installed gmg: -Lap u = 0 on the unit square with u = 1 + 2x - y on the walls, which solves it,
 * discretely too. GMG_WANTED: the version that the package says it is. */
#include <gmg.h>
#include <stdio.h>
#include <string.h>

enum { NX = 48, NY = 40 };

static double exact(double x, double y) { return 1 + 2 * x - y; }

static double u[NY][NX], f[NY][NX];

int main(void)
{
  const size_t n[2] = {NX, NY};
  const gmg_problem problem = gmg_problem_default(2, n);
  const gmg_params params = gmg_params_default();
  gmg_context *context = NULL;
  gmg_solver *solver = NULL;
  gmg_report report;
  double g[48], error = 0;

  if (strcmp(gmg_version(), GMG_WANTED) != 0 || strcmp(GMG_VERSION_STRING, GMG_WANTED) != 0) {
    printf("version: library %s, header %s, package %s\n", gmg_version(), GMG_VERSION_STRING, GMG_WANTED);
    return 1;
  }
  if (gmg_context_create_host(1, &context) != GMG_OK) return 1;
  gmg_status status = gmg_solver_create(context, &problem, &params, &solver);
  for (int side = 0; side < 2 && status == GMG_OK; side++) {
    for (int j = 0; j < NY; j++) g[j] = exact(side, (j + 0.5) / NY);
    status = gmg_set_boundary_values(solver, 0, side, g);
    for (int i = 0; i < NX; i++) g[i] = exact((i + 0.5) / NX, side);
    if (status == GMG_OK) status = gmg_set_boundary_values(solver, 1, side, g);
  }
  if (status == GMG_OK) status = gmg_solve(solver, f, u, &report);
  if (status != GMG_OK) printf("%s: %s\n", gmg_status_string(status), gmg_context_error(context));
  for (int j = 0; j < NY; j++)
    for (int i = 0; i < NX; i++) {
      const double e = u[j][i] - exact((i + 0.5) / NX, (j + 0.5) / NY);
      if (!(e * e <= error * error)) error = e;
    }
  gmg_solver_destroy(solver);
  gmg_context_destroy(context);
  printf("gmg %s from C: error %.1e\n", gmg_version(), error);
  return !(status == GMG_OK && error * error < 1e-12);
}
