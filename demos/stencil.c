/* Box stencils: A u = f on vertices, for 3, 9 or 27 constant entries from the command line or a file, or for a named
 * stencil. Prints the stencil and the table of cycles. */
#include "demo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const demo_program about = {
    "stencil",
    "Solves A u = f on vertices, A being a box stencil: that of Q1 elements for -Lap u on the box, or entries given by --entries, "
    "--file or --operator. fv1, fv2, fv3: 9 entries as in three matrices from finite volumes (98, 99 and 99 unknowns along an "
    "axis there). 27: 26 in the centre, -1 around it. The number of entries says how many axes there are.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_STENCIL | DEMO_TAKES_SHIFT | DEMO_TAKES_METHOD |
        DEMO_TAKES_SMOOTHER | DEMO_TAKES_RHS | DEMO_TAKES_GUESS | DEMO_TAKES_LIMIT | DEMO_TAKES_OUTPUT,
    DEMO_RANDOM, 2, 99};

/* --- the stencil --- */

/* Numbers up to the end of the file. */
static int read_file(const demo_options *o, demo_entries *entries)
{
  char word[64];
  FILE *file = fopen(o->file, "r");
  int failed = 0;
  if (!file) return demo_fail(o, "--file %s: could not be read", o->file);
  for (entries->count = 0; !failed && fscanf(file, "%63s", word) == 1; entries->count++) {
    double value = 0;
    if (strlen(word) == 63 || !demo_parse_real(word, &value)) failed = demo_fail(o, "--file %s: '%s' is not a number", o->file, word);
    if (entries->count < 27) entries->value[entries->count] = value;
  }
  fclose(file);
  const int count = entries->count, whole = count == 3 || count == 9 || count == 27;
  return failed || whole ? failed : demo_fail(o, "--file %s: %d numbers: expected 3, 9 or 27", o->file, count);
}

/* Sets the centre, and the other entries by the number of axes along which they differ from it. */
static void fill(demo_entries *entries, int count, double centre, double beside_one, double beside_more)
{
  entries->count = count;
  for (int e = 0; e < count; e++) {
    const int beside = (e % 3 != 1) + (count > 3 && e / 3 % 3 != 1) + (count > 9 && e / 9 != 1);
    entries->value[e] = beside == 0 ? centre : beside == 1 ? beside_one : beside_more;
  }
}

/* Sets the entries from the options; none for Q1. */
static int take_entries(demo_options *o)
{
  const int named = (o->entries.count > 0) + (o->file != NULL) + (o->operator != DEMO_NO_OPERATOR);
  if (named > 1) return demo_fail(o, "--entries, --file, --operator: only one of them can name the stencil"), 2;
  if (o->file) return read_file(o, &o->entries);
  if (o->operator == DEMO_FV1 || o->operator == DEMO_FV2) fill(&o->entries, 9, 3.510152, -0.5, -0.25);
  if (o->operator == DEMO_FV3) fill(&o->entries, 9, 3, -0.5, -0.25);
  if (o->operator == DEMO_27_POINTS) fill(&o->entries, 27, 26, -1, -1);
  return 0;
}

/* Sets the dimension from the number of entries. Returns 0, or an exit code. */
static int take_axes(demo_options *o)
{
  static const char *const axes[] = {"1", "2", "3"};
  const int count = o->entries.count, dim = count == 27 ? 3 : count == 9 ? 2 : 1;
  if (count == 0 || o->problem.dim == dim) return 0;
  const int given = o->dim || o->n.count > 1 || o->length.count > 1 || o->walls.count > 1;
  if (given) return demo_fail(o, "%d entries are a stencil in %dD, but the problem has %d axes", count, dim, o->problem.dim), 2;
  return demo_options_set(o, "dim", axes[dim - 1]) ? 0 : 2;
}

static gmg_stencil make_stencil(const demo_options *o)
{
  if (o->entries.count == 0) return gmg_stencil_q1(o->problem.dim, o->problem.h, 0);
  gmg_stencil stencil = {.size = sizeof stencil};
  const int first = 13 - o->entries.count / 2; /* the unused ones stay 0 */
  memcpy(&stencil.entry[0][0][0] + first, o->entries.value, (size_t)o->entries.count * sizeof(double));
  return stencil;
}

static void print_stencil(const demo_options *o, const gmg_stencil *stencil)
{
  const int dim = o->problem.dim;
  const char *word = o->operator ? demo_word_of(demo_operator_words, o->operator) : o->entries.count > 0 ? "--entries" : "q1";
  double sum = 0;
  if (o->quiet) return;
  printf("stencil  %s, a row for each y%s:\n", o->file ? o->file : word, dim > 2 ? ", a block for each z" : "");
  for (int z = dim > 2 ? 0 : 1; z <= (dim > 2 ? 2 : 1); z++) {
    for (int y = dim > 1 ? 0 : 1; y <= (dim > 1 ? 2 : 1); y++) {
      for (int x = 0; x < 3; x++) {
        printf("  %12.6g", stencil->entry[z][y][x]);
        sum += stencil->entry[z][y][x];
      }
      putchar('\n');
    }
    if (dim > 2 && z < 2) putchar('\n');
  }
  printf("sum      %.6g\n\n", fabs(sum) < 1e-14 * stencil->entry[1][1][1] ? 0 : sum);
}

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  code = take_entries(&o);
  if (!code) code = take_axes(&o);
  if (code) return code;
  if (!demo_options_set(&o, "centering", "vertex")) return 2; /* this also sets the mesh widths */
  const gmg_stencil stencil = make_stencil(&o);
  o.problem.stencil = &stencil;
  gmg_context *context = NULL;
  code = demo_context_create(&o, &context);
  if (!code) {
    print_stencil(&o, &stencil);
    code = demo_solve_once(&o, context, NULL);
  }
  gmg_context_destroy(context);
  return code;
}
