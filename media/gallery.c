/* See gallery.h. */
#include "gallery.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* --- places ------------------------------------------------------------------------------------------------------------------- */

static double square(double x) { return x * x; }
static size_t sum_of(const size_t i[3], size_t block) { return i[0] / block + i[1] / block + i[2] / block; }

/* 0 .. 1 from a place and a seed: splitmix64 (Steele, Lea, Flood 2014). */
static double random_at(const medium_place *at, uint64_t seed)
{
  uint64_t z = (((seed << 16 ^ at->i[2]) << 20 ^ at->i[1]) << 20 ^ at->i[0]) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

static double normal_at(const medium_place *at, uint64_t seed)
{
  return sqrt(-2 * log(random_at(at, seed) + 1e-300)) * cos(2 * M_PI * random_at(at, seed + 1));
}

static int in_ball(const medium_place *at, const double centre[3], double radius)
{
  double r2 = 0;
  for (int a = 0; a < at->dim; a++) r2 += square(at->x[a] - centre[a]);
  return r2 < radius * radius;
}

/* 0 or 1 by turns in `count` parts of the unit interval. */
static int part_of(double x, int count) { return (int)fmin(count * x, count - 1) % 2; }

/* --- beta of every unknown ---------------------------------------------------------------------------------------------------- */

static double ball(const medium_place *at, double strength)
{
  static const double centre[3] = {0.47, 0.53, 0.51};
  return in_ball(at, centre, 0.3) ? strength : 1;
}

static double board_3(const medium_place *at, double strength) { return sum_of(at->i, 3) % 2 ? strength : 1; }
static double board_8(const medium_place *at, double strength) { return sum_of(at->i, 8) % 2 ? strength : 1; }
static double board_37(const medium_place *at, double strength) { return sum_of(at->i, 37) % 2 ? strength : 1; }
static double single(const medium_place *at, double strength) { return random_at(at, 1) < 0.1 ? strength : 1; }

static double discs(const medium_place *at, double strength)
{
  for (size_t d = 0; d < 40; d++) {
    const medium_place number = {.i = {d, 0, 0}};
    const double centre[3] = {random_at(&number, 2), random_at(&number, 3), random_at(&number, 4)};
    if (in_ball(at, centre, at->dim == 2 ? 0.06 : 0.12)) return strength;
  }
  return 1;
}

static double zigzag(const medium_place *at, double strength, size_t width)
{
  const size_t along = at->i[0] % (8 * width), turned = along < 4 * width ? along : 8 * width - along;
  return (at->i[1] + at->i[2] + turned) / width % 2 ? strength : 1;
}

static double zigzag_20(const medium_place *at, double strength) { return zigzag(at, strength, 20); }
static double zigzag_3(const medium_place *at, double strength) { return zigzag(at, strength, 3); }

static double net(const medium_place *at, double strength, size_t width, size_t period)
{
  for (int a = 0; a < at->dim; a++)
    if (at->i[a] % period < width) return strength;
  return 1;
}

static double net_17(const medium_place *at, double strength) { return net(at, strength, 1, 17); }
static double net_37(const medium_place *at, double strength) { return net(at, strength, 2, 37); }
static double diagonal(const medium_place *at, double strength) { return (at->i[0] + at->i[1] + at->i[2]) % 37 < 2 ? strength : 1; }

static double winding(const medium_place *at, double strength, size_t width)
{
  const double bend = 16 + 6 * sin(2 * M_PI * (double)at->i[0] / 64) + (at->dim == 3 ? 6 * sin(2 * M_PI * (double)at->i[2] / 48) : 0);
  return (at->i[1] + (size_t)bend) % 16 < width ? strength : 1;
}

static double winding_2(const medium_place *at, double strength) { return winding(at, strength, 2); }
static double winding_1(const medium_place *at, double strength) { return winding(at, strength, 1); }
static double lognormal(const medium_place *at, double strength) { return exp(strength * normal_at(at, 5)); }

static double waves(const medium_place *at, double strength)
{
  double v = strength;
  for (int a = 0; a < at->dim; a++) v *= sin(2 * M_PI * at->x[a] + a);
  return 1 + v;
}

/* --- beta on faces, where the strong axis changes ------------------------------------------------------------------------------ */

static double halves(const medium_place *at, double strength, int axis) { return part_of(at->x[0], 2) == axis ? strength : 1; }
static double stripes(const medium_place *at, double strength, int axis) { return part_of(at->x[0], 16) == axis ? strength : 1; }

static double squares(const medium_place *at, double strength, int axis)
{
  const int count = at->dim == 2 ? 8 : 2;
  return (part_of(at->x[0], count) + part_of(at->x[1], count)) % 2 == axis ? strength : 1;
}

static double turning(const medium_place *at, double strength, int axis)
{
  const double t = (1 + sin(2 * M_PI * at->x[0]) * sin(2 * M_PI * at->x[1])) / 2;
  return axis > 1 ? 1 : pow(strength, axis == 0 ? t : 1 - t);
}

/* Layers across the last axis, over four decades. Along it they conduct `strength` times as well. */
static double layers(const medium_place *at, double strength, int axis)
{
  medium_place layer = {.i = {at->i[at->dim - 1], 0, 0}};
  const double here = pow(10, 4 * random_at(&layer, 6) - 2);
  if (axis != at->dim - 1) return here;
  layer.i[0] -= layer.i[0] > 0;
  return strength * 2 / (1 / here + 1 / pow(10, 4 * random_at(&layer, 6) - 2));
}

/* --- sigma -------------------------------------------------------------------------------------------------------------------- */

static double corner(const medium_place *at, double strength)
{
  for (int a = 0; a < at->dim; a++)
    if (!(at->x[a] < 0.4)) return 0;
  return strength;
}

static double sigma_ball(const medium_place *at, double strength) { return ball(at, 0) == 0 ? strength : 0; }
static double sigma_blocks(const medium_place *at, double strength) { return board_37(at, 0) == 0 ? strength : 0; }
static double sigma_random(const medium_place *at, double strength) { return random_at(at, 7) < 0.5 ? strength : 0; }

/* --- the gallery -------------------------------------------------------------------------------------------------------------- */

const medium_kind medium_kinds[] = {
    {.name = "ball", .about = "beta inside a ball", .strength = {1e4, 1e-4}, .beta = ball},
    {.name = "board_37", .about = "checkerboard of 37 unknowns", .strength = {10, 1e3, 1e6}, .beta = board_37},
    {.name = "board_8", .about = "checkerboard of 8 unknowns", .strength = {1e3}, .beta = board_8},
    {.name = "board_3", .about = "checkerboard of 3 unknowns", .strength = {1e3}, .beta = board_3},
    {.name = "single", .about = "single unknowns, one in ten", .strength = {1e4, 1e-4}, .beta = single},
    {.name = "discs", .about = "40 discs or balls", .strength = {1e4, 1e-4}, .beta = discs},
    {.name = "zigzag_20", .about = "zigzag bands of 20 unknowns", .strength = {1e4}, .beta = zigzag_20},
    {.name = "zigzag_3", .about = "zigzag bands of 3 unknowns", .strength = {1e4}, .beta = zigzag_3},
    {.name = "net_17", .about = "net of channels, 1 in 17 unknowns", .strength = {1e4}, .beta = net_17},
    {.name = "net_37", .about = "net of channels, 2 in 37 unknowns", .strength = {1e4}, .beta = net_37},
    {.name = "diagonal", .about = "diagonal channels, 2 in 37 unknowns", .strength = {1e4}, .beta = diagonal},
    {.name = "winding_2", .about = "winding channels, 2 in 16 unknowns", .strength = {1e4}, .beta = winding_2},
    {.name = "winding_1", .about = "winding channels, 1 in 16 unknowns", .strength = {1e4}, .beta = winding_1},
    {.name = "lognormal", .about = "lognormal unknowns", .strength = {1, 2, 3}, .beta = lognormal},
    {.name = "waves", .about = "smooth beta", .strength = {0.9}, .beta = waves},
    {.name = "halves", .about = "strong along x in one half, along y in the other", .strength = {100, 1e3}, .face = halves},
    {.name = "stripes", .about = "the same in 16 stripes", .strength = {100, 1e3}, .face = stripes},
    {.name = "squares", .about = "the same in 64 squares, or 4 columns", .strength = {1e3}, .face = squares},
    {.name = "turning", .about = "strong direction that turns smoothly", .strength = {1e4}, .face = turning},
    {.name = "layers", .about = "layers over four decades, weak along the last axis", .strength = {0.01}, .face = layers},
    {.name = "stretched", .about = "all axes stretched by tanh", .strength = {10, 30, 1e3}, .stretches = 1},
    {.name = "channel", .about = "the last axis stretched by tanh", .strength = {30, 1e3}, .stretches = 2},
    {.name = "corner", .about = "sigma in a corner", .strength = {1e4}, .sigma = corner},
    {.name = "sigma_ball", .about = "sigma in a ball", .strength = {1e8}, .sigma = sigma_ball},
    {.name = "sigma_blocks", .about = "sigma in blocks of 37 unknowns", .strength = {1e8}, .sigma = sigma_blocks},
    {.name = "sigma_random", .about = "sigma in every second unknown, at random", .strength = {1e8}, .sigma = sigma_random},
    {.name = NULL}};

const medium_kind *medium_kind_of(const char *name)
{
  const medium_kind *k = medium_kinds;
  while (k->name && strcmp(k->name, name) != 0) k++;
  return k->name ? k : NULL;
}

/* m + 1 positions from 0 to 1, finest at the ends. ratio: largest over smallest width. */
static double *tanh_positions(size_t m, double ratio)
{
  double *x = malloc((m + 1) * sizeof *x), low = 1e-3, high = 20;
  for (int step = 0; step < 60 && x; step++) {
    const double d = (low + high) / 2;
    for (size_t i = 0; i <= m; i++) x[i] = 0.5 + 0.5 * tanh(d * (2 * (double)i / (double)m - 1)) / tanh(d);
    *((x[m / 2 + 1] - x[m / 2]) / (x[1] - x[0]) > ratio ? &high : &low) = d;
  }
  return x;
}

/* Values at unknowns (axis = -1), or on the faces across an axis. NULL: memory is short. */
static double *values_of(const medium_kind *k, const gmg_problem *p, double strength, int axis)
{
  const size_t n[3] = {p->n[0] + (axis == 0), p->n[1] + (axis == 1), p->n[2] + (axis == 2)}, count = n[0] * n[1] * n[2];
  double *values = malloc(count * sizeof *values);
  for (size_t c = 0; c < count && values; c++) {
    medium_place at = {.dim = p->dim, .i = {c % n[0], c / n[0] % n[1], c / (n[0] * n[1])}};
    for (int b = 0; b < 3; b++) at.x[b] = ((double)at.i[b] + (b == axis ? 0 : 0.5)) / (double)p->n[b];
    values[c] = axis >= 0 ? k->face(&at, strength, axis) : k->beta ? k->beta(&at, strength) : k->sigma(&at, strength);
  }
  return values;
}

static int stretch(const medium_kind *k, double strength, medium *m)
{
  const int first = k->stretches == 1 ? 0 : m->p.dim - 1;
  for (int a = 0; a < first; a++) m->p.bc[a][0] = m->p.bc[a][1] = GMG_PERIODIC;
  if (k->stretches == 2) m->p.bc[first][0] = m->p.bc[first][1] = GMG_NEUMANN;
  gmg_problem_set_box(&m->p, NULL);
  for (int a = first; a < m->p.dim; a++) {
    const size_t walls = m->p.centering == GMG_CELL ? 0 : k->stretches == 1 ? 1 : (size_t)-1;
    m->p.coord[a] = m->coord[a] = tanh_positions(m->p.n[a] + walls, strength);
    if (!m->coord[a]) return 0;
  }
  return 1;
}

int medium_make(const medium_kind *k, int dim, size_t n, double strength, gmg_centering centering, medium *m)
{
  const size_t sizes[3] = {n, n, n};
  *m = (medium){.p = gmg_problem_default(dim, sizes)};
  m->p.centering = centering;
  gmg_problem_set_box(&m->p, NULL);
  if (k->stretches) return stretch(k, strength, m);
  if (k->beta) m->p.beta = m->beta = values_of(k, &m->p, strength, -1);
  if (k->sigma) m->p.sigma = m->sigma = values_of(k, &m->p, strength, -1);
  if (!k->face) return m->beta || m->sigma;
  for (int a = 0; a < dim; a++)
    if (!(m->p.beta_face[a] = m->face[a] = values_of(k, &m->p, strength, a))) return 0;
  return 1;
}

void medium_free(medium *m)
{
  free(m->beta);
  free(m->sigma);
  for (int a = 0; a < 3; a++) free(m->face[a]), free(m->coord[a]);
}
