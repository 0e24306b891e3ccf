/* Order 2 with smooth beta, sigma and stretch under all boundary conditions, by a manufactured solution. The divergence of the
   fluxes is A u - sigma u, and the fluxes converge to -beta grad u. */
#include <math.h>
#include <stdlib.h>

#include "util.h"

typedef struct {
  gmg_problem p;
  double *coord[3], *beta, *face[3], *sigma, *f, *u, *exact;
} smooth_case;

/* Mesh position of t in 0..1: smooth, widths differ by 3, fits a periodic axis. */
static double mesh(double t) { return t + 0.5 * sin(2 * M_PI * t) / (2 * M_PI); }

/* One factor of u along an axis, and its derivatives. */
static double part(int a, double x, int derivative)
{
  const double k = 2 * M_PI, t = k * x + 0.4 + a;
  return derivative == 0 ? 1.5 + sin(t) : derivative == 1 ? k * cos(t) : -k * k * sin(t);
}

static double exact(int dim, const double x[3], int axis, int derivative)
{
  double v = 1;
  for (int a = 0; a < dim; a++) v *= part(a, x[a], a == axis ? derivative : 0);
  return v;
}

static double beta_at(int dim, const double x[3], int axis) /* its slope along `axis`, or its value for -1 */
{
  double v = axis < 0 ? 2 : 0;
  for (int a = 0; a < dim; a++)
    v += axis < 0 ? 0.4 * sin(2 * M_PI * x[a] + a) : a == axis ? 0.4 * 2 * M_PI * cos(2 * M_PI * x[a] + a) : 0;
  return v;
}

static double sigma_at(const double x[3]) { return 1 + x[0] * x[0]; }

static double rhs_at(int dim, const double x[3])
{
  double f = sigma_at(x) * exact(dim, x, -1, 0);
  for (int a = 0; a < dim; a++)
    f -= beta_at(dim, x, -1) * exact(dim, x, a, 2) + beta_at(dim, x, a) * exact(dim, x, a, 1);
  return f;
}

/* Places along an axis: unknowns, faces below them, widths of control volumes. */
static int first_node(const gmg_problem *p, int a) { return p->centering == GMG_VERTEX && p->bc[a][0] == GMG_DIRICHLET; }

static size_t intervals(const gmg_problem *p, int a)
{
  size_t m = p->n[a];
  if (p->centering == GMG_CELL || p->bc[a][0] == GMG_PERIODIC) return m;
  for (int side = 0; side < 2; side++) m += p->bc[a][side] == GMG_DIRICHLET;
  return m - 1;
}

static double node(const gmg_problem *p, int a, double i)
{
  const double m = (double)intervals(p, a);
  return p->coord[a] ? mesh(i / m) : i / m;
}

static double place(const gmg_problem *p, int a, size_t i)
{
  if (p->centering == GMG_CELL) return (node(p, a, (double)i) + node(p, a, (double)i + 1)) / 2;
  return node(p, a, (double)i + first_node(p, a));
}

static double face_place(const gmg_problem *p, int a, size_t i)
{
  const size_t n = p->n[a];
  const double at = (double)i + first_node(p, a);
  if (p->centering == GMG_CELL) return node(p, a, (double)i);
  if (p->bc[a][0] != GMG_PERIODIC && ((i == 0 && !first_node(p, a)) || (i == n && p->bc[a][1] != GMG_DIRICHLET)))
    return i ? 1 : 0;
  return (node(p, a, at - 1) + node(p, a, at)) / 2;
}

static void each_place(const gmg_problem *p, size_t c, int face_axis, double x[3])
{
  for (int a = 0; a < 3; a++) {
    const size_t n = p->n[a] + (a == face_axis);
    x[a] = a >= p->dim ? 0 : a == face_axis ? face_place(p, a, c % n) : place(p, a, c % n);
    c /= n;
  }
}

static size_t faces_of(const gmg_problem *p, int a) { return unknowns(p) / p->n[a] * (p->n[a] + 1); }

static smooth_case make_case(int dim, size_t m, gmg_centering centering, const char *bc, int stretch, int on_faces)
{
  smooth_case s = {.p = make_problem(dim, m, dim > 1 ? m : 1, dim > 2 ? m : 1, centering, bc)};
  const double unit[3] = {1, 1, 1};
  gmg_problem *p = &s.p;
  for (int a = 0; a < dim; a++) {
    p->n[a] += m - intervals(p, a); /* m intervals on every axis */
    s.coord[a] = malloc((m + 1) * sizeof(double));
    for (size_t i = 0; i <= m; i++) s.coord[a][i] = mesh((double)i / (double)m);
    if (stretch) p->coord[a] = s.coord[a];
  }
  gmg_problem_set_box(p, unit);
  const size_t N = unknowns(p);
  s.beta = field(N, 0), s.sigma = field(N, 0), s.f = field(N, 0), s.u = field(N, 0), s.exact = field(N, 0);
  for (size_t c = 0; c < N; c++) {
    double x[3];
    each_place(p, c, -1, x);
    s.beta[c] = beta_at(dim, x, -1), s.sigma[c] = sigma_at(x);
    s.f[c] = rhs_at(dim, x), s.exact[c] = exact(dim, x, -1, 0);
  }
  for (int a = 0; a < dim; a++) {
    s.face[a] = field(faces_of(p, a), 0);
    for (size_t c = 0; c < faces_of(p, a); c++) {
      double x[3];
      each_place(p, c, a, x);
      s.face[a][c] = beta_at(dim, x, -1);
    }
    if (on_faces) p->beta_face[a] = s.face[a];
  }
  if (!on_faces) p->beta = s.beta;
  p->sigma = s.sigma;
  return s;
}

static void free_case(smooth_case *s)
{
  free(s->beta), free(s->sigma), free(s->f), free(s->u), free(s->exact);
  for (int a = 0; a < 3; a++) free(s->coord[a]), free(s->face[a]);
}

static void set_walls(const smooth_case *s, session *z)
{
  const gmg_problem *p = &s->p;
  for (int a = 0; a < p->dim; a++)
    for (int side = 0; side < 2; side++) {
      if (p->bc[a][side] == GMG_PERIODIC) continue;
      const size_t cells = unknowns(p) / p->n[a];
      double *g = field(cells, 0);
      for (size_t c = 0; c < cells; c++) {
        double x[3] = {0, 0, 0};
        size_t rest = c;
        for (int b = 0; b < p->dim; b++) {
          x[b] = b == a ? side : place(p, b, rest % p->n[b]);
          if (b != a) rest /= p->n[b];
        }
        const double u = exact(p->dim, x, -1, 0), slope = (side ? 1 : -1) * exact(p->dim, x, a, 1);
        g[c] = p->bc[a][side] == GMG_DIRICHLET ? u
               : p->bc[a][side] == GMG_NEUMANN ? beta_at(p->dim, x, -1) * slope
                                               : p->robin[a][side][0] * u + p->robin[a][side][1] * slope;
      }
      assert_int_equal(set_values_in(z, a, side, g), GMG_OK);
      free(g);
    }
}

static double volume(const gmg_problem *p, size_t c)
{
  double v = 1;
  for (int a = 0; a < p->dim; c /= p->n[a], a++) v *= face_place(p, a, c % p->n[a] + 1) - face_place(p, a, c % p->n[a]);
  return v;
}

/* The volume-weighted 2-norm of the error. On the finest grid also checks the fluxes. */
static double solve_case(const smooth_case *s, double *flux_error)
{
  gmg_params q = params_for_cycles();
  const size_t N = unknowns(&s->p);
  double *flux[3] = {0}, *gradient[3] = {0}, error = 0, square = 0;
  q.rtol = 1e-11;
  session z = begin_solver(&s->p, &q, 1);
  set_walls(s, &z);
  const gmg_status status = solve_in(&z, s->f, s->u, NULL);
  if (status != GMG_OK && status != GMG_STAGNATED) fail_msg("%s", gmg_context_error(z.context));
  for (int a = 0; a < s->p.dim; a++) flux[a] = field(faces_of(&s->p, a), 0), gradient[a] = field(faces_of(&s->p, a), 0);
  assert_ok(z.context, flux_in(&z, s->u, (void **)flux, (void **)gradient));
  for (size_t c = 0; c < N; c++) error += volume(&s->p, c) * (s->u[c] - s->exact[c]) * (s->u[c] - s->exact[c]);
  for (size_t c = 0; c < N; c++) { /* divergence of the fluxes + sigma u = f, up to the residual */
    double balance = s->sigma[c] * s->u[c] - s->f[c];
    size_t rest = c, stride = 1;
    for (int a = 0; a < s->p.dim; a++) {
      const size_t n = s->p.n[a], i = rest % n, outer = c / (stride * n), inner = c % stride;
      const size_t low = (outer * (n + 1) + i) * stride + inner;
      balance += (flux[a][low + stride] - flux[a][low]) / (face_place(&s->p, a, i + 1) - face_place(&s->p, a, i));
      rest /= n, stride *= n;
    }
    assert_near(balance, 0, 1e-6 * (1 + fabs(s->f[c])));
  }
  for (int a = 0; a < s->p.dim; a++)
    for (size_t c = 0; c < faces_of(&s->p, a); c++) {
      double x[3];
      each_place(&s->p, c, a, x);
      const double slope = exact(s->p.dim, x, a, 1), b = beta_at(s->p.dim, x, -1);
      square += pow(gradient[a][c] - slope, 2) / (double)faces_of(&s->p, a);
      assert_near(flux[a][c], -b * gradient[a][c], 0.2 * fabs(gradient[a][c]) + 1e-9);
    }
  *flux_error = sqrt(square);
  for (int a = 0; a < 3; a++) free(flux[a]), free(gradient[a]);
  end_solver(&z);
  return sqrt(error);
}

static void order_of(int dim, gmg_centering centering, const char *walls, int stretch, int on_faces)
{
  static const size_t sizes[] = {0, 128, 64, 24};
  double error[2], flux_error[2];
  for (int level = 0; level < 2; level++) {
    smooth_case s = make_case(dim, sizes[dim] << level, centering, walls, stretch, on_faces);
    error[level] = solve_case(&s, &flux_error[level]);
    free_case(&s);
  }
  const double order = log2(error[0] / error[1]), flux_order = log2(flux_error[0] / flux_error[1]);
  print_message("%dD %s %.*s %s, beta on %s: order %.2f, of the gradient %.2f\n", dim, centering == GMG_CELL ? "cell  " : "vertex", 2 * dim,
                walls, stretch ? "stretched" : "uniform", on_faces ? "faces" : "unknowns", order, flux_order);
  if (order < 1.85 || order > 2.3) fail_msg("order %.2f", order);
  if (flux_order < 1.4) fail_msg("order of the gradient %.2f", flux_order); /* 1 at some walls, 2 inside */
}

static void order_is_two(void **state)
{
  static const char *const walls[] = {"dddddd", "nrdnpp", "pprdnr", "rnppdd"};
  enum { TAKEN_EVERY = SANITIZED ? 5 : 1 }; /* every fifth combination includes every boundary condition */
  int number = 0;
  (void)state;
  for (int on_faces = 0; on_faces < 2; on_faces++)
    for (int stretch = 0; stretch < 2; stretch++)
      for (int w = 0; w < 4; w++)
        for (gmg_centering centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
          for (int dim = 1; dim <= 3; dim++, number++)
            if (number % TAKEN_EVERY == 0) order_of(dim, centering, walls[w], stretch, on_faces);
}

int main(int argc, char **argv)
{
  if (for_device(argc, argv)) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(order_is_two)};
  return run_selected(tests);
}
