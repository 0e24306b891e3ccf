/* The command line of the demos: one table gives every option's name, argument, help text and destination. --help and
 * the messages about bad values are made from it. */
#include "demo.h"
#include "gallery.h"
#include "ranks.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct row;
typedef int parser(const struct row *row, const char *text, void *to);

/* How a value is read, and the message if it is not valid. */
typedef struct kind {
  int argument; /* as getopt_long's has_arg */
  parser *parse;
  const char *expects;
  long least, most; /* of whole numbers */
} kind;

typedef struct row {
  const char *name, *argument, *help;
  unsigned group;
  const kind *kind;
  size_t to;              /* offset in demo_options */
  const demo_word *words; /* if the value is one of a list */
} row;

/* Values of enumerations are stored through pointers to int. */
_Static_assert(sizeof(gmg_bc) == sizeof(int) && sizeof(gmg_type) == sizeof(int), "enumerations are as large as int");

static int read_word(const row *r, const char *text, void *to)
{
  int value;
  if (!demo_parse_word(r->words, text, strlen(text), &value)) return 0;
  memcpy(to, &value, sizeof value);
  return 1;
}

static int read_smoother(const row *r, const char *text, void *to)
{
  (void)r;
  const gmg_smoother *smoother = gmg_smoother_by_name(text);
  memcpy(to, &smoother, sizeof smoother);
  return smoother != NULL;
}

/* Overrides the smoothing options before it. Those after it override the preset. */
static int read_preset(const row *r, const char *text, void *to)
{
  (void)r;
  demo_options *o = (demo_options *)to;
  if (gmg_params_set_preset(&o->params, text) != GMG_OK) return 0;
  o->block.count = 0;
  return 1;
}

static int read_int(const row *r, const char *text, void *to)
{
  return demo_parse_int(text, r->kind->least, r->kind->most, to);
}

/* Local sweeps of the asynchronous smoother, and the degree of the Chebyshev polynomial. */
static int read_local_sweeps(const row *r, const char *text, void *to)
{
  demo_options *o = (demo_options *)to;
  if (!read_int(r, text, &o->params.async.local_sweeps)) return 0;
  o->params.chebyshev_degree = o->params.async.local_sweeps;
  return 1;
}

/* For members of gmg_params whose 0 means automatic: 0 on the command line means none. */
static int read_steps(const row *r, const char *text, void *to)
{
  int count;
  if (!demo_parse_int(text, r->kind->least, r->kind->most, &count)) return 0;
  if (count == 0) count = GMG_NONE;
  memcpy(to, &count, sizeof count);
  return 1;
}

static int read_sizes(const row *r, const char *text, void *to)
{
  return demo_parse_sizes(text, (size_t)r->kind->least, to);
}

static int read_text(const row *r, const char *text, void *to)
{
  (void)r;
  memcpy(to, &text, sizeof text);
  return *text != 0;
}

static int read_medium(const row *r, const char *text, void *to)
{
  return (strcmp(text, "list") == 0 || medium_kind_of(text)) && read_text(r, text, to);
}

/* A flag is 1, or its optional value. */
static int read_flag(const row *r, const char *text, void *to)
{
  return demo_parse_int(text ? text : "1", r->kind->least, r->kind->most, to);
}

static int read_seed(const row *r, const char *text, void *to) { return (void)r, demo_parse_seed(text, to); }
static int read_real(const row *r, const char *text, void *to) { return (void)r, demo_parse_real(text, to); }

static int read_positive(const row *r, const char *text, void *to)
{
  double value;
  if (!demo_parse_real(text, &value) || !(value > r->kind->least)) return 0;
  memcpy(to, &value, sizeof value);
  return 1;
}

static int read_lengths(const row *r, const char *text, void *to) { return (void)r, demo_parse_lengths(text, to); }
static int read_entries(const row *r, const char *text, void *to) { return (void)r, demo_parse_entries(text, to); }
static int read_walls(const row *r, const char *text, void *to) { return (void)r, demo_parse_walls(text, to); }
static int read_device(const row *r, const char *text, void *to) { return (void)r, demo_parse_device(text, to); }
static int read_pair(const row *r, const char *text, void *to) { return (void)r, demo_parse_pair(text, to); }
static int read_range(const row *r, const char *text, void *to) { return (void)r, demo_parse_range(text, to); }
static int read_place(const row *r, const char *text, void *to) { return (void)r, demo_parse_place(text, to); }

static const kind a_word = {required_argument, read_word, NULL, 0, 0};
static const kind a_smoother = {required_argument, read_smoother, NULL, 0, 0};
static const kind a_preset = {required_argument, read_preset, NULL, 0, 0};
static const kind an_int = {required_argument, read_int, "a whole number", INT_MIN, INT_MAX};
static const kind local_sweeps = {required_argument, read_local_sweeps, "a whole number", INT_MIN, INT_MAX};
static const kind steps = {required_argument, read_steps, "a whole number from 0 up", 0, INT_MAX};
static const kind a_dim = {required_argument, read_int, "1, 2 or 3", 1, 3};
static const kind a_count = {required_argument, read_int, "a whole number from 1 to 10000", 1, 10000};
static const kind threads = {required_argument, read_int, "a whole number from 0 to 4096", 0, 4096};
static const kind a_seed = {required_argument, read_seed, "a whole number from 0 up", 0, 0};
static const kind a_real = {required_argument, read_real, "a number", 0, 0};
static const kind a_positive = {required_argument, read_positive, "a number above 0", 0, 0};
static const kind a_slope = {required_argument, read_positive, "a number above -1", -1, 0};
static const kind sizes = {required_argument, read_sizes, "whole numbers from 1 up, as in 128 or 128x96x80", 1, 0};
static const kind parts = {required_argument, read_sizes, "whole numbers from 1 up, as in 2x2x1", 1, 0};
static const kind block = {required_argument, read_sizes, "whole numbers from 0 up, as in 64x16x16", 0, 0};
static const kind lengths = {required_argument, read_lengths, "positive numbers, as in 1 or 2x1x0.5", 0, 0};
static const kind walls = {required_argument, read_walls,
                           "up to three, separated by commas, of dirichlet, neumann, robin, periodic or LOWER:UPPER", 0,
                           0};
static const kind entries = {required_argument, read_entries, "3, 9 or 27 numbers, separated by commas, as in -1,2,-1", 0, 0};
static const kind a_pair = {required_argument, read_pair, "two numbers, as in 1:0.5", 0, 0};
static const kind a_range = {required_argument, read_range, "powers of ten from -300 to 300, as in -2:8", 0, 0};
static const kind a_place = {required_argument, read_place, "two whole numbers, as in 120:-8", 0, 0};
static const kind a_device = {required_argument, read_device, "host, cuda or cuda:N, N being the number of a device", 0, 0};
static const kind a_medium = {required_argument, read_medium, "a medium of the gallery; --medium list prints them", 0, 0};
static const kind a_file = {required_argument, read_text, "a file name", 0, 0};
static const kind a_flag = {no_argument, read_flag, NULL, 1, 1};
static const kind a_count_or_none = {optional_argument, read_flag, "nothing or a whole number from 0 up", 0, INT_MAX};

#define TO(field) offsetof(demo_options, field)

static const row table[] = {
    {"dim", "D", "number of axes (as many as --n or --length name)", DEMO_TAKES_SIZE, &a_dim, TO(dim), NULL},
    {"n", "NxNxN", "unknowns along each axis; one number: the same on all", DEMO_TAKES_SIZE, &sizes, TO(n), NULL},
    {"length", "LxLxL", "side lengths of the box (1)", DEMO_TAKES_GRID | DEMO_TAKES_STENCIL, &lengths, TO(length), NULL},
    {"centering", NULL, "where the unknowns sit (cell)", DEMO_TAKES_GRID | DEMO_TAKES_MEDIUM, &a_word, TO(problem.centering),
     demo_centering_words},
    {"bc", "KIND,...", "boundary: dirichlet, neumann, robin or periodic; one for all faces or one an axis, LOWER:UPPER "
     "where they differ (dirichlet)", DEMO_TAKES_GRID | DEMO_TAKES_STENCIL, &walls, TO(walls), NULL},
    {"robin", "A:B", "Robin walls: A u + B du/dn = g (1:1)", DEMO_TAKES_GRID, &a_pair, TO(robin), NULL},
    {"type", NULL, "real type of all fields (f64)", DEMO_TAKES_GRID | DEMO_TAKES_STENCIL | DEMO_TAKES_MEDIUM, &a_word, TO(problem.type),
     demo_type_words},
    {"medium", "KIND", "coefficients or mesh of the gallery, in the unit box; `list` prints all", DEMO_TAKES_MEDIUM, &a_medium,
     TO(medium), NULL},
    {"strength", "X", "strength of the medium (the first of its typical strengths)", DEMO_TAKES_MEDIUM, &a_positive, TO(strength), NULL},
    {"entries", "A,B,...", "3^D entries of the stencil, axis 0 fastest, mesh widths included", DEMO_TAKES_STENCIL, &entries,
     TO(entries), NULL},
    {"file", "NAME", "a file of such numbers, separated by white space", DEMO_TAKES_STENCIL, &a_file, TO(file), NULL},
    {"operator", NULL, "a stencil by its name (q1)", DEMO_TAKES_STENCIL, &a_word, TO(operator), demo_operator_words},
    {"shift", "S", "sigma of -Lap u + sigma u = f; below zero as long as the matrix is positive definite (0)", DEMO_TAKES_SHIFT, &a_real, TO(problem.shift), NULL},
    {"shifts", "A:B", "sweep sigma from 10^A to 10^B by decades (-2:8)", DEMO_TAKES_SHIFTS, &a_range, TO(shifts), NULL},
    {"rhs", NULL, "right-hand side: smooth (poisson: of a known solution), or uniform in -0.5..0.5 with zero walls",
     DEMO_TAKES_RHS, &a_word, TO(rhs), demo_rhs_words},
    {"guess", NULL, "initial guess (zero)", DEMO_TAKES_GUESS, &a_word, TO(guess), demo_guess_words},
    {"order", NULL, "solve on n/8, n/4, n/2 and n and print the observed order of the error", DEMO_TAKES_ORDER, &a_flag,
     TO(order), NULL},
    {"cycles", "K", "cycles of the runs that measure the factor (12)", DEMO_TAKES_REPEATS, &a_count, TO(cycles), NULL},
    {"runs", "K", "runs of each smoother that is not deterministic (5)", DEMO_TAKES_REPEATS, &a_count, TO(runs), NULL},
    {"steps", "K", "time steps (20)", DEMO_TAKES_STEPS, &a_count, TO(steps), NULL},
    {"walls", NULL, "a closed box with no-slip walls instead of a periodic one", DEMO_TAKES_FLOW, &a_flag, TO(closed), NULL},
    {"density-ratio", "R", "a drop R times as heavy as the fluid around it (1: none)", DEMO_TAKES_FLOW, &a_positive,
     TO(density_ratio), NULL},
    {"viscosity", "MU", "viscosity of both fluids (0.01)", DEMO_TAKES_FLOW, &a_positive, TO(viscosity), NULL},
    {"time", "T", "time to simulate (0.5)", DEMO_TAKES_FLOW, &a_positive, TO(time), NULL},
    {"contrast", "C", "mu is 10, 10 sqrt(C), 10, 10 C in the four layers (100)", DEMO_TAKES_CONTRAST, &a_positive,
     TO(contrast), NULL},
    {"slope", "S", "conductivity 1 + S (u - 1), S > -1 (2)", DEMO_TAKES_SLOPE, &a_slope, TO(slope), NULL},
    {"depth", "M", "depth of the sphere's centre below the surface, in metres (300)", DEMO_TAKES_SPHERE, &a_positive, TO(depth), NULL},
    {"radius", "M", "radius of the sphere, in metres (150)", DEMO_TAKES_SPHERE, &a_positive, TO(radius), NULL},
    {"density", "R", "density of the sphere beyond that of what surrounds it, in kg/m^3 (500)", DEMO_TAKES_SPHERE, &a_real,
     TO(density), NULL},
    {"source", "FILE.png", "what is cloned: where its alpha is half or more, unless --mask says where (a drawn balloon)", DEMO_TAKES_IMAGES,
     &a_file, TO(source), NULL},
    {"target", "FILE.png", "into what (a drawn landscape)", DEMO_TAKES_IMAGES, &a_file, TO(target), NULL},
    {"mask", "FILE.png", "as large as the source: what is at least half as bright as white is cloned", DEMO_TAKES_IMAGES, &a_file,
     TO(mask), NULL},
    {"at", "X:Y", "pixel of the target, from its upper left corner, for the source's upper left corner (0:0)", DEMO_TAKES_IMAGES,
     &a_place, TO(at), NULL},
    {"mixed", NULL, "of either image's differences the larger, so that the target shows through", DEMO_TAKES_IMAGES, &a_flag,
     TO(mixed), NULL},
    {"result", "FILE.png", "write the blended image to FILE.png", DEMO_TAKES_IMAGES, &a_file, TO(result), NULL},
    {"save", "NAME", "write NAME-target.png, NAME-source.png, NAME-pasted.png and NAME-blended.png", DEMO_TAKES_IMAGES, &a_file,
     TO(save), NULL},
    {"seconds", "T", "from then on no other variant is tried (20)", DEMO_TAKES_TUNING, &a_positive, TO(seconds), NULL},
    {"smoother", "NAME", "smoother (best)", DEMO_TAKES_SMOOTHER, &a_smoother, TO(params.smoother), NULL},
    {"preset", NULL, "parameters of smoothing under one name; options after it change them (default)", DEMO_TAKES_SMOOTHER, &a_preset, 0, NULL},
    {"pre", "K", "smoothing steps before the coarse correction (1)", DEMO_TAKES_METHOD, &steps, TO(params.pre), NULL},
    {"post", "K", "smoothing steps after it (1)", DEMO_TAKES_METHOD, &steps, TO(params.post), NULL},
    {"omega", "W", "relaxation weight; 0: best known (0)", DEMO_TAKES_METHOD, &a_real, TO(params.omega), NULL},
    {"local-sweeps", "K", "async: sweeps in a block; chebyshev: degree (2)", DEMO_TAKES_METHOD, &local_sweeps,
     0, NULL},
    {"local", NULL, "async: relaxation in a block (best: red-black)", DEMO_TAKES_METHOD, &a_word, TO(params.async.local),
     demo_local_words},
    {"overlap", "K", "async: layers relaxed around a block, 0, 1 or 2 (in 2D 2, otherwise 1)", DEMO_TAKES_METHOD, &steps,
     TO(params.async.overlap), NULL},
    {"passes", "K", "async: passes over all blocks in a step (1)", DEMO_TAKES_METHOD, &an_int, TO(params.async.passes), NULL},
    {"block", "NxNxN", "async: unknowns of a block; 0: chosen (0)", DEMO_TAKES_METHOD, &block, TO(block), NULL},
    {"block-order", NULL, "async: order of the blocks (best: natural)", DEMO_TAKES_METHOD, &a_word, TO(params.async.order),
     demo_block_order_words},
    {"seed", "K", "async: seed of the random order (1)", DEMO_TAKES_METHOD, &a_seed, TO(params.async.seed), NULL},
    {"assignment", NULL, "async: who relaxes which block (best)", DEMO_TAKES_METHOD, &a_word, TO(params.async.assignment),
     demo_assignment_words},
    {"in-flight", "K", "async: at most K blocks at work at once; 0: all that fit (0)", DEMO_TAKES_METHOD, &an_int,
     TO(params.async.in_flight), NULL},
    {"oversubscription", "K", "async, CUDA, dynamic: thread blocks for a multiprocessor; 0: all that fit (0)", DEMO_TAKES_METHOD,
     &an_int, TO(params.async.oversubscription), NULL},
    {"line-axes", NULL, "lines: axes along which lines are relaxed (best)", DEMO_TAKES_METHOD, &a_word, TO(params.line_axes),
     demo_line_axes_words},
    {"deterministic", NULL, "bitwise the same result every run", DEMO_TAKES_METHOD, &a_flag, TO(params.deterministic),
     NULL},
    {"symmetric", NULL, "symmetric cycle", DEMO_TAKES_METHOD, &a_flag, TO(params.symmetric), NULL},
    {"coarsening", NULL, "operators and transfers of coarse grids (best)", DEMO_TAKES_METHOD, &a_word, TO(params.coarsening),
     demo_coarsening_words},
    {"restriction", NULL, "restriction of residuals (best)", DEMO_TAKES_METHOD, &a_word, TO(params.restriction),
     demo_restriction_words},
    {"over-correction", "C", "factor of the coarse correction; 0: best known (0)", DEMO_TAKES_METHOD, &a_real,
     TO(params.over_correction), NULL},
    {"cycle", NULL, "multigrid cycle (best)", DEMO_TAKES_METHOD, &a_word, TO(params.cycle), demo_cycle_words},
    {"fmg", "K", "full multigrid start with K cycles a level (1)", DEMO_TAKES_METHOD, &a_count_or_none, TO(params.fmg),
     NULL},
    {"accel", NULL, "Krylov acceleration (best)", DEMO_TAKES_METHOD, &a_word, TO(params.accel), demo_accel_words},
    {"precision", NULL, "type of the corrections (best)", DEMO_TAKES_METHOD, &a_word, TO(params.precision),
     demo_precision_words},
    {"time-levels", NULL, "tell the time of each level on a device too", DEMO_TAKES_METHOD, &a_flag, TO(params.report_level_times), NULL},
    {"coarse", NULL, "solver of the coarsest grid (best: cg)", DEMO_TAKES_METHOD, &a_word, TO(params.coarse),
     demo_coarse_words},
    {"direct", NULL, "direct solve instead of cycles, for constant coefficients (never; tune: best)", DEMO_TAKES_METHOD, &a_word,
     TO(params.direct), demo_direct_words},
    {"max-levels", "K", "most levels; 0: as many as help (0)", DEMO_TAKES_METHOD, &an_int, TO(params.max_levels), NULL},
    {"rtol", "R", "stop at this residual over that of u = 0; 0: 1e-8 or, f32, 1e-5 (0)", DEMO_TAKES_METHOD, &a_real,
     TO(params.rtol), NULL},
    {"max-cycles", "K", "cycle limit (100)", DEMO_TAKES_LIMIT, &steps, TO(params.max_cycles), NULL},
    {"cut", "PxPxP", "in several processes: parts along each axis (chosen)", DEMO_TAKES_RANKS, &parts, TO(cut), NULL},
    {"halos", NULL, "in several processes: when values beside the parts are exchanged (best)", DEMO_TAKES_RANKS, &a_word,
     TO(params.halos), demo_halos_words},
    {"threads", "K", "host threads; 0: all cores (0)", DEMO_TAKES_RUN, &threads, TO(threads), NULL},
    {"device", "host|cuda[:N]", "where to run (a CUDA device where one can be used, else the host)", DEMO_TAKES_DEVICE,
     &a_device, TO(device), NULL},
    {"json", "FILE", "write the report to FILE as JSON", DEMO_TAKES_RUN, &a_file, TO(json), NULL},
    {"output", "FILE.h5", "write the fields to FILE.h5 (HDF5) and FILE.xdmf", DEMO_TAKES_OUTPUT, &a_file, TO(output),
     NULL},
    {"quiet", NULL, "print the last line only", DEMO_TAKES_RUN, &a_flag, TO(quiet), NULL},
    {"help", NULL, "print this and leave", DEMO_TAKES_RUN, &a_flag, TO(help), NULL},
};

enum { ROWS = sizeof table / sizeof *table, FIRST = 256 }; /* FIRST: beyond all characters, for getopt_long() */

static void append(char *text, size_t size, const char *more)
{
  const size_t used = strlen(text);
  snprintf(text + used, size - used, "%s", more);
}

/* The words that the option accepts, as "a<separator>b<separator>c"; empty if it has no list. */
static void list_words(const row *r, const char *separator, char *text, size_t size)
{
  text[0] = 0;
  for (const demo_word *w = r->words; w && w->text; w++) {
    if (w != r->words) append(text, size, separator);
    append(text, size, w->text);
  }
  for (int i = 0; r->kind == &a_smoother && gmg_smoother_name(i); i++) {
    if (i > 0) append(text, size, separator);
    append(text, size, gmg_smoother_name(i));
  }
  for (int i = 0; r->kind == &a_preset && gmg_preset_name(i); i++) {
    if (i > 0) append(text, size, separator);
    append(text, size, gmg_preset_name(i));
  }
}

static void print_row(const row *r)
{
  enum { COLUMN = 26, WIDTH = 100 };
  char left[320], words[256];
  list_words(r, "|", words, sizeof words);
  const char *argument = words[0] ? words : r->argument ? r->argument : "";
  const int optional = r->kind->argument == optional_argument;
  const char *before = optional ? "[=" : *argument ? " " : "", *after = optional ? "]" : "";
  snprintf(left, sizeof left, "  --%s%s%s%s", r->name, before, argument, after);
  int at = printf("%-*s", COLUMN, left);
  if (at > COLUMN) at = (printf("\n%*s", COLUMN, ""), COLUMN);
  for (const char *word = r->help; *word;) {
    const int length = (int)strcspn(word, " ");
    if (at + 1 + length > WIDTH) at = (printf("\n%*s", COLUMN, ""), COLUMN);
    at += printf(" %.*s", length, word);
    word += length + (word[length] == ' ');
  }
  putchar('\n');
}

static int print_help(const demo_program *about)
{
  printf("usage: %s [options]\n\n%s\n", about->name, about->summary);
  if (about->takes & DEMO_TAKES_SIZE)
    printf("Default: %d axes, %d unknowns along each, %s right-hand side.\n", about->dim ? about->dim : 3, about->n ? about->n : 64,
           demo_word_of(demo_rhs_words, about->rhs));
  printf("\noptions (defaults in parentheses):\n");
  for (int i = 0; i < ROWS; i++)
    if (table[i].group & about->takes) print_row(&table[i]);
  return 0;
}

static int bad_value(const demo_options *o, const row *r, const char *text)
{
  char words[256];
  list_words(r, ", ", words, sizeof words);
  fprintf(stderr, "%s: --%s '%s': expected %s%s\n", o->program, r->name, text, words[0] ? "one of " : "",
          words[0] ? words : r->kind->expects);
  return 2;
}

static int bad_count(const demo_options *o, const char *name, int count)
{
  fprintf(stderr, "%s: --%s gives %d values, but the problem has %d axes\n", o->program, name, count, o->problem.dim);
  return 2;
}

/* A cut must have as many parts as there are processes. */
static int bad_processes(const demo_options *o, unsigned takes)
{
  size_t parts = 1;
  const int processes = demo_ranks_started();
  for (int a = 0; a < o->cut.count; a++) parts *= o->cut.value[a];
  if (o->cut.count && o->cut.count != o->problem.dim) return bad_count(o, "cut", o->cut.count);
  if (processes > 1 && !(takes & DEMO_TAKES_RANKS)) demo_fail(o, "mpirun has started %d processes, but this program needs one", processes);
  else if (processes > 1 && demo_ranks() == 1) demo_fail(o, "mpirun has started %d processes, but gmg was built without MPI", processes);
  else if (o->cut.count && parts != (size_t)processes) demo_fail(o, "--cut: %zu parts, but %d process%s", parts, processes, processes > 1 ? "es" : "");
  else return -1;
  return 2;
}

/* Sets values that depend on several options. */
static int finish(demo_options *o)
{
  gmg_problem *p = &o->problem;
  const int counts[] = {o->n.count, o->length.count, o->walls.count, o->block.count};
  static const char *const names[] = {"n", "length", "bc", "block"};
  int named = 0;
  for (int i = 0; i < 3; i++)
    if (named <= 1) named = counts[i];
  p->dim = o->dim ? o->dim : named > 1 ? named : p->dim;
  for (int i = 0; i < 4; i++)
    if (counts[i] > 1 && counts[i] != p->dim) return bad_count(o, names[i], counts[i]);

  double length[3] = {1, 1, 1};
  for (int a = 0; a < 3; a++) {
    const size_t one_for_all = 0, axis = (size_t)a;
    p->n[a] = a >= p->dim ? 1 : o->n.value[o->n.count > 1 ? axis : one_for_all];
    if (o->block.count > 0) o->params.async.block[a] = o->block.value[o->block.count > 1 ? axis : one_for_all];
    length[a] = o->length.value[o->length.count > 1 ? axis : one_for_all];
    for (int side = 0; side < 2; side++) {
      p->bc[a][side] = (gmg_bc)o->walls.kind[o->walls.count > 1 ? axis : one_for_all][side];
      memcpy(p->robin[a][side], o->robin, sizeof o->robin);
    }
  }
  gmg_problem_set_box(p, length);
  if (o->json && !demo_can_write(o->json)) return demo_fail(o, "--json %s: could not be written", o->json);
  if (o->output && !demo_can_write(o->output)) return demo_fail(o, "--output %s: could not be written", o->output);
  if (o->device.kind != DEMO_CUDA || o->threads == 0) return -1;
  fprintf(stderr, "%s: --threads %d with --device cuda: threads are the host's\n", o->program, o->threads);
  return 2;
}

/* The demos show cycles, so a direct solve must be asked for, unless the fastest parameters are. */
static void set_defaults(const demo_program *about, demo_options *o)
{
  gmg_params params = gmg_params_default();
  if (!(about->takes & DEMO_TAKES_TUNING)) params.direct = GMG_DIRECT_NEVER;
  *o = (demo_options){.program = about->name,
                      .params = params,
                      .n = {1, {about->n ? (size_t)about->n : 64}},
                      .length = {1, {1}},
                      .walls = {1, {{GMG_DIRICHLET, GMG_DIRICHLET}}},
                      .robin = {1, 1},
                      .shifts = {-2, 8},
                      .cycles = 12,
                      .runs = 5,
                      .steps = 20,
                      .density_ratio = 1,
                      .viscosity = 0.01,
                      .time = 0.5,
                      .contrast = 100,
                      .slope = 2,
                      .seconds = 20,
                      .depth = 300,
                      .radius = 150,
                      .density = 500,
                      .at = {DEMO_NOWHERE, DEMO_NOWHERE},
                      .rhs = about->rhs,
                      .guess = DEMO_ZERO,
                      .device = {about->takes & DEMO_TAKES_DEVICE ? DEMO_BEST : DEMO_HOST, 0}};
  o->problem = gmg_problem_default(about->dim ? about->dim : 3, NULL);
}

/* Prints the error for an unknown option or a missing value, from what getopt_long() returned. */
static int bad_option(const demo_options *o, int returned, const char *text)
{
  const int length = (int)strcspn(text, "=");
  const char *why = returned == ':' ? "needs a value" : optopt >= FIRST ? "takes no value" : "is not an option here";
  fprintf(stderr, "%s: %.*s %s; see --help\n", o->program, length, text, why);
  return 2;
}

/* getopt_long() accepts unique abbreviations. They are refused here, because --shift must not mean --shifts. */
static int abbreviated(const char *text, const char *name)
{
  return strcspn(text, "=") != strlen(name) + 2;
}

int demo_options_set(demo_options *o, const char *name, const char *value)
{
  for (const row *r = table; r < table + ROWS; r++)
    if (strcmp(r->name, name) == 0) return r->kind->parse(r, value, (char *)o + r->to) && finish(o) < 0;
  return 0;
}

int demo_options_read(int argc, char **argv, const demo_program *about, demo_options *o)
{
  struct option options[ROWS + 1] = {{0}};
  for (int i = 0, used = 0; i < ROWS; i++)
    if (table[i].group & about->takes)
      options[used++] = (struct option){table[i].name, table[i].kind->argument, NULL, FIRST + i};
  set_defaults(about, o);
  opterr = 0;
  for (int c; (c = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
    const char *text = argv[optind - 1];
    if (c < FIRST) return bad_option(o, c, text);
    const row *r = &table[c - FIRST];
    if (optarg && optarg == text) text = argv[optind - 2];
    if (abbreviated(text, r->name)) return bad_option(o, '?', text);
    if (!r->kind->parse(r, optarg, (char *)o + r->to)) return bad_value(o, r, optarg);
  }
  if (o->help) return print_help(about);
  if (o->medium && strcmp(o->medium, "list") == 0) return demo_medium_list(), 0;
  if (optind < argc) {
    fprintf(stderr, "%s: '%s' is not an option; see --help\n", o->program, argv[optind]);
    return 2;
  }
  const int bad = finish(o);
  return bad >= 0 ? bad : bad_processes(o, about->takes);
}
