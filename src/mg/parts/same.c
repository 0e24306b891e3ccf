/* In several processes: refuses arguments that differ between them. A difference would leave some of them waiting for messages that
   never come. Called at create and update. */
#include "parts.h"

#include "comm/ranks.h"
#include "core/names.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSITIONS = 0, CUTS = 3, LISTS = 6 };

/* A list of numbers that is not part of the structs: positions or cuts of an axis. */
typedef struct {
  size_t count;
  const double *coord; /* one of the two, or none */
  const size_t *cuts;
} list;

/* What every process reports. Pointers are only compared with NULL. */
typedef struct {
  gmg_problem problem;
  gmg_params params;
  uint64_t hash[LISTS]; /* 0: there is no such list */
  char smoother[40]; /* its name: the address of a smoother differs between processes */
} arguments;

static void find_lists(const gmg_ranks *r, const gmg_problem *p, list lists[LISTS])
{
  for (int a = 0; a < 3; a++) {
    const gmg_axis_spec spec = gmg_axis_spec_of(p, a);
    lists[POSITIONS + a] = (list){.count = spec.coord ? spec.mesh + 1 : 0, .coord = spec.coord};
    lists[CUTS + a] = (list){.count = r->cuts[a] ? (size_t)r->cut[a] + 1 : 0, .cuts = r->cuts[a]};
  }
}

static double entry_of(const list *l, size_t i) { return l->coord ? l->coord[i] + 0.0 /* no -0 */ : (double)l->cuts[i]; }

/* A hash of all bits, like FNV-1a by words. A weighted sum would miss differences that cancel, and those of small weight. */
static uint64_t hash_of(const list *l)
{
  uint64_t hash = UINT64_C(0xcbf29ce484222325), bits;
  for (size_t i = 0; i < l->count; i++) {
    const double x = entry_of(l, i);
    memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    hash ^= hash >> 32;
  }
  return l->count ? hash | 1 : 0;
}

static gmg_status refuse(gmg_context *c, int rank, const char *field, const char *now, const char *first)
{
  return gmg_fail(c, GMG_ERR_ARGUMENT, "%s = %s in process %d differs from %s in process 0", field, now, rank, first);
}

static gmg_status compare(gmg_context *c, int rank, const char *field, double now, double first)
{
  char texts[2][40];
  if (now == first || (now != now && first != first)) return GMG_OK;
  snprintf(texts[0], sizeof texts[0], "%.17g", now), snprintf(texts[1], sizeof texts[1], "%.17g", first);
  return refuse(c, rank, field, texts[0], texts[1]);
}

static gmg_status compare_presence(gmg_context *c, int rank, const char *field, const void *now, const void *first)
{
  return !now == !first ? GMG_OK : refuse(c, rank, field, now ? "an array" : "NULL", first ? "an array" : "NULL");
}

static gmg_status compare_problems(gmg_context *c, int rank, const arguments *x, const arguments *y)
{
  const gmg_problem *p = &x->problem, *q = &y->problem;
  char field[60];
#define FIELD(...) (snprintf(field, sizeof field, __VA_ARGS__), field)
  GMG_TRY(compare(c, rank, "problem.dim", p->dim, q->dim));
  GMG_TRY(compare(c, rank, "problem.type", (double)p->type, (double)q->type));
  GMG_TRY(compare(c, rank, "problem.centering", (double)p->centering, (double)q->centering));
  GMG_TRY(compare(c, rank, "problem.shift", p->shift, q->shift));
  for (int a = 0; a < q->dim; a++) {
    GMG_TRY(compare(c, rank, FIELD("problem.n[%d]", a), (double)p->n[a], (double)q->n[a]));
    GMG_TRY(compare(c, rank, FIELD("problem.h[%d]", a), p->h[a], q->h[a]));
    GMG_TRY(compare_presence(c, rank, FIELD("problem.coord[%d]", a), p->coord[a], q->coord[a]));
    GMG_TRY(compare_presence(c, rank, FIELD("problem.beta_face[%d]", a), p->beta_face[a], q->beta_face[a]));
    for (int side = 0; side < 2; side++) {
      GMG_TRY(compare(c, rank, FIELD("problem.bc[%d][%d]", a, side), (double)p->bc[a][side], (double)q->bc[a][side]));
      for (int i = 0; i < 2; i++)
        GMG_TRY(compare(c, rank, FIELD("problem.robin[%d][%d][%d]", a, side, i), p->robin[a][side][i], q->robin[a][side][i]));
    }
  }
#undef FIELD
  GMG_TRY(compare_presence(c, rank, "problem.beta", p->beta, q->beta));
  GMG_TRY(compare_presence(c, rank, "problem.sigma", p->sigma, q->sigma));
  return compare_presence(c, rank, "problem.stencil", p->stencil, q->stencil);
}

static double value_of(const gmg_params *p, const gmg_option *o)
{
  const void *member = (const char *)p + o->offset;
  return o->type == GMG_OPTION_DOUBLE ? *(const double *)member : *(const int *)member;
}

static gmg_status compare_options(gmg_context *c, int rank, const gmg_params *p, const gmg_params *q, const gmg_option *table)
{
  for (const gmg_option *o = table; o && o->name; o++) {
    char field[60];
    snprintf(field, sizeof field, "params.%s", o->name);
    if (o->type != GMG_OPTION_SIZES) GMG_TRY(compare(c, rank, field, value_of(p, o), value_of(q, o)));
  }
  return GMG_OK;
}

static gmg_status compare_params(gmg_context *c, int rank, const gmg_params *p, const gmg_params *q)
{
  const gmg_builtin_smoother *b;
  if (!p->monitor != !q->monitor)
    return refuse(c, rank, "params.monitor", p->monitor ? "a function" : "NULL", q->monitor ? "a function" : "NULL");
  GMG_TRY(compare(c, rank, "params.async.seed", (double)p->async.seed, (double)q->async.seed));
  for (int a = 0; a < 3; a++) GMG_TRY(compare(c, rank, "params.async.block", (double)p->async.block[a], (double)q->async.block[a]));
  GMG_TRY(compare(c, rank, "params.coarse_cells", (double)p->coarse_cells, (double)q->coarse_cells));
  GMG_TRY(compare_options(c, rank, p, q, gmg_cycle_options));
  for (int i = 0; (b = gmg_builtin_at(i)) != NULL; i++) GMG_TRY(compare_options(c, rank, p, q, b->options));
  return GMG_OK;
}

static gmg_status compare_all(gmg_context *c, const arguments *all, int ranks)
{
  for (int r = 1; r < ranks; r++) {
    GMG_TRY(compare_problems(c, r, &all[r], &all[0]));
    if (strcmp(all[r].smoother, all[0].smoother) != 0) return refuse(c, r, "params.smoother", all[r].smoother, all[0].smoother);
    GMG_TRY(compare_params(c, r, &all[r].params, &all[0].params));
  }
  return GMG_OK;
}

/* Refuses a list in which process `rank` differs from process 0. All processes have seen so, and call this with lists of equal
   length: the mesh and the number of parts have been compared before. */
static gmg_status name_difference(gmg_context *c, int rank, int which, const list *mine)
{
  const gmg_transport *t = &c->ranks->transport;
  const size_t n = mine->count;
  double *all = malloc(((size_t)t->ranks + 1) * n * sizeof *all), *own = all ? all + (size_t)t->ranks * n : NULL;
  char field[80];
  size_t i = 0;
  gmg_status status = gmg_agree(c, all ? GMG_OK : gmg_fail(c, GMG_ERR_MEMORY, "lists of all processes could not be allocated"));
  if (status == GMG_OK) {
    for (size_t k = 0; k < n; k++) own[k] = entry_of(mine, k);
    t->all_gather(t->data, own, all, n * sizeof *all);
    while (i + 1 < n && all[(size_t)rank * n + i] == all[i]) i++;
    if (which < CUTS) snprintf(field, sizeof field, "problem.coord[%d][%zu]", which - POSITIONS, i);
    else snprintf(field, sizeof field, "gmg_context_set_cuts(): cuts[%zu] of axis %d", i, which - CUTS);
    status = compare(c, rank, field, all[(size_t)rank * n + i], all[i]);
  }
  free(all);
  return status;
}

/* Whether all have a list comes first: name_difference() needs it. */
static gmg_status compare_lists(gmg_context *c, const arguments *all, int ranks, const list lists[LISTS])
{
  for (int l = 0; l < LISTS; l++) {
    const uint64_t first = all[0].hash[l];
    char field[80];
    snprintf(field, sizeof field, "gmg_context_set_cuts(): cuts of axis %d", l - CUTS);
    for (int r = 1; r < ranks; r++)
      if (!all[r].hash[l] != !first) return refuse(c, r, field, first ? "NULL" : "an array", first ? "an array" : "NULL");
    for (int r = 1; r < ranks; r++)
      if (all[r].hash[l] != first) return name_difference(c, r, l, &lists[l]);
  }
  return GMG_OK;
}

gmg_status gmg_check_same(gmg_context *c, const gmg_problem *p, const gmg_params *params)
{
  if (!gmg_is_shared(c)) return GMG_OK;
  const gmg_transport *t = &c->ranks->transport;
  arguments mine;
  list lists[LISTS];
  find_lists(c->ranks, p, lists);
  memset(&mine, 0, sizeof mine);
  mine.problem = *p, mine.params = *params;
  snprintf(mine.smoother, sizeof mine.smoother, "%s", gmg_display_name(params->smoother));
  for (int l = 0; l < LISTS; l++) mine.hash[l] = hash_of(&lists[l]);
  arguments *all = malloc((size_t)t->ranks * sizeof *all);
  const gmg_status room = all ? GMG_OK : gmg_fail(c, GMG_ERR_MEMORY, "arguments of %d processes could not be allocated", t->ranks);
  gmg_status status = gmg_agree(c, room);
  if (status == GMG_OK) {
    t->all_gather(t->data, &mine, all, sizeof mine);
    status = compare_all(c, all, t->ranks);
    if (status == GMG_OK) status = compare_lists(c, all, t->ranks, lists);
  }
  free(all);
  return status;
}
