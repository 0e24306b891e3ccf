/* Strict parsing of option values: the whole text must be the value. Also the words for the values of the library's
 * enumerations. JSON reports use the same words. */
#include "demo.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const demo_word demo_type_words[] = {{"f32", GMG_F32}, {"f64", GMG_F64}, {0}};
const demo_word demo_centering_words[] = {{"vertex", GMG_VERTEX}, {"cell", GMG_CELL}, {0}};
const demo_word demo_bc_words[] = {
    {"dirichlet", GMG_DIRICHLET}, {"neumann", GMG_NEUMANN}, {"robin", GMG_ROBIN}, {"periodic", GMG_PERIODIC}, {0}};
const demo_word demo_local_words[] = {
    {"best", GMG_LOCAL_AUTO}, {"red-black", GMG_LOCAL_RED_BLACK}, {"jacobi", GMG_LOCAL_JACOBI},
    {"gauss-seidel", GMG_LOCAL_GAUSS_SEIDEL}, {0}};
const demo_word demo_block_order_words[] = {
    {"best", GMG_ORDER_AUTO}, {"natural", GMG_ORDER_NATURAL}, {"two-colour", GMG_ORDER_TWO_COLOUR}, {"random", GMG_ORDER_RANDOM},
    {"backward", GMG_ORDER_BACKWARD}, {0}};
const demo_word demo_assignment_words[] = {
    {"best", GMG_ASSIGN_AUTO}, {"static", GMG_ASSIGN_STATIC}, {"dynamic", GMG_ASSIGN_DYNAMIC}, {0}};
const demo_word demo_cycle_words[] = {
    {"best", GMG_CYCLE_AUTO}, {"v", GMG_CYCLE_V}, {"w", GMG_CYCLE_W}, {"f", GMG_CYCLE_F}, {0}};
const demo_word demo_precision_words[] = {
    {"best", GMG_PRECISION_AUTO}, {"same", GMG_PRECISION_SAME}, {"mixed", GMG_PRECISION_MIXED}, {0}};
const demo_word demo_accel_words[] = {
    {"best", GMG_ACCEL_AUTO}, {"none", GMG_ACCEL_NONE}, {"cg", GMG_ACCEL_CG}, {"fcg", GMG_ACCEL_FLEXIBLE_CG}, {0}};
const demo_word demo_coarse_words[] = {{"best", GMG_COARSE_AUTO}, {"cg", GMG_COARSE_CG}, {"dense", GMG_COARSE_DENSE},
                                         {"tensor", GMG_COARSE_TENSOR}, {0}};
const demo_word demo_direct_words[] = {{"best", GMG_DIRECT_AUTO}, {"never", GMG_DIRECT_NEVER}, {"always", GMG_DIRECT_ALWAYS}, {0}};
const demo_word demo_line_axes_words[] = {{"best", 0}, {"x", 1}, {"y", 2}, {"z", 4}, {"xy", 3}, {"xz", 5}, {"yz", 6}, {"xyz", 7}, {NULL, 0}};
const demo_word demo_coarsening_words[] = {{"best", GMG_COARSENING_AUTO}, {"discretize", GMG_COARSENING_DISCRETIZE},
                                           {"black-box", GMG_COARSENING_BLACK_BOX}, {0}};
const demo_word demo_halos_words[] = {{"best", GMG_HALOS_AUTO}, {"exact", GMG_HALOS_EXACT}, {"async", GMG_HALOS_ASYNC}, {0}};
const demo_word demo_restriction_words[] = {
    {"best", GMG_RESTRICT_AUTO}, {"average", GMG_RESTRICT_AVERAGE}, {"adjoint", GMG_RESTRICT_ADJOINT}, {0}};
const demo_word demo_rhs_words[] = {{"smooth", DEMO_SMOOTH}, {"random", DEMO_RANDOM}, {0}};
const demo_word demo_guess_words[] = {{"zero", DEMO_ZERO}, {"random", DEMO_RANDOM}, {0}};

const demo_word demo_operator_words[] = {{"q1", DEMO_Q1}, {"fv1", DEMO_FV1}, {"fv2", DEMO_FV2}, {"fv3", DEMO_FV3},
                                         {"27", DEMO_27_POINTS}, {0}};

const char *demo_word_of(const demo_word *words, int value)
{
  for (; words->text; words++)
    if (words->value == value) return words->text;
  return "?";
}

int demo_parse_word(const demo_word *words, const char *text, size_t length, int *value)
{
  for (; words->text; words++)
    if (strlen(words->text) == length && memcmp(words->text, text, length) == 0) return *value = words->value, 1;
  return 0;
}

int demo_parse_int(const char *text, long least, long most, int *value)
{
  char *end;
  errno = 0;
  const long v = strtol(text, &end, 10);
  if (end == text || *end || errno || isspace((unsigned char)*text) || v < least || v > most) return 0;
  return *value = (int)v, 1;
}

int demo_parse_device(const char *text, demo_device *device)
{
  static const char cuda[] = "cuda:";
  const size_t length = sizeof cuda - 1;
  *device = (demo_device){strcmp(text, "host") == 0 ? DEMO_HOST : DEMO_CUDA, 0};
  if (device->kind == DEMO_HOST || strcmp(text, "cuda") == 0) return 1;
  return strncmp(text, cuda, length) == 0 && demo_parse_int(text + length, 0, INT_MAX, &device->number);
}

int demo_parse_seed(const char *text, unsigned long *value)
{
  char *end;
  errno = 0;
  const unsigned long v = strtoul(text, &end, 10);
  if (!isdigit((unsigned char)*text) || *end || errno) return 0; /* strtoul() accepts a minus sign */
  return *value = v, 1;
}

int demo_parse_real(const char *text, double *value)
{
  char *end;
  errno = 0;
  const double v = strtod(text, &end);
  const int overflow = errno == ERANGE && fabs(v) > 1;
  if (end == text || *end || overflow || !isfinite(v) || isspace((unsigned char)*text)) return 0;
  return *value = v, 1;
}

/* Copies *text up to the separator into `part` and moves on; *text becomes NULL after the last part. Returns 0 if
 * the part is empty or too long. */
static int next_part(const char **text, char separator, char part[64])
{
  const char *end = strchr(*text, separator);
  const size_t length = end ? (size_t)(end - *text) : strlen(*text);
  if (length == 0 || length > 63) return 0;
  memcpy(part, *text, length);
  part[length] = 0;
  *text = end ? end + 1 : NULL;
  return 1;
}

int demo_parse_sizes(const char *text, size_t least, demo_sizes *sizes)
{
  char part[64];
  sizes->count = 0;
  while (text) {
    unsigned long v;
    if (sizes->count == 3 || !next_part(&text, 'x', part) || !demo_parse_seed(part, &v) || v < least) return 0;
    sizes->value[sizes->count++] = v;
  }
  return 1;
}

int demo_parse_lengths(const char *text, demo_reals *reals)
{
  char part[64];
  reals->count = 0;
  while (text) {
    double v;
    if (reals->count == 3 || !next_part(&text, 'x', part) || !demo_parse_real(part, &v) || !(v > 0)) return 0;
    reals->value[reals->count++] = v;
  }
  return 1;
}

int demo_parse_entries(const char *text, demo_entries *entries)
{
  char part[64];
  entries->count = 0;
  while (text)
    if (entries->count == 27 || !next_part(&text, ',', part) || !demo_parse_real(part, &entries->value[entries->count++])) return 0;
  return entries->count == 3 || entries->count == 9 || entries->count == 27;
}

int demo_parse_walls(const char *text, demo_walls *walls)
{
  char part[64];
  walls->count = 0;
  while (text) {
    if (walls->count == 3 || !next_part(&text, ',', part)) return 0;
    const char *colon = strchr(part, ':'), *upper = colon ? colon + 1 : part;
    const size_t lower_length = colon ? (size_t)(colon - part) : strlen(part);
    int *kind = walls->kind[walls->count++];
    if (!demo_parse_word(demo_bc_words, part, lower_length, &kind[0])) return 0;
    if (!demo_parse_word(demo_bc_words, upper, strlen(upper), &kind[1])) return 0;
  }
  return 1;
}

int demo_parse_pair(const char *text, double pair[2])
{
  char part[64];
  return next_part(&text, ':', part) && demo_parse_real(part, &pair[0]) && text && demo_parse_real(text, &pair[1]);
}

int demo_parse_range(const char *text, int range[2])
{
  char part[64];
  return next_part(&text, ':', part) && demo_parse_int(part, -300, 300, &range[0]) && text &&
         demo_parse_int(text, range[0], 300, &range[1]);
}

int demo_parse_place(const char *text, int place[2])
{
  enum { FAR = 1000000 };
  char part[64];
  return next_part(&text, ':', part) && demo_parse_int(part, -FAR, FAR, &place[0]) && text &&
         demo_parse_int(text, -FAR, FAR, &place[1]);
}

int demo_can_write(const char *path)
{
  FILE *before = fopen(path, "r"), *file = fopen(path, "a");
  const int there = before != NULL, can = file != NULL;
  if (before) fclose(before);
  if (file) fclose(file);
  if (can && !there) remove(path);
  return can;
}
