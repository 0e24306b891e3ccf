/* Contexts of several processes, numbers of all processes, and errors of one that all report (ranks.h). */
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- numbers ---------------------------------------------------------------------------------------------------------------- */

enum { MOST_NUMBERS = 16 }; /* of a reduction; the most are two exact sums (core/exact_sum.c) */

/* Replaces each value by add(values of all processes), in the order of the processes. */
static void reduce(const gmg_exec *e, int count, double *values, double (*add)(double, double))
{
  const gmg_transport *t = &e->context->ranks->transport;
  double *all = e->context->ranks->numbers;
  t->all_gather(t->data, values, all, (size_t)count * sizeof *values);
  for (int i = 0; i < count; i++) {
    values[i] = all[i];
    for (int r = 1; r < t->ranks; r++) values[i] = add(values[i], all[r * count + i]);
  }
}

static double plus(double x, double y) { return x + y; }

void gmg_sum_of_ranks(const gmg_exec *e, int count, double *values) { reduce(e, count, values, plus); }
void gmg_max_of_ranks(const gmg_exec *e, int count, double *values) { reduce(e, count, values, fmax); }

/* --- errors ------------------------------------------------------------------------------------------------------------------- */

/* The error that all processes report: that of the first process with a text, or else of the first process. */
gmg_status gmg_agree_of_ranks(gmg_context *c, gmg_status status)
{
  const gmg_transport *t = &c->ranks->transport;
  gmg_outcome mine = {.status = status}, *all = c->ranks->outcomes;
  const gmg_outcome *worst = NULL;
  snprintf(mine.text, sizeof mine.text, "%s", status == GMG_OK ? "" : c->error);
  t->all_gather(t->data, &mine, all, sizeof mine);
  for (int r = 0; r < t->ranks; r++)
    if (all[r].status != GMG_OK && (!worst || (!worst->text[0] && all[r].text[0]))) worst = &all[r];
  if (!worst) return GMG_OK;
  return gmg_fail(c, worst->status, "rank %d: %s", (int)(worst - all), worst->text);
}

gmg_status gmg_worst_of_ranks(const gmg_transport *t, gmg_status mine)
{
  const int status = (int)mine;
  int *all = calloc((size_t)t->ranks, sizeof *all), worst = GMG_OK;
  if (!all) return GMG_ERR_MEMORY; /* as few bytes as this are there */
  t->all_gather(t->data, &status, all, sizeof status);
  for (int r = 0; r < t->ranks && worst == GMG_OK; r++) worst = all[r];
  free(all);
  return (gmg_status)worst;
}

/* --- the context -------------------------------------------------------------------------------------------------------------- */

static void end(gmg_context *c)
{
  gmg_ranks *r = c->ranks;
  if (r->end) r->end(c);
  if (r->transport.end) r->transport.end(r->transport.data);
  for (int a = 0; a < 3; a++) free(r->cuts[a]);
  free(r->numbers);
  free(r->outcomes);
  free(r);
}

gmg_status gmg_context_set_cuts(gmg_context *c, int axis, const size_t cuts[])
{
  if (!c) return GMG_ERR_ARGUMENT;
  if (axis < 0 || axis > 2) return gmg_fail(c, GMG_ERR_ARGUMENT, "axis = %d: must be from 0 to 2", axis);
  const int parts = c->ranks ? c->ranks->cut[axis] : 0;
  if (parts == 0) return gmg_fail(c, GMG_ERR_ARGUMENT, "context was created without a cut, which axis %d needs", axis);
  for (int i = 0; cuts && i <= parts; i++)
    if (i == 0 ? cuts[0] != 0 : cuts[i] <= cuts[i - 1])
      return gmg_fail(c, GMG_ERR_ARGUMENT, "cuts[%d] = %zu: must be %s%zu", i, cuts[i], i ? "above " : "", i ? cuts[i - 1] : 0);
  size_t *copy = cuts ? malloc(((size_t)parts + 1) * sizeof *copy) : NULL;
  if (cuts && !copy) return gmg_fail(c, GMG_ERR_MEMORY, "cuts of axis %d could not be allocated", axis);
  if (copy) memcpy(copy, cuts, ((size_t)parts + 1) * sizeof *copy);
  free(c->ranks->cuts[axis]);
  c->ranks->cuts[axis] = copy;
  return GMG_OK;
}

static gmg_status attach(const gmg_transport *t, const int cut[3], const gmg_comm_ops *comm, gmg_context *c)
{
  gmg_ranks *r = calloc(1, sizeof *r);
  if (!r) return GMG_ERR_MEMORY;
  r->transport = *t, r->end = c->end;
  for (int a = 0; a < 3; a++) r->cut[a] = cut ? cut[a] : 0;
  r->numbers = calloc((size_t)t->ranks * MOST_NUMBERS, sizeof *r->numbers);
  r->outcomes = calloc((size_t)t->ranks, sizeof *r->outcomes);
  if (!r->numbers || !r->outcomes) {
    free(r->numbers), free(r->outcomes), free(r);
    return GMG_ERR_MEMORY;
  }
  c->ranks = r, c->end = end;
  if (t->ranks > 1) c->comm = comm;
  return GMG_OK;
}

/* Whether the cut is 0 everywhere, or has as many parts as there are processes. */
static int is_cut_for(const int cut[3], int ranks)
{
  if (!cut || (cut[0] == 0 && cut[1] == 0 && cut[2] == 0)) return 1;
  for (int a = 0; a < 3; a++)
    if (cut[a] < 1 || cut[a] > ranks) return 0;
  return (long)cut[0] * cut[1] * cut[2] == ranks;
}

/* Whether all processes have the same cut. */
static gmg_status compare_cuts(const gmg_transport *t, const int cut[3])
{
  const int mine[3] = {cut ? cut[0] : 0, cut ? cut[1] : 0, cut ? cut[2] : 0};
  int(*all)[3] = calloc((size_t)t->ranks, sizeof *all), same = 1;
  if (!all) return GMG_ERR_MEMORY;
  t->all_gather(t->data, mine, all, sizeof mine);
  for (int r = 1; r < t->ranks; r++) same = same && memcmp(all[r], all[0], sizeof mine) == 0;
  free(all);
  return same ? GMG_OK : GMG_ERR_ARGUMENT;
}

int gmg_is_transport(const gmg_transport *t)
{
  return t && t->ranks >= 1 && t->rank >= 0 && t->rank < t->ranks && t->shift && t->all_gather;
}

gmg_status gmg_join_ranks(const gmg_transport *t, const int cut[3], const gmg_comm_ops *comm, gmg_status mine,
                          gmg_context **context)
{
  if (mine == GMG_OK) mine = is_cut_for(cut, t->ranks) ? attach(t, cut, comm, *context) : GMG_ERR_ARGUMENT;
  gmg_status worst = gmg_worst_of_ranks(t, mine);
  if (worst == GMG_OK) worst = compare_cuts(t, cut);
  if (worst == GMG_OK) return GMG_OK;
  if (context && *context) { /* the transport stays the caller's */
    if ((*context)->ranks) (*context)->ranks->transport.end = NULL;
    gmg_context_destroy(*context);
    *context = NULL;
  }
  return worst;
}

gmg_status gmg_context_create_ranks(const gmg_transport *t, const int cut[3], int threads, gmg_context **context)
{
  if (context) *context = NULL;
  if (!gmg_is_transport(t)) return GMG_ERR_ARGUMENT;
  return gmg_join_ranks(t, cut, &gmg_comm_messages, gmg_context_create_host(threads, context), context);
}
