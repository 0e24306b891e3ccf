/* See variants.h. */
#include "variants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAMED(name) "gmg_smoother_by_name(\"" name "\")"

const parameter demo_parameters[] = {
    {"smoother", "smoother", {"async", "red_black", "chebyshev", "jacobi", "gauss_seidel", "lines"},
     {NAMED("async"), NAMED("red_black"), NAMED("chebyshev"), NAMED("jacobi"), NAMED("gauss_seidel"), NAMED("lines")}, ANY, 0, 0},
    {"precision", "precision", {"same", "mixed"}, {"GMG_PRECISION_SAME", "GMG_PRECISION_MIXED"}, ANY, 0, 0},
    {"local-sweeps", "async.local_sweeps", {"1", "2", "3", "4"}, {0}, ASYNC, 0, 0},
    {"local-sweeps", "chebyshev_degree", {"1", "2", "3", "4"}, {0}, CHEBYSHEV, 0, 0},
    {"overlap", "async.overlap", {"0", "1", "2"}, {"GMG_NONE", "1", "2"}, ASYNC, 0, 0},
    {"omega", "omega", {"0", "0.75", "0.85", "0.95", "1", "1.1", "1.15", "1.2", "1.25", "1.3", "1.4"}, {0}, WEIGHTED, 0, 0},
    {"pre", "pre", {"1", "2", "0"}, {"1", "2", "GMG_NONE"}, ANY, 0, 0},
    {"post", "post", {"1", "2", "0"}, {"1", "2", "GMG_NONE"}, ANY, 0, 0},
    {"cycle", "cycle", {"v", "f", "w"}, {"GMG_CYCLE_V", "GMG_CYCLE_F", "GMG_CYCLE_W"}, ANY, 0, 0},
    {"block", "block", {"0", "512", "1024", "2048", "4096", "16384"}, {0}, ASYNC, 1, 0},
    {"block", "block", {"0x0", "32x16", "64x16", "64x32", "128x32", "256x64", "512x64"}, {0}, ASYNC, 2, 0},
    {"block", "block", {"0x0x0", "32x8x8", "32x16x16", "64x16x16", "32x32x32", "64x64x32", "128x32x32"}, {0}, ASYNC, 3, 0},
    {"block-order", "async.order", {"natural", "two-colour", "random", "backward"},
     {"GMG_ORDER_NATURAL", "GMG_ORDER_TWO_COLOUR", "GMG_ORDER_RANDOM", "GMG_ORDER_BACKWARD"}, ASYNC, 0, 0},
    {"local", "async.local", {"red-black", "jacobi", "gauss-seidel"},
     {"GMG_LOCAL_RED_BLACK", "GMG_LOCAL_JACOBI", "GMG_LOCAL_GAUSS_SEIDEL"}, ASYNC, 0, 0},
    {"assignment", "async.assignment", {"static", "dynamic"}, {"GMG_ASSIGN_STATIC", "GMG_ASSIGN_DYNAMIC"}, ASYNC, 0, 0},
    {"oversubscription", "async.oversubscription", {"0", "1", "2", "4"}, {0}, ASYNC, 0, 1}, /* these two imply dynamic assignment */
    {"in-flight", "async.in_flight", {"0", "32", "128", "512"}, {0}, ASYNC, 0, 1},
    {"passes", "async.passes", {"1", "2"}, {0}, ASYNC, 0, 0},
    {"restriction", "restriction", {"average", "adjoint"}, {"GMG_RESTRICT_AVERAGE", "GMG_RESTRICT_ADJOINT"}, ANY, 0, 0},
    {"accel", "accel", {"none", "fcg", "cg"}, {"GMG_ACCEL_NONE", "GMG_ACCEL_FLEXIBLE_CG", "GMG_ACCEL_CG"}, ANY, 0, 0},
    {"fmg", "fmg", {"0", "1"}, {0}, ANY, 0, 0},
    {"coarse", "coarse", {"cg", "dense"}, {"GMG_COARSE_CG", "GMG_COARSE_DENSE"}, ANY, 0, 0},
};
_Static_assert(sizeof demo_parameters / sizeof *demo_parameters == PARAMETERS, "as many as variants.h says");

void demo_option_text(int i, int v, char *text, size_t size)
{
  const parameter *p = &demo_parameters[i];
  const char *value = p->value[v];
  snprintf(text, size, strcmp(p->option, "fmg") ? "--%s %s" : "--%s=%s", p->option, value); /* the value of --fmg is optional */
}

/* A block has one statement per axis. */
void demo_c_text(int i, int v, char *text, size_t size)
{
  const parameter *p = &demo_parameters[i];
  demo_sizes sizes;
  if (strcmp(p->member, "block")) {
    snprintf(text, size, "params.%s = %s;", p->member, p->in_c[v] ? p->in_c[v] : p->value[v]);
    return;
  }
  size_t used = 0;
  demo_parse_sizes(p->value[v], 0, &sizes);
  for (int a = 0; a < sizes.count && used < size; a++)
    used += (size_t)snprintf(text + used, size - used, "%sparams.async.block[%d] = %zu;", a ? " " : "", a, sizes.value[a]);
}

/* Smoothers with parameters of their own. */
static const struct {
  const char *name;
  unsigned kind;
} special[] = {{"async", ASYNC}, {"chebyshev", CHEBYSHEV}};

unsigned demo_kind_of(const gmg_smoother *s)
{
  for (size_t i = 0; i < sizeof special / sizeof *special; i++)
    if (s == gmg_smoother_by_name(special[i].name)) return special[i].kind;
  return OTHERS;
}

double demo_middle(const trial *t) { return t->runs ? t->seconds[t->runs / 2] : INFINITY; }

double demo_spread(const trial *t)
{
  const int left_out = (t->runs - RUNS) / 2;
  return t->runs < RUNS ? 0 : t->seconds[t->runs - 1 - left_out] - t->seconds[left_out];
}

void demo_add_time(trial *t, double seconds)
{
  int at = t->runs++;
  for (; at > 0 && t->seconds[at - 1] > seconds; at--) t->seconds[at] = t->seconds[at - 1];
  t->seconds[at] = seconds;
}

int demo_is_faster(const trial *a, const trial *b, int runs)
{
  return a->runs == runs && (b->runs == 0 || demo_middle(b) - demo_middle(a) > fmax(demo_spread(a), demo_spread(b)));
}
