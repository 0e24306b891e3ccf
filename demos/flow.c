/* The flow of demos/projection.c: fields with ghosts, time derivatives, density, divergence (flow.h). Loops run from the first cell
 * to the last, including the ghosts between the lines. The results there mean nothing, and demo_flow_fill_ghosts() overwrites them.
 * */
#include "flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GHOSTS = 2 }; /* on both sides; one more after the last cell, for its upper face */

static const double WAVE = 2 * 3.14159265358979323846; /* of the vortices, in the unit box */

flow demo_flow_start(const demo_options *o, const gmg_problem *grid)
{
  flow s = {.grid = *grid, .closed = o->closed, .viscosity = o->viscosity, .ratio = o->density_ratio};
  size_t stride = 1;
  for (int a = 0; a < 3; stride *= s.size[a], a++) {
    const int there = a < grid->dim;
    s.size[a] = there ? grid->n[a] + 2 * GHOSTS + 1 : 1;
    s.stride[a] = stride;
    if (there) s.first += GHOSTS * stride, s.last += (grid->n[a] - 1) * stride;
  }
  s.last += s.first;
  if (!s.closed) s.drift[0] = 1, s.drift[1] = 0.5; /* without drift, central differences would have no error in advection */
  else if (s.ratio != 1) s.gravity = 1;
  else s.lid = 1;
  return s;
}

static size_t whole(const flow *s) { return s->size[0] * s->size[1] * s->size[2]; }

int demo_flow_state_create(const flow *s, flow_state *q)
{
  int ok = 1;
  for (int i = 0; i < FLOW_FIELDS; i++)
    if (i < s->grid.dim || i == FLOW_DENSITY) ok &= (q->value[i] = calloc(whole(s), sizeof(double))) != NULL;
  return ok;
}

void demo_flow_state_destroy(flow_state *q)
{
  for (int i = 0; i < FLOW_FIELDS; i++) free(q->value[i]);
}

/* Sizes of a packed array: of the cells, or of the faces across an axis. Returns the number of entries. */
static size_t shape(const flow *s, int axis, size_t m[3])
{
  size_t count = 1;
  for (int a = 0; a < 3; count *= m[a], a++) m[a] = a < s->grid.dim ? s->grid.n[a] + (a == axis) : 1;
  return count;
}

/* The offset, in an array with ghosts, of entry i of a packed array with sizes m. Stores its indices in `at` unless NULL. */
static size_t place(const flow *s, const size_t m[3], size_t i, size_t at[3])
{
  const size_t index[3] = {i % m[0], i / m[0] % m[1], i / m[0] / m[1]};
  if (at) memcpy(at, index, sizeof index);
  return s->first + index[0] + index[1] * s->stride[1] + index[2] * s->stride[2];
}

/* --- ghosts and walls --- */

/* One line of n cells along an axis from its cell 0 on. Ghosts continue it periodically, or mirror it to
 * 2 wall + sign value. */
static void fill_line(double *q, size_t n, size_t step, int periodic, double sign, const double wall[2])
{
  for (size_t g = 1; g <= GHOSTS + 1; g++) {
    if (g <= GHOSTS) *(q - g * step) = periodic ? q[(n - g) * step] : 2 * wall[0] + sign * q[(g - 1) * step];
    q[(n - 1 + g) * step] = periodic ? q[(g - 1) * step] : 2 * wall[1] + sign * q[(n - g) * step];
  }
}

/* fill_line() for velocity along its own axis between walls: 0 on the first and the last face. */
static void fill_line_between(double *q, size_t n, size_t step)
{
  q[0] = q[n * step] = 0;
  for (size_t g = 1; g <= GHOSTS; g++) {
    *(q - g * step) = -q[g * step];
    q[(n + g) * step] = -q[(n - g) * step];
  }
}

void demo_flow_fill_ghosts(const flow *s, flow_state *q)
{
  for (int i = 0; i < FLOW_FIELDS; i++)
    for (int a = 0; a < s->grid.dim && q->value[i]; a++) {
      const size_t n = s->grid.n[a], step = s->stride[a];
      const double wall[2] = {0, i == 0 && a == 1 ? s->lid : 0};
      for (size_t line = 0; line < whole(s) / s->size[a]; line++) { /* including the lines of ghosts, for the corners */
        double *from = q->value[i] + line % step + line / step * step * s->size[a] + GHOSTS * step;
        if (s->closed && i == a) fill_line_between(from, n, step);
        else fill_line(from, n, step, !s->closed, i == FLOW_DENSITY ? 1 : -1, wall);
      }
    }
}

/* --- time derivatives --- */

/* The time derivative of component a on the face below cell c, from the momentum flux through the control volume of the face. */
static double acceleration(const flow *s, const flow_state *q, int a, size_t c)
{
  const double *u = q->value[a], *density = q->value[FLOW_DENSITY];
  const size_t own = s->stride[a];
  double carried = 0, friction = 0;
  for (int b = 0; b < s->grid.dim; b++) {
    const double *through = q->value[b], h = s->grid.h[b];
    const size_t step = s->stride[b];
    const double out = 0.25 * (through[c - own + step] + through[c + step]) * (u[c] + u[c + step]);
    const double in = 0.25 * (through[c - own] + through[c]) * (u[c - step] + u[c]);
    carried += (in - out) / h;
    friction += (u[c - step] - 2 * u[c] + u[c + step]) / (h * h);
  }
  return carried + 2 * s->viscosity * friction / (density[c - own] + density[c]) - (a == 1 ? s->gravity : 0);
}

static double minmod(double a, double b) { return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b; }

/* The density carried by velocity u through the face between q[-step] and q[0]. */
static double carried_density(const double *q, size_t step, double u)
{
  const double difference = *q - *(q - step);
  if (u > 0) return u * (*(q - step) + 0.5 * minmod(*(q - step) - *(q - 2 * step), difference));
  return u * (*q - 0.5 * minmod(difference, q[step] - *q));
}

static double density_change(const flow *s, const flow_state *q, size_t c)
{
  const double *density = q->value[FLOW_DENSITY];
  double sum = 0;
  for (int a = 0; a < s->grid.dim; a++) {
    const double *u = q->value[a];
    const size_t step = s->stride[a];
    const double in = carried_density(density + c, step, u[c]);
    const double out = carried_density(density + c + step, step, u[c + step]);
    sum += (in - out) / s->grid.h[a];
  }
  return sum;
}

void demo_flow_euler(const flow *s, double dt, const flow_state *from, flow_state *to)
{
  for (int a = 0; a < s->grid.dim; a++)
    for (size_t c = s->first; c <= s->last; c++) to->value[a][c] = from->value[a][c] + dt * acceleration(s, from, a, c);
  memcpy(to->value[FLOW_DENSITY], from->value[FLOW_DENSITY], whole(s) * sizeof(double));
  for (size_t c = s->first; c <= s->last && s->ratio != 1; c++)
    to->value[FLOW_DENSITY][c] += dt * density_change(s, from, c);
  demo_flow_fill_ghosts(s, to);
}

void demo_flow_average(const flow *s, flow_state *q, const flow_state *other)
{
  for (int i = 0; i < FLOW_FIELDS; i++)
    for (size_t c = 0; c < whole(s) && q->value[i]; c++) q->value[i][c] = 0.5 * (q->value[i][c] + other->value[i][c]);
}

/* Courant number 0.4, and half of the diffusive limit in the lighter fluid. */
double demo_flow_largest_step(const flow *s, const flow_state *q)
{
  double carried = 0, diffused = 0;
  for (int a = 0; a < s->grid.dim; a++) {
    double fastest = sqrt(s->gravity * s->grid.h[a]); /* the speed after falling through one cell */
    for (size_t c = s->first; c <= s->last; c++) fastest = fmax(fastest, fabs(q->value[a][c]));
    carried += fmax(fastest, s->lid) / s->grid.h[a];
    diffused += 2 * s->viscosity / (fmin(1, s->ratio) * s->grid.h[a] * s->grid.h[a]);
  }
  return fmin(0.4 / carried, 0.5 / diffused);
}

/* --- pressure --- */

flow_norm demo_flow_divergence(const flow *s, const flow_state *q, double *divergence)
{
  size_t m[3];
  const size_t cells = shape(s, -1, m);
  flow_norm norm = {0, 0};
  for (size_t i = 0; i < cells; i++) {
    const size_t c = place(s, m, i, NULL);
    double sum = 0;
    for (int a = 0; a < s->grid.dim; a++) sum += (q->value[a][c + s->stride[a]] - q->value[a][c]) / s->grid.h[a];
    divergence[i] = sum;
    norm.rms += sum * sum;
    norm.max = fmax(norm.max, fabs(sum));
  }
  norm.rms = sqrt(norm.rms / (double)cells);
  return norm;
}

/* One over the mean density of the two cells beside a face. */
void demo_flow_beta(const flow *s, const flow_state *q, double *const beta[3])
{
  const double *density = q->value[FLOW_DENSITY];
  for (int a = 0; a < s->grid.dim; a++) {
    size_t m[3];
    const size_t faces = shape(s, a, m);
    for (size_t i = 0; i < faces; i++) {
      const size_t c = place(s, m, i, NULL);
      beta[a][i] = 2 / (density[c - s->stride[a]] + density[c]);
    }
  }
}

void demo_flow_correct(const flow *s, flow_state *q, double dt, double *const flux[3])
{
  for (int a = 0; a < s->grid.dim; a++) {
    size_t m[3];
    const size_t faces = shape(s, a, m);
    for (size_t i = 0; i < faces; i++) q->value[a][place(s, m, i, NULL)] += dt * flux[a][i];
  }
  demo_flow_fill_ghosts(s, q);
}

/* --- initial values, exact solution, norms --- */

/* Component a of the vortices at x. */
static double vortex(const flow *s, double time, int a, const double x[3])
{
  const double kx = WAVE * (x[0] - s->drift[0] * time), ky = WAVE * (x[1] - s->drift[1] * time);
  const double decay = exp(-2 * s->viscosity * WAVE * WAVE * time);
  return s->drift[a] + decay * (a == 0 ? sin(kx) * cos(ky) : a == 1 ? -cos(kx) * sin(ky) : 0);
}

/* A ball a little above the middle, its surface smeared over a cell and a half. */
static double drop(const flow *s, const double x[3])
{
  double square = 0, h = 0;
  for (int a = 0; a < s->grid.dim; a++) square += pow(x[a] - (a == 1 ? 0.65 : 0.5), 2), h = fmax(h, s->grid.h[a]);
  return 1 + (s->ratio - 1) * fmin(1, fmax(0, 0.5 + (0.15 - sqrt(square)) / (1.5 * h)));
}

void demo_flow_set(const flow *s, double time, flow_state *q)
{
  for (int i = 0; i < FLOW_FIELDS; i++) {
    size_t m[3], at[3];
    const size_t count = shape(s, i, m);
    for (size_t e = 0; e < count && q->value[i]; e++) {
      const size_t c = place(s, m, e, at);
      double x[3];
      for (int a = 0; a < 3; a++) x[a] = ((double)at[a] + (a == i ? 0 : 0.5)) * s->grid.h[a];
      q->value[i][c] = i == FLOW_DENSITY ? drop(s, x) : s->closed ? 0 : vortex(s, time, i, x);
    }
  }
  demo_flow_fill_ghosts(s, q);
}

/* Mean over the box; a periodic or closed axis has as many faces as cells. */
double demo_flow_energy(const flow *s, const flow_state *q)
{
  const double *density = q->value[FLOW_DENSITY];
  size_t m[3];
  const size_t cells = shape(s, -1, m);
  double sum = 0;
  for (size_t i = 0; i < cells; i++) {
    const size_t c = place(s, m, i, NULL);
    for (int a = 0; a < s->grid.dim; a++)
      sum += 0.25 * (density[c - s->stride[a]] + density[c]) * q->value[a][c] * q->value[a][c];
  }
  return sum / (double)cells;
}

double demo_flow_exact_energy(const flow *s, double time)
{
  const double decay = exp(-2 * s->viscosity * WAVE * WAVE * time);
  return 0.5 * (s->drift[0] * s->drift[0] + s->drift[1] * s->drift[1]) + 0.25 * decay * decay;
}

flow_norm demo_flow_distance(const flow *s, const flow_state *q, const flow_state *other)
{
  size_t m[3];
  const size_t cells = shape(s, -1, m);
  flow_norm norm = {0, 0};
  for (size_t i = 0; i < cells; i++) {
    const size_t c = place(s, m, i, NULL);
    for (int a = 0; a < s->grid.dim; a++) {
      const double d = fabs(q->value[a][c] - other->value[a][c]);
      norm.rms += d * d;
      norm.max = fmax(norm.max, d);
    }
  }
  norm.rms = sqrt(norm.rms / (double)cells);
  return norm;
}

/* The speed of a wave of wavenumber k is too small by (k h)^2 / 6, relatively, and its decay rate by (k h)^2 / 12. */
double demo_flow_expected_error(const flow *s, double time)
{
  const double decay = exp(-2 * s->viscosity * WAVE * WAVE * time), h = fmax(s->grid.h[0], s->grid.h[1]);
  const double rate = WAVE * (s->drift[0] + s->drift[1]) + s->viscosity * WAVE * WAVE;
  return WAVE * h * WAVE * h / 6 * rate * time * decay;
}

void demo_flow_centre(const flow *s, const flow_state *q, int which, double *packed)
{
  size_t m[3];
  const size_t cells = shape(s, -1, m), step = which == FLOW_DENSITY ? 0 : s->stride[which];
  for (size_t i = 0; i < cells; i++) {
    const size_t c = place(s, m, i, NULL);
    packed[i] = 0.5 * (q->value[which][c] + q->value[which][c + step]);
  }
}

void demo_flow_vorticity(const flow *s, const flow_state *q, double *packed)
{
  const double *u = q->value[0], *v = q->value[1];
  const size_t x = s->stride[0], y = s->stride[1];
  size_t m[3];
  const size_t cells = shape(s, -1, m);
  for (size_t i = 0; i < cells; i++) {
    const size_t c = place(s, m, i, NULL), corner[4] = {c, c + x, c + y, c + x + y};
    packed[i] = 0;
    for (int k = 0; k < 4; k++) {
      const size_t e = corner[k];
      packed[i] += 0.25 * ((v[e] - v[e - x]) / s->grid.h[0] - (u[e] - u[e - y]) / s->grid.h[1]);
    }
  }
}
