/* Seamless cloning: inserts a part of one image into another without a visible seam (Perez, Gangnet, Blake 2003, Poisson image
 * editing). The result has the source's differences between adjacent pixels, and the target's values on the border of the part. So
 * for every pixel p inside and its neighbours q in the target, in each colour,
 *
 *   sum over q of (u_p - u_q) = sum over q of v_pq,   u_q = target outside,   v_pq = source_p - source_q
 *
 * (--mixed: or the target's difference, if that is larger). This is Poisson's equation for w = u - target on the box around the
 * part, on cells of width 1, without flux through the edges of the target. gmg has walls only at the sides of a box. So outside the
 * part a large sigma, PENALTY, keeps w near 0. At most 4 / PENALTY of a jump remains there: with 1e7 a fortieth of a grey level of
 * 16 bits. The number of iterations does not depend on PENALTY: with flexible CG it is 5 to 11 for 1e4 to 1e10, for masks of single
 * random pixels, a checkerboard, and a disc cut in two by a line. The alternative is one equation for the whole target, with the
 * source's differences inside and the target's own outside. It needs no sigma, but changes pixels outside, by up to 31 of 255
 * levels in the images drawn here. Finally the program measures the change outside and the residual of the equation inside. It
 * fails if either exceeds half a grey level. */
#include "image.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const demo_program about = {
    "clone",
    "Clones a part of one PNG image into another without a seam, by one Poisson equation a colour. Without --source and --target "
    "it draws two of its own.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_METHOD | DEMO_TAKES_SMOOTHER | DEMO_TAKES_LIMIT | DEMO_TAKES_IMAGES,
    DEMO_SMOOTH, 2, 64};

static const double PENALTY = 1e7;
static const char *const COLOUR[] = {"red", "green", "blue"};

typedef struct run {
  const demo_options *o;
  gmg_context *context;
  gmg_problem problem; /* cells of the box */
  gmg_plan_info plan;
  gmg_solver *solver;
  image source, target, pasted, blended;
  unsigned char *inside;    /* of target pixels: cloned */
  int at[2];                /* the source's corner in the target */
  size_t corner[2];         /* of the box in the target */
  size_t pixels, clipped;   /* cloned; values beyond white or black */
  demo_array sigma, f, w;
  double leak, defect;      /* in grey levels: largest change outside, largest residual inside */
  double seconds;
  cJSON *solves;            /* NULL without --json */
  int complete;
} run;

/* --- pixels and their differences --- */

static double levels(const run *r) { return r->target.depth == 16 ? 65535 : 255; }

static int in_source(const run *r, const long p[2])
{
  const long i = p[0] - r->at[0], j = p[1] - r->at[1];
  return i >= 0 && j >= 0 && i < (long)r->source.width && j < (long)r->source.height;
}

static double source_at(const run *r, int plane, const long p[2])
{
  return r->source.plane[plane][(size_t)(p[1] - r->at[1]) * r->source.width + (size_t)(p[0] - r->at[0])];
}

static int in_target(const run *r, const long p[2])
{
  return p[0] >= 0 && p[1] >= 0 && p[0] < (long)r->target.width && p[1] < (long)r->target.height;
}

/* The index of a pixel of the target. */
static size_t number(const run *r, const long p[2]) { return (size_t)p[1] * r->target.width + (size_t)p[0]; }

static const long BESIDE[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

/* v between a pixel and its neighbour. Beyond the edges of the source it is the target's difference. */
static double guidance(const run *r, int plane, const long p[2], const long q[2])
{
  const double t = r->target.plane[plane][number(r, p)] - r->target.plane[plane][number(r, q)];
  if (!in_source(r, q)) return t;
  const double s = source_at(r, plane, p) - source_at(r, plane, q);
  return r->o->mixed && fabs(t) > fabs(s) ? t : s;
}

/* Sum over the neighbours of v minus the difference of `of`, an image of the target's size. */
static double imbalance(const run *r, const image *of, int plane, const long p[2])
{
  double sum = 0;
  for (int b = 0; b < 4; b++) {
    const long q[2] = {p[0] + BESIDE[b][0], p[1] + BESIDE[b][1]};
    if (in_target(r, q)) sum += guidance(r, plane, p, q) - (of->plane[plane][number(r, p)] - of->plane[plane][number(r, q)]);
  }
  return sum;
}

/* The pixel of the target that corresponds to a cell of the box. */
static void pixel_of(const run *r, size_t cell, long p[2])
{
  p[0] = (long)(r->corner[0] + cell % r->problem.n[0]);
  p[1] = (long)(r->corner[1] + cell / r->problem.n[0]);
}

/* --- input --- */

static int draw(run *r)
{
  if (!(demo_scene_landscape(&r->target) & demo_scene_balloon(&r->source)))
    return demo_fail(r->o, "out of memory: two drawn images");
  for (int a = 0; a < 2; a++) r->at[a] = r->o->at[0] == DEMO_NOWHERE ? demo_scene_place[a] : r->o->at[a];
  return 0;
}

static int read_files(run *r, image *mask)
{
  const demo_options *o = r->o;
  if (demo_image_read(o, "--source", o->source, &r->source) || demo_image_read(o, "--target", o->target, &r->target)) return 1;
  for (int a = 0; a < 2; a++) r->at[a] = o->at[0] == DEMO_NOWHERE ? 0 : o->at[a];
  if (!o->mask) return 0;
  if (demo_image_read(o, "--mask", o->mask, mask)) return 1;
  if (mask->width == r->source.width && mask->height == r->source.height) return 0;
  return demo_fail(o, "--mask %s: %zu x %zu pixels, but the source has %zu x %zu", o->mask, mask->width, mask->height, r->source.width,
                   r->source.height);
}

static int is_cloned(const run *r, const image *mask, size_t i)
{
  if (!mask->width) return r->source.plane[ALPHA][i] >= 0.5;
  return mask->plane[RED][i] + mask->plane[GREEN][i] + mask->plane[BLUE][i] >= 1.5;
}

/* Marks the pixels to clone, and sets the box around them, with a ring of pixels that keep their values if they exist. */
static int mark(run *r, const image *mask)
{
  long low[2] = {(long)r->target.width, (long)r->target.height}, high[2] = {-1, -1};
  size_t masked = 0;
  r->inside = calloc(r->target.width * r->target.height, 1);
  if (!r->inside) return demo_fail(r->o, "out of memory: a mask of %zu pixels", r->target.width * r->target.height);
  for (size_t i = 0; i < r->source.width * r->source.height; i++) {
    const long p[2] = {(long)(i % r->source.width) + r->at[0], (long)(i / r->source.width) + r->at[1]};
    if (!is_cloned(r, mask, i)) continue;
    masked++;
    if (!in_target(r, p)) continue;
    r->inside[number(r, p)] = 1, r->pixels++;
    for (int a = 0; a < 2; a++) low[a] = p[a] < low[a] ? p[a] : low[a], high[a] = p[a] > high[a] ? p[a] : high[a];
  }
  const char *what = r->o->mask ? "--mask" : "--source", *path = r->o->mask ? r->o->mask : r->o->source ? r->o->source : "(drawn)";
  if (!masked) return demo_fail(r->o, "%s %s: no pixel is marked to be cloned", what, path);
  if (!r->pixels)
    return demo_fail(r->o, "--at %d:%d: nothing that is cloned lies in the target's %zu x %zu pixels", r->at[0], r->at[1],
                     r->target.width, r->target.height);
  if (r->pixels == r->target.width * r->target.height)
    return demo_fail(r->o, "%s %s: covers the whole target, which leaves no pixel to take colours from", what, path);
  size_t n[2];
  for (int a = 0; a < 2; a++) {
    const long last = (long)(a ? r->target.height : r->target.width) - 1, from = low[a] > 0 ? low[a] - 1 : 0;
    r->corner[a] = (size_t)from;
    n[a] = (size_t)((high[a] < last ? high[a] + 1 : last) - from + 1);
  }
  r->problem = gmg_problem_default(2, n);
  for (int face = 0; face < 4; face++) r->problem.bc[face / 2][face % 2] = GMG_NEUMANN;
  r->problem.h[0] = r->problem.h[1] = 1;
  return 0;
}

static int read_input(run *r)
{
  image mask = {0};
  const demo_options *o = r->o;
  if (!o->source != !o->target)
    return demo_fail(o, "--%s is missing: --source and --target go together", o->source ? "target" : "source"), 2;
  if (o->mask && !o->source) return demo_fail(o, "--mask %s needs --source and --target", o->mask), 2;
  const int failed = (o->source ? read_files(r, &mask) : draw(r)) || mark(r, &mask);
  demo_image_destroy(&mask);
  if (failed) return failed;
  if (!(demo_image_copy(&r->target, &r->pasted) & demo_image_copy(&r->target, &r->blended)))
    return demo_fail(o, "out of memory: two images");
  r->pasted.grey = r->blended.grey = r->target.grey && r->source.grey;
  return 0;
}

/* --- the equation --- */

static int create(run *r)
{
  gmg_problem *p = &r->problem;
  long at[2];
  const int ok = demo_array_create(r->o, p, &r->sigma) & demo_array_create(r->o, p, &r->f) & demo_array_create(r->o, p, &r->w);
  r->solves = r->o->json ? cJSON_CreateArray() : NULL;
  r->complete = !r->o->json || r->solves;
  if (!ok) return demo_fail(r->o, "out of memory: fields of %zu pixels", demo_cells(p));
  for (size_t i = 0; i < demo_cells(p); i++) {
    pixel_of(r, i, at);
    ((double *)r->sigma.here)[i] = r->inside[number(r, at)] ? 0 : PENALTY;
  }
  p->sigma = r->sigma.there;
  if (demo_array_send(r->o, &r->sigma) || demo_plan(r->o, r->context, p, &r->o->params, 3, &r->plan)) return 1;
  demo_print_header(r->o, p, &r->plan);
  return demo_check(r->o, r->context, gmg_solver_create(r->context, p, &r->o->params, &r->solver));
}

static int tell_solve(run *r, int plane, const gmg_report *report)
{
  const char *name = r->blended.grey ? "grey" : COLOUR[plane];
  r->seconds += report->seconds;
  if (!r->o->quiet) printf("%-5s  %3d cycles, factor %.3f, %.3g s\n", name, report->cycles, report->factor, report->seconds);
  fflush(stdout);
  cJSON *row = r->solves ? cJSON_CreateObject() : NULL;
  if (row)
    r->complete &= cJSON_AddStringToObject(row, "colour", name) &&
                   demo_json_report(row, report, demo_message(r->context, report->status));
  if (r->solves && (!row || !cJSON_AddItemToArray(r->solves, row))) r->complete = 0, cJSON_Delete(row);
  return report->status == GMG_OK || report->status == GMG_STAGNATED ? 0 : demo_check(r->o, r->context, report->status);
}

/* Solves for one colour, stores it in the image, and checks it. */
static int blend(run *r, int plane)
{
  const size_t cells = demo_cells(&r->problem);
  double *f = r->f.here, *w = r->w.here, *pasted = r->pasted.plane[plane], *blended = r->blended.plane[plane];
  gmg_report report;
  long p[2];
  for (size_t i = 0; i < cells; i++) {
    pixel_of(r, i, p);
    f[i] = r->inside[number(r, p)] ? imbalance(r, &r->target, plane, p) : 0;
  }
  if (demo_array_send(r->o, &r->f) || demo_array_zero(r->o, &r->w)) return 1;
  const gmg_status status = gmg_solve(r->solver, r->f.there, r->w.there, &report);
  if (!gmg_status_is_outcome(status)) return demo_check(r->o, r->context, status);
  if (tell_solve(r, plane, &report) || demo_array_fetch(r->o, &r->w)) return 1;
  for (size_t i = 0; i < cells; i++) {
    pixel_of(r, i, p);
    const size_t k = number(r, p);
    if (!r->inside[k]) {
      r->leak = fmax(r->leak, levels(r) * fabs(w[i]));
      continue;
    }
    pasted[k] = source_at(r, plane, p);
    blended[k] += w[i];
    r->clipped += blended[k] < 0 || blended[k] > 1;
  }
  for (size_t i = 0; i < cells; i++) {
    pixel_of(r, i, p);
    if (r->inside[number(r, p)]) r->defect = fmax(r->defect, levels(r) * fabs(imbalance(r, &r->blended, plane, p)));
  }
  return 0;
}

/* A grey image has one plane to solve for. */
static int blend_all(run *r)
{
  const int planes = r->blended.grey ? 1 : 3;
  if (!r->o->quiet) putchar('\n');
  for (int plane = 0; plane < planes; plane++)
    if (blend(r, plane)) return 1;
  for (int plane = planes; plane < 3; plane++)
    for (size_t i = 0; i < r->target.width * r->target.height; i++) {
      r->pasted.plane[plane][i] = r->pasted.plane[0][i];
      r->blended.plane[plane][i] = r->blended.plane[0][i];
    }
  return 0;
}

/* --- output --- */

static int save(const run *r)
{
  const struct {
    const char *ending;
    const image *image;
  } rows[] = {{"target", &r->target}, {"source", &r->source}, {"pasted", &r->pasted}, {"blended", &r->blended}};
  char path[4096];
  int failed = r->o->result ? demo_image_write(r->o, "--result", r->o->result, &r->blended) : 0;
  for (size_t i = 0; r->o->save && i < sizeof rows / sizeof *rows && !failed; i++) {
    const int length = snprintf(path, sizeof path, "%s-%s.png", r->o->save, rows[i].ending);
    if (length >= (int)sizeof path) return demo_fail(r->o, "--save: a name of more than %zu characters", sizeof path);
    failed = demo_image_write(r->o, "--save", path, rows[i].image);
  }
  return failed;
}

static int write_json(run *r)
{
  const demo_options *o = r->o;
  const size_t corner[2] = {r->corner[0], r->corner[1]};
  if (!o->json) return 0;
  cJSON *root = demo_json_start(o, r->context, &r->problem, &r->plan);
  int ok = root && r->complete && cJSON_AddNumberToObject(root, "pixels", (double)r->pixels) &&
           cJSON_AddNumberToObject(root, "clipped", (double)r->clipped) && cJSON_AddNumberToObject(root, "penalty", PENALTY) &&
           cJSON_AddNumberToObject(root, "leak", r->leak) && cJSON_AddNumberToObject(root, "defect", r->defect) &&
           cJSON_AddBoolToObject(root, "mixed", o->mixed) && demo_json_sizes(root, "corner", corner, 2) &&
           cJSON_AddItemToObject(root, "solves", r->solves);
  if (ok) r->solves = NULL; /* owned by root from here on */
  return demo_json_write(o, root, ok);
}

static int simulate(run *r)
{
  const demo_options *o = r->o;
  if (create(r) || blend_all(r) || save(r) || write_json(r)) return 1;
  if (!o->quiet)
    printf("\noutside nothing would move by more than %.2g grey levels; inside the equation is off by %.2g\n%zu values beyond black "
           "or white\n", r->leak, r->defect, r->clipped);
  printf("%s: %zu pixels in %s, %.3g s\n", o->program, r->pixels, r->blended.grey ? "grey" : "three colours", r->seconds);
  if (r->leak > 0.5) return demo_fail(o, "pixels outside would move by %.3g grey levels", r->leak);
  if (r->defect > 0.5) return demo_fail(o, "the differences inside are off by %.3g grey levels", r->defect);
  return 0;
}

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  run r = {.o = &o};
  if (o.params.accel == GMG_ACCEL_AUTO) o.params.accel = GMG_ACCEL_FLEXIBLE_CG; /* sigma jumps along a border of any shape */
  code = read_input(&r);
  if (!code) code = demo_context_create(&o, &r.context);
  if (!code) code = simulate(&r);
  cJSON_Delete(r.solves);
  gmg_solver_destroy(r.solver);
  gmg_context_destroy(r.context);
  demo_array_destroy(&r.sigma), demo_array_destroy(&r.f), demo_array_destroy(&r.w);
  demo_image_destroy(&r.source), demo_image_destroy(&r.target), demo_image_destroy(&r.pasted), demo_image_destroy(&r.blended);
  free(r.inside);
  return code;
}
