/* The common part of the demo programs: options, grid positions and fields, the table of cycles, reports as JSON, fields as
 * HDF5. A program declares a demo_program, reads its options, and gets a problem and parameters for gmg.
 *
 * Functions that can fail return 0 on success and an exit code otherwise, after a message on stderr: 1 for a run that
 * failed, 2 for an invalid command line. */
#ifndef GMG_DEMO_H
#define GMG_DEMO_H

#include "gmg.h"

#include <stddef.h>

struct cJSON;

/* The unknowns that a process holds, as a box of the grid (ranks.h). */
typedef struct demo_box {
  size_t first[3], n[3];
} demo_box;

/* --- words and values of the command line (parse.c) --- */

typedef struct demo_word {
  const char *text; /* NULL ends a list */
  int value;
} demo_word;

extern const demo_word demo_type_words[], demo_centering_words[], demo_bc_words[];
extern const demo_word demo_local_words[], demo_block_order_words[], demo_assignment_words[], demo_cycle_words[], demo_accel_words[],
    demo_precision_words[];
extern const demo_word demo_direct_words[], demo_coarse_words[], demo_coarsening_words[], demo_halos_words[], demo_restriction_words[], demo_line_axes_words[], demo_rhs_words[], demo_guess_words[], demo_operator_words[];

enum { DEMO_SMOOTH, DEMO_RANDOM, DEMO_ZERO };

/* Up to three values, one per axis; a single value is for all axes. */
typedef struct demo_sizes {
  int count;
  size_t value[3];
} demo_sizes;

typedef struct demo_reals {
  int count;
  double value[3];
} demo_reals;

/* Where to run. */
enum { DEMO_BEST, DEMO_HOST, DEMO_CUDA };

typedef struct demo_device {
  int kind, number; /* of a CUDA device */
} demo_device;

/* Entries of a stencil, axis 0 fastest. */
typedef struct demo_entries {
  int count; /* 3^dim, or 0: none */
  double value[27];
} demo_entries;

/* Stencils with a name. */
enum { DEMO_NO_OPERATOR, DEMO_Q1, DEMO_FV1, DEMO_FV2, DEMO_FV3, DEMO_27_POINTS };

typedef struct demo_walls {
  int count;
  int kind[3][2];
} demo_walls;

/* Parsers are strict: the whole text must be the value. They return 1 on success. */
int demo_parse_word(const demo_word *words, const char *text, size_t length, int *value);
int demo_parse_int(const char *text, long least, long most, int *value);
int demo_parse_seed(const char *text, unsigned long *value);
int demo_parse_real(const char *text, double *value);
int demo_parse_sizes(const char *text, size_t least, demo_sizes *sizes);
int demo_parse_lengths(const char *text, demo_reals *reals);
int demo_parse_walls(const char *text, demo_walls *walls);
int demo_parse_entries(const char *text, demo_entries *entries); /* 3, 9 or 27 numbers, separated by commas */
int demo_parse_device(const char *text, demo_device *device);   /* host, cuda or cuda:N */
/* Whether a file can be written at this path. Called before the computation. Does not change an existing file. */
int demo_can_write(const char *path);
int demo_parse_pair(const char *text, double pair[2]);        /* A:B, reals */
int demo_parse_range(const char *text, int range[2]);         /* A:B, whole numbers, A <= B */
int demo_parse_place(const char *text, int place[2]);         /* X:Y, whole numbers */
const char *demo_word_of(const demo_word *words, int value);  /* "?" if there is none */

/* --- options (options.c) --- */

/* Groups of options; a program lists those that it uses. */
enum {
  DEMO_TAKES_RUN = 1,        /* threads, json, quiet, help */
  DEMO_TAKES_GRID = 2,       /* length, centering, bc, robin, type */
  DEMO_TAKES_SHIFT = 4,
  DEMO_TAKES_METHOD = 8,     /* cycle, acceleration, everything about smoothing except the smoother's name */
  DEMO_TAKES_SMOOTHER = 16,  /* smoother, preset */
  DEMO_TAKES_RHS = 32,
  DEMO_TAKES_GUESS = 64,
  DEMO_TAKES_LIMIT = 128,    /* max-cycles */
  DEMO_TAKES_OUTPUT = 256,
  DEMO_TAKES_ORDER = 512,
  DEMO_TAKES_SHIFTS = 1024,
  DEMO_TAKES_REPEATS = 2048, /* cycles, runs */
  DEMO_TAKES_SIZE = 4096,    /* dim, n */
  DEMO_TAKES_STEPS = 8192,
  DEMO_TAKES_FLOW = 16384,   /* walls, density-ratio, viscosity, time */
  DEMO_TAKES_CONTRAST = 32768,
  DEMO_TAKES_SLOPE = 65536,
  DEMO_TAKES_DEVICE = 131072, /* without it a program runs on the host */
  DEMO_TAKES_TUNING = 262144, /* seconds */
  DEMO_TAKES_SPHERE = 524288, /* depth, radius, density */
  DEMO_TAKES_STENCIL = 2097152, /* entries, file, operator; length, bc, type */
  DEMO_TAKES_MEDIUM = 4194304,  /* medium, strength; centering, type */
  DEMO_TAKES_RANKS = 8388608,   /* cut; other programs refuse several processes */
  DEMO_TAKES_IMAGES = 1048576 /* source, target, mask, at, mixed, result, save */
};

enum { DEMO_NOWHERE = -2147483647 };

typedef struct demo_program {
  const char *name;
  const char *summary; /* for --help */
  unsigned takes;      /* DEMO_TAKES_* bits */
  int rhs, dim, n;     /* defaults: DEMO_SMOOTH or DEMO_RANDOM; axes and unknowns along each, 0: 3 and 64 */
} demo_program;

typedef struct demo_options {
  const char *program;
  gmg_problem problem;
  gmg_params params;
  int dim, threads, quiet, rhs, guess, order, cycles, runs, steps, help;
  int shifts[2]; /* decades */
  double robin[2];
  int closed; /* --walls */
  double density_ratio, viscosity, time, contrast, slope, seconds;
  double depth, radius, density;
  demo_sizes n, block, cut;
  demo_reals length;
  demo_walls walls;
  demo_entries entries;
  const char *file; /* of entries */
  int operator;
  const char *medium; /* NULL: none */
  double strength;    /* 0: the first of the gallery */
  const char *json, *output;
  const char *source, *target, *mask, *result, *save;
  int at[2], mixed; /* at: DEMO_NOWHERE if not given */
  demo_device device;     /* after demo_context_create(): DEMO_HOST or DEMO_CUDA */
  char device_name[256];  /* of the device, or "host"; set by demo_context_create() */
} demo_options;

/* Reads the command line into o. Returns -1 if the program shall continue, otherwise its exit code (0 after --help). */
int demo_options_read(int argc, char **argv, const demo_program *about, demo_options *o);

/* Sets one option of options read before, as the command line would, also one that the program does not take. Returns 1 on success.
   */
int demo_options_set(demo_options *o, const char *name, const char *value);

/* --- running (report.c) --- */

/* Prints `program: status text: context's text` for anything but GMG_OK. Returns 0 or 1. */
int demo_check(const demo_options *o, const gmg_context *context, gmg_status status);
enum { DEMO_LONGEST_FAILURE = 512 };
int demo_fail(const demo_options *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *demo_last_failure(void); /* [DEMO_LONGEST_FAILURE] the last message of demo_fail() */
double demo_now(void); /* seconds of a clock that only goes forward */
/* Whether `fields` fields of the program fit into memory. For programs that create them before the plan, which reads coefficients.
   */
int demo_room(const demo_options *o, const gmg_problem *problem, int fields);
/* Whether the planned solver and `fields` fields of the program fit into memory. */
int demo_room_of(const demo_options *o, const gmg_problem *problem, int fields, const gmg_plan_info *plan);
/* gmg_plan() and demo_room_of(), with messages about errors. */
int demo_plan(const demo_options *o, gmg_context *context, const gmg_problem *problem, const gmg_params *params, int fields,
              gmg_plan_info *plan);
void demo_print_header(const demo_options *o, const gmg_problem *problem, const gmg_plan_info *plan);

/* The table of cycles. Put into params.monitor and params.monitor_data. */
typedef struct demo_table {
  double first, before;
} demo_table;
gmg_monitor demo_table_row;

/* Last line for people; exit code of the outcome. */
int demo_print_outcome(const demo_options *o, const gmg_context *context, const gmg_report *report);

/* --- where it runs (place.c) --- */

/* Creates the context for --device. By default it is on a CUDA device if one can be used. Prints which it is. */
int demo_context_create(demo_options *o, gmg_context **context);
const char *demo_why_no_device(gmg_status status); /* the reason why a context on a device could not be created */
int demo_use_device(demo_options *o);              /* makes it the current one, for fields; 1 on success */

/* A field in host memory, where the program fills and reads it, and its twin where the solver runs; on the host one and the same.
   */
typedef struct demo_array {
  void *here, *there;
  size_t bytes;
} demo_array;

/* Zeros, of the shape and type of a problem's fields. Returns 1 on success; destroy it either way. */
int demo_array_create(const demo_options *o, const gmg_problem *shape, demo_array *array);
void demo_array_destroy(demo_array *array);
int demo_array_zero(const demo_options *o, const demo_array *array);  /* only in the context's memory */
int demo_array_send(const demo_options *o, const demo_array *array);  /* from host memory to the context's */
int demo_array_fetch(const demo_options *o, const demo_array *array); /* from the context's memory to the host's */

/* --- media of the gallery (medium.c) --- */

/* The arrays of --medium. */
typedef struct demo_medium {
  const char *about, *shows; /* what the medium is; what the picture shows */
  void *picture;             /* a field in host memory */
  demo_array beta, face[3], sigma;
  double *coord[3];
} demo_medium;

/* Makes --medium the problem of the options, which borrows m's arrays. Does nothing without --medium. Returns 0 or an exit code;
   destroy m either way, after the solver. m starts with zeros. */
int demo_medium_take(demo_options *o, demo_medium *m);
void demo_medium_destroy(demo_medium *m);
void demo_medium_list(void); /* prints the gallery */

/* --- one solve (once.c) --- */

/* Solves the problem of the options, f by --rhs, with the table of cycles, the report and the fields. medium: shown beside u and f; NULL:
   none. Returns an exit code. */
int demo_solve_once(const demo_options *o, gmg_context *context, const demo_medium *medium);

/* --- JSON (json.c) --- */

const char *demo_status_name(gmg_status status); /* "GMG_OK", ... */
/* Text of the last solve, never empty. */
const char *demo_message(const gmg_context *context, gmg_status status);
/* An object with program, version, device, threads, problem, params and (unless NULL) plan; NULL when out of memory. */
struct cJSON *demo_json_start(const demo_options *o, const gmg_context *context, const gmg_problem *problem,
                              const gmg_plan_info *plan);
/* Adds a report's fields under their own names. Returns 1 on success, as do the next two. */
int demo_json_report(struct cJSON *to, const gmg_report *report, const char *message);
int demo_json_numbers(struct cJSON *to, const char *name, const double *value, size_t count);
int demo_json_sizes(struct cJSON *to, const char *name, const size_t *value, size_t count);
/* The whole JSON file of one solve. Does nothing without --json. */
int demo_json_write_report(const demo_options *o, const gmg_context *context, const gmg_problem *problem,
                           const gmg_plan_info *plan, const gmg_report *report);
/* Writes to o->json and frees root. complete: 0 if something could not be added. */
int demo_json_write(const demo_options *o, struct cJSON *root, int complete);

/* --- grid and fields (grid.c) --- */

size_t demo_cells(const gmg_problem *problem);
int demo_wall_has_unknown(const gmg_problem *problem, int axis, int side);
size_t demo_intervals(const gmg_problem *problem, int axis); /* mesh widths in the axis' length */
double demo_length(const gmg_problem *problem, int axis);
double demo_position(const gmg_problem *problem, int axis, size_t i);
double demo_volume(const gmg_problem *problem, int axis, size_t i);

/* Fields of --rhs (random values, or a smooth periodic bump) and --guess (zero, or other random values). */
void demo_fill_rhs(const demo_options *o, const gmg_problem *problem, void *f);
void demo_fill_guess(const demo_options *o, const gmg_problem *problem, void *u);
void *demo_field_create(const gmg_problem *problem); /* zeros of the problem's type; free() it */
/* Random values, uniform in -0.5..0.5, of the unknowns of a box; NULL: of all. Those of an unknown are the same in every box. */
void demo_field_random(const gmg_problem *problem, const demo_box *box, unsigned long seed, void *field);
/* Vectors of n doubles, for the methods that gmg is set beside: <x, y>; y = s y + a x. */
double demo_dot(size_t n, const double *x, const double *y);
void demo_combine(size_t n, double s, double *y, double a, const double *x);
double demo_get(gmg_type type, const void *field, size_t i);
void demo_set(gmg_type type, void *field, size_t i, double value);

/* --- HDF5 and XDMF (fields.c) --- */

typedef struct demo_named_field {
  const char *name;
  const void *data; /* NULL: left out */
} demo_named_field;

/* Writes o->output and the XDMF file beside it. */
int demo_fields_write(const demo_options *o, const gmg_problem *problem, const demo_named_field *field, size_t count);
/* demo_fields_write() for fields of which each process has a box. Called by all processes. */
int demo_fields_write_boxes(const demo_options *o, const gmg_problem *problem, const demo_box *mine, const demo_named_field *field,
                            size_t count);

#endif
