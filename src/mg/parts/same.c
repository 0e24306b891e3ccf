/* In several processes: refuses arguments that differ between them. A difference would leave some of them waiting for messages that
   never come. Called at create and update. */
#include "parts.h"

#include "comm/ranks.h"
#include "core/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every process reports. Pointers are only compared with NULL. */
typedef struct {
  gmg_problem problem;
  gmg_params params;
  double coord[3];   /* a checksum of the positions of an axis */
  double cuts[3];    /* and of gmg_context_set_cuts() */
  char smoother[40]; /* its name: the address of a smoother differs between processes */
} arguments;

/* A sum in which every position counts differently. */
static double checksum(const gmg_problem *p, int a)
{
  double sum = 0;
  if (a >= p->dim) return 0;
  const gmg_axis_spec spec = gmg_axis_spec_of(p, a);
  for (size_t i = 0; spec.coord && i <= spec.mesh; i++) sum = sum * 0.75 + spec.coord[i];
  return sum;
}

static double checksum_of_cuts(const gmg_ranks *r, int a)
{
  double sum = 0;
  for (int i = 0; r->cuts[a] && i <= r->cut[a]; i++) sum = sum * 0.75 + (double)(r->cuts[a][i] + 1);
  return sum;
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
    GMG_TRY(compare(c, rank, FIELD("a checksum of problem.coord[%d]", a), x->coord[a], y->coord[a]));
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
    for (int a = 0; a < 3; a++) GMG_TRY(compare(c, r, "a checksum of gmg_context_set_cuts()", all[r].cuts[a], all[0].cuts[a]));
    if (strcmp(all[r].smoother, all[0].smoother) != 0) return refuse(c, r, "params.smoother", all[r].smoother, all[0].smoother);
    GMG_TRY(compare_params(c, r, &all[r].params, &all[0].params));
  }
  return GMG_OK;
}

gmg_status gmg_check_same(gmg_context *c, const gmg_problem *p, const gmg_params *params)
{
  if (!gmg_is_shared(c)) return GMG_OK;
  const gmg_transport *t = &c->ranks->transport;
  arguments mine;
  memset(&mine, 0, sizeof mine);
  mine.problem = *p, mine.params = *params;
  snprintf(mine.smoother, sizeof mine.smoother, "%s", gmg_display_name(params->smoother));
  for (int a = 0; a < 3; a++) mine.coord[a] = checksum(p, a), mine.cuts[a] = checksum_of_cuts(c->ranks, a);
  arguments *all = malloc((size_t)t->ranks * sizeof *all);
  const gmg_status room = all ? GMG_OK : gmg_fail(c, GMG_ERR_MEMORY, "arguments of %d processes could not be allocated", t->ranks);
  gmg_status status = gmg_agree(c, room);
  if (status == GMG_OK) {
    t->all_gather(t->data, &mine, all, sizeof mine);
    status = compare_all(c, all, t->ranks);
  }
  free(all);
  return status;
}
