/* Line relaxation in zebra order: all unknowns of a line are relaxed at once, by solving their tridiagonal system (Brandt 1977;
   Trottenberg, Oosterlee, Schueller 2001, chapter 5). Lines are coloured like a chess board. A sweep relaxes lines along each axis
   of params.line_axes in turn. This file has traits, weight, parameters, and when gmg chooses it. Its functions are in
   host/ and cuda/. Called through registry.c. */
#include "lines.h"

#include "core/backend.h"
#include "stencil/black_box/black_box.h"

#include <math.h>

/* With lines along one of three axes, and a stretch of 30 : 1, weights 1, 1.1 and 1.2 have the factors 0.160, 0.115 and 0.115.
   In 2D weights 1 and 1.15 have 0.076 and 0.124 (docs/weights.md). An array sigma may dominate some rows: there over-relaxation
   diverges. */
static const double OVER_RELAXATION_3D = 1.1;

double gmg_weight_lines(const gmg_operator *A, const gmg_params *p)
{
  return p->omega > 0 ? p->omega : A->sigma || A->dim < 3 ? 1 : OVER_RELAXATION_3D;
}

static unsigned traits(const gmg_params *p, int threads)
{
  return gmg_traits_of_fixed_map(p, threads) | GMG_SMOOTHER_COLOURED;
}

static unsigned exact_axes(const gmg_params *p) { return (unsigned)p->line_axes; }

/* From where on solves are faster than with async.

   Host: two cores, random coefficients from 1 to 2 on stretched meshes of 1000^2 and 96^3.
   - One axis: in 2D 30 : 1 0.66 s (async: 0.93); in 3D 10 : 1 0.33 s (0.31), 20 : 1 0.41 s (0.47), 30 : 1 0.30 s (0.54).
   - Both axes in 2D: 5 : 1 0.74 s (0.50), 10 : 1 0.69 s (0.88).
   - Two or three axes in 3D never: 30 : 1 1.0 and 1.6 s (0.84 and 1.05), 1000 : 1 1.2 and 1.6 s (1.4 and 1.5).
   - Eight stripes that conduct better along x or along y, at 512^2: 10 : 1 0.14 s (0.11), 30 : 1 0.09 s (0.16).
   - Two such halves at 96^3: 10 : 1 0.68 s (0.42), 30 : 1 0.90 s (0.80), 1000 : 1 0.8 s (2.8).

   CUDA: an H100, constant coefficients on stretched meshes.
   - One axis, 30 : 1: 512^2 5.0 ms (async: 2.3), 2048^2 17.9 ms (11.4), 64^3 1.7 ms (1.4), 128^3 3.7 ms (4.6), 256^3 15 ms (36).
   - Both axes in 2D: 512^2 10 : 1 2.9 ms (2.6), 30 : 1 2.9 ms (6.9); 2048^2 10 : 1 9.0 ms (12).
   - Three axes in 3D, 10 : 1: 128^3 12 ms (7), 256^3 68 ms (59).
   Coefficients, with black box coarsening (better of async's; bench_gpu_media):
   - Eight stripes 100 : 1: 512^2 4.0 ms (4.1), 4096^2 66 ms (89). 16 stripes 1000 : 1: 512^2 4.4 ms (18), 4096^2 69 ms (336).
   - Two halves 100 : 1: 512^2 3.1 ms (4.0), 4096^2 65 ms (71). 1000 : 1: 96^3 6.0 ms (discretised 15), 256^3 72 ms (84).
   - Single cells 1e4, a tenth of all: 512^2 5.3 ms (5.4), 4096^2 453 ms (635). Fields of 3 x 3, half of all: 3.1 (2.9) and 83 (67).
   - Layers: 512^2 4.1 ms (2.1), 4096^2 126 ms (148). */
typedef struct {
  double one_axis[2][2]; /* stretch of one axis, in 2D and in 3D; [1]: if there are at least MANY unknowns */
  double both_axes;      /* larger stretch, in 2D */
  double turn[2][2];     /* gmg_medium::turn, in 2D and in 3D; [1]: if black box coarsening is possible */
  int black_box[2];      /* whether black box coarsening pays where the strong direction turns, in 2D and in 3D */
  double islands;        /* gmg_medium::islands, at most, in 2D */
  double layers;         /* unknowns of a medium with layers, in 2D */
} suitable;
static const suitable suitables[] = {
    [GMG_BACKEND_HOST] = {.one_axis = {{20, 20}, {20, 20}},
                          .both_axes = 8,
                          .turn = {{30, 30}, {100, 100}},
                          .black_box = {1, 0},
                          .islands = 1,
                          .layers = 0},
    [GMG_BACKEND_CUDA] = {.one_axis = {{100, 100}, {100, 20}},
                          .both_axes = 15,
                          .turn = {{300, 80}, {300, 300}},
                          .black_box = {1, 1},
                          .islands = 0.2,
                          .layers = 1 << 22}};
enum { MANY = 1000000 };

static const suitable *suitable_on(const gmg_medium *m) { return &suitables[m->backend]; }

static int turns(const gmg_medium *m) { return m->turn >= suitable_on(m)->turn[m->dim > 2][m->may_have_black_box]; }

/* Parts that conduct well and are a few unknowns wide touch each other at corners or along single faces. Relaxing along all axes
   corrects such groups, and points do not. 512^2, black box coarsening, two cores (async): cells of which one in ten conducts
   10,000 times better 12 iterations and 0.086 s (32 and 0.151), a board with fields of 3 x 3 unknowns 7 and 0.049 (21 and 0.090).
   In 3D half the iterations take the same time. */
static int has_islands(const gmg_medium *m)
{
  return m->dim == 2 && m->may_have_black_box && m->islands > 0 && m->islands < suitable_on(m)->islands;
}

/* Beta on faces jumps: as with layers. 512^2, layers of four decades, strong along them by factors of 100, 10, 3 and 1, black box
   coarsening in F cycles: 2, 3, 4 and 5 iterations (async, discretised: 8, 13, 77 and 143); 2048^2, 100: 3 (58). */
static int has_layers(const gmg_medium *m)
{
  return m->has_faces && m->dim == 2 && gmg_black_box_suits(m->jumps) && m->unknowns >= suitable_on(m)->layers;
}

/* Discretised coarse grids average strong directions. Black box coarsening with lines, in F cycles, 512^2, two cores (discretised):
   16 stripes 1000 : 1 6 iterations and 0.063 s (18 and 0.132), 64 squares 6 and 0.065 (21 and 0.151), turning smoothly 5 and 0.052
   (8 and 0.053). In 3D on the host it only pays for many stripes: 96^3 1.1 s (1.5), but two halves 0.45 s (0.31). */
static int likes_black_box(const gmg_medium *m)
{
  return (turns(m) && suitable_on(m)->black_box[m->dim > 2]) || has_layers(m);
}

static int stretched_axes(const gmg_medium *m)
{
  int axes = 0;
  for (int a = 0; a < m->dim; a++) axes |= (m->stretch[a] > GMG_STRETCH_LIMIT) << a;
  return axes;
}

static int suits(const gmg_medium *m)
{
  const int axes = stretched_axes(m), is_one = (axes & (axes - 1)) == 0;
  const double worst = fmax(m->stretch[0], fmax(m->stretch[1], m->stretch[2]));
  if (m->dim == 1) return 0;
  if (turns(m) || has_islands(m) || has_layers(m)) return 1;
  const suitable *s = suitable_on(m);
  return is_one ? worst >= s->one_axis[m->dim > 2][m->unknowns >= MANY] : m->dim == 2 && worst >= s->both_axes;
}

/* All axes, if the strong couplings turn. In 2D also with coefficients: levels that keep an axis make F cycles expensive. */
static void adapt(const gmg_medium *m, gmg_params *p)
{
  const int stretched = stretched_axes(m), all = (1 << m->dim) - 1;
  const int everywhere = turns(m) || has_islands(m) || has_layers(m) || (m->dim == 2 && m->has_beta);
  if (p->line_axes == 0) p->line_axes = !stretched || everywhere ? all : stretched;
}

static const gmg_option options[] = {GMG_OPTION(DOUBLE, omega, 0, 0, 2), GMG_OPTION(INT, line_axes, 0, 0, 7), {0}};

extern const gmg_smoother_ops gmg_lines_box_host_f32, gmg_lines_box_host_f64, gmg_lines_box_cuda_f32, gmg_lines_box_cuda_f64;
extern const gmg_smoother_ops gmg_lines_host_f32, gmg_lines_host_f64, gmg_lines_cuda_f32, gmg_lines_cuda_f64;

const gmg_builtin_smoother gmg_smoother_lines = {
    .base = {.name = "lines",
             .traits = traits,
             .weight = gmg_weight_lines,
             .ops = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_lines_host_f32, [GMG_F64] = &gmg_lines_host_f64},
                     [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_lines_cuda_f32),
                                           [GMG_F64] = GMG_ON_CUDA(&gmg_lines_cuda_f64)}}},
    .box_arrays = {[GMG_BACKEND_HOST] = {[GMG_F32] = &gmg_lines_box_host_f32, [GMG_F64] = &gmg_lines_box_host_f64},
                   [GMG_BACKEND_CUDA] = {[GMG_F32] = GMG_ON_CUDA(&gmg_lines_box_cuda_f32),
                                         [GMG_F64] = GMG_ON_CUDA(&gmg_lines_box_cuda_f64)}},
    .suits = suits,
    .likes_black_box = likes_black_box,
    .adapt = adapt,
    .exact_axes = exact_axes,
    .options = options};
