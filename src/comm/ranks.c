/* The table of neighbours for several processes on hosts, over a transport (gmg_transport.h): ghosts are exchanged axis by axis, so
   edges and corners need no messages of their own. Sums are gathered and added in the order of the processes: the same bits on all
   of them, however messages travel. */
#include "ranks.h"

#include "gmg_smoother.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gmg_transport *transport_of(const gmg_context *c) { return &c->ranks->transport; }

/* --- planes ----------------------------------------------------------------------------------------------------------------- */

/* A field of a part: its extents, and the size of a value. */
typedef struct {
  size_t n[3], size;
} field;

static size_t plane_bytes(const field *x, int axis) { return x->n[0] * x->n[1] * x->n[2] / x->n[axis] * x->size; }

/* Copies `count` planes across an axis, from plane `first` on, to or from a buffer. */
static void copy_planes(const field *x, int axis, size_t first, size_t count, int pack, char *values, char *buffer)
{
  size_t begin[3] = {0, 0, 0}, end[3] = {x->n[0], x->n[1], x->n[2]};
  begin[axis] = first, end[axis] = first + count;
  const size_t row = (end[0] - begin[0]) * x->size;
  for (size_t k = begin[2]; k < end[2]; k++)
    for (size_t j = begin[1]; j < end[1]; j++) {
      char *line = values + ((k * x->n[1] + j) * x->n[0] + begin[0]) * x->size;
      if (pack) memcpy(buffer, line, row);
      else memcpy(line, buffer, row);
      buffer += row;
    }
}

/* The process that holds the neighbouring part along an axis; -1: none. */
static int neighbour(const gmg_part *p, int axis, int step)
{
  int at[3] = {p->at[0], p->at[1], p->at[2]};
  const int n = p->parts[axis], to = at[axis] + step;
  if (!p->periodic[axis] && (to < 0 || to >= n)) return -1;
  at[axis] = (to + n) % n;
  return (at[2] * p->parts[1] + at[1]) * p->parts[0] + at[0];
}

/* Planes of ghosts below and above the unknowns of part c. */
static void ghosts_of(const gmg_part *p, int axis, int c, size_t planes[2])
{
  const gmg_span s = gmg_span_of_part(p, axis, c);
  planes[0] = (size_t)((long)p->cut[axis][c] - s.first);
  planes[1] = (size_t)(s.first + (long)s.n - (long)p->cut[axis][c + 1]);
}

/* Exchanges the planes across an axis. extra: 1 if there is one more value than unknowns along it. The face between two parts is
   the lowest of the upper one, and the lower one gets it, too. */
static void exchange_axis(const gmg_context *c, const gmg_part *p, const field *x, int axis, size_t extra, void *values)
{
  const gmg_transport *t = transport_of(c);
  const size_t bytes = plane_bytes(x, axis), *own = p->own[axis];
  for (int up = 0; up < 2; up++) { /* first downwards: my lowest planes become ghosts above the lower part */
    const int to = neighbour(p, axis, up ? 1 : -1), from = neighbour(p, axis, up ? -1 : 1), parts = p->parts[axis];
    size_t mine[2], theirs[2];
    ghosts_of(p, axis, p->at[axis], mine);
    ghosts_of(p, axis, (p->at[axis] + (up ? 1 : parts - 1)) % parts, theirs);
    const size_t more = up ? 0 : extra, count = to < 0 ? 0 : theirs[!up] + more, expected = from < 0 ? 0 : mine[!up] + more;
    const size_t first = up ? own[1] - count : own[0], place = up ? own[0] - expected : own[1];
    copy_planes(x, axis, first, count, 1, values, p->buffer[0]);
    t->shift(t->data, to, p->buffer[0], count * bytes, from, p->buffer[1], expected * bytes);
    copy_planes(x, axis, place, expected, 0, values, p->buffer[1]);
  }
}

/* The extents of an array of a level: `n` unknowns along each axis. */
static field field_of(const size_t n[3], size_t size, gmg_location location, int axis)
{
  field x = {{n[0], n[1], n[2]}, size};
  if (location == GMG_AT_FACES) x.n[axis]++;
  if (location == GMG_AT_WALL) x.n[axis] = 1;
  return x;
}

static void exchange(const gmg_exec *e, const gmg_operator *A, gmg_location location, int axis, const void *values)
{
  const gmg_part *p = A->part;
  if (!p) return;
  const field x = field_of(A->n, e->real_size, location, axis);
  for (int a = 0; a < A->dim; a++)
    if (gmg_is_cut(p, a) && !(location == GMG_AT_WALL && a == axis))
      exchange_axis(e->context, p, &x, a, location == GMG_AT_FACES && a == axis, (void *)values);
}

/* --- numbers of all processes ------------------------------------------------------------------------------------------------ */

enum { MOST_NUMBERS = 4 };

/* Replaces each value by add(values of all processes), in the order of the processes. */
static void reduce(const gmg_exec *e, int count, double *values, double (*add)(double, double))
{
  const gmg_transport *t = transport_of(e->context);
  double *all = e->context->ranks->numbers;
  t->all_gather(t->data, values, all, (size_t)count * sizeof *values);
  for (int i = 0; i < count; i++) {
    values[i] = all[i];
    for (int r = 1; r < t->ranks; r++) values[i] = add(values[i], all[r * count + i]);
  }
}

static double plus(double x, double y) { return x + y; }

static void sum(const gmg_exec *e, int count, double *values) { reduce(e, count, values, plus); }
static void max(const gmg_exec *e, int count, double *values) { reduce(e, count, values, fmax); }

/* --- whole levels ------------------------------------------------------------------------------------------------------------- */

/* The own unknowns of the part of a process, with `extra` more along one axis, in the whole level. */
static void own_box(const gmg_part *p, int rank, gmg_location location, int axis, size_t first[3], size_t n[3])
{
  const int at[3] = {rank % p->parts[0], rank / p->parts[0] % p->parts[1], rank / p->parts[0] / p->parts[1]};
  for (int a = 0; a < 3; a++) {
    first[a] = p->cut[a][at[a]];
    n[a] = p->cut[a][at[a] + 1] - first[a] + (location == GMG_AT_FACES && a == axis);
  }
}

static size_t largest_part(const gmg_part *p)
{
  size_t cells = 1;
  for (int a = 0; a < 3; a++) {
    size_t most = 0;
    for (int c = 0; c < p->parts[a]; c++)
      if (p->cut[a][c + 1] - p->cut[a][c] > most) most = p->cut[a][c + 1] - p->cut[a][c];
    cells *= most + 1; /* faces */
  }
  return cells;
}

/* Copies a box between two packed arrays, from `at` in one to `to_at` in the other. */
static void copy_box(const field *from, const size_t at[3], const char *x, const field *to, const size_t to_at[3], char *y,
                     const size_t n[3])
{
  for (size_t k = 0; k < n[2]; k++)
    for (size_t j = 0; j < n[1]; j++)
      memcpy(y + (((to_at[2] + k) * to->n[1] + to_at[1] + j) * to->n[0] + to_at[0]) * to->size,
             x + (((at[2] + k) * from->n[1] + at[1] + j) * from->n[0] + at[0]) * from->size, n[0] * from->size);
}

static void gather(const gmg_exec *e, const gmg_operator *A, gmg_location location, int axis, const void *x, void *whole)
{
  const gmg_transport *t = transport_of(e->context);
  const gmg_part *p = A->part;
  const field mine = field_of(A->n, e->real_size, location, axis), all = field_of(p->whole, e->real_size, location, axis);
  const size_t begin[3] = {0, 0, 0}, at[3] = {p->own[0][0], p->own[1][0], p->own[2][0]};
  const size_t message = largest_part(p) * e->real_size;
  size_t first[3], n[3];
  own_box(p, t->rank, location, axis, first, n);
  const field own = {{n[0], n[1], n[2]}, e->real_size};
  copy_box(&mine, at, x, &own, begin, p->buffer[0], n);
  t->all_gather(t->data, p->buffer[0], p->buffer[1], message);
  for (int r = 0; r < t->ranks; r++) {
    own_box(p, r, location, axis, first, n);
    const field box = {{n[0], n[1], n[2]}, e->real_size};
    copy_box(&box, begin, (const char *)p->buffer[1] + (size_t)r * message, &all, first, whole, n);
  }
}

void gmg_message_bytes(const gmg_part *p, size_t real_size, int gathers, int ranks, size_t bytes[2])
{
  field x = {{0}, real_size};
  size_t most = 0;
  for (int a = 0; a < 3; a++) x.n[a] = gmg_own_span(p, a).n + 1; /* faces */
  for (int a = 0; a < 3; a++) {
    const size_t planes = gmg_is_cut(p, a) ? plane_bytes(&x, a) * (size_t)(p->ghosts + 1) : 0;
    most = planes > most ? planes : most;
  }
  const size_t box = gathers ? largest_part(p) * real_size : 0;
  bytes[0] = box > most ? box : most;
  bytes[1] = box * (size_t)ranks > most ? box * (size_t)ranks : most;
}

/* --- errors ------------------------------------------------------------------------------------------------------------------- */

/* The error that all processes report: that of the first process with a text, or else of the first process. */
static gmg_status agree(gmg_context *c, gmg_status status)
{
  const gmg_transport *t = transport_of(c);
  gmg_outcome mine = {.status = status}, *all = c->ranks->outcomes;
  const gmg_outcome *worst = NULL;
  snprintf(mine.text, sizeof mine.text, "%s", status == GMG_OK ? "" : c->error);
  t->all_gather(t->data, &mine, all, sizeof mine);
  for (int r = 0; r < t->ranks; r++)
    if (all[r].status != GMG_OK && (!worst || (!worst->text[0] && all[r].text[0]))) worst = &all[r];
  if (!worst) return GMG_OK;
  return gmg_fail(c, worst->status, "rank %d: %s", (int)(worst - all), worst->text);
}

static const gmg_comm_ops over_transport = {.exchange = exchange, .sum = sum, .max = max, .gather = gather, .agree = agree};

/* --- the context -------------------------------------------------------------------------------------------------------------- */

static void end(gmg_context *c)
{
  gmg_ranks *r = c->ranks;
  if (r->transport.end) r->transport.end(r->transport.data);
  free(r->numbers);
  free(r->outcomes);
  free(r);
}

/* All that a process can fail in alone. */
static gmg_status create(const gmg_transport *t, const int cut[3], int threads, gmg_context **context)
{
  gmg_ranks *r = calloc(1, sizeof *r);
  gmg_status status = gmg_context_create_host(threads, context);
  if (status == GMG_OK && !r) status = GMG_ERR_MEMORY;
  if (status == GMG_OK) {
    r->transport = *t;
    for (int a = 0; a < 3; a++) r->cut[a] = cut ? cut[a] : 0;
    r->numbers = calloc((size_t)t->ranks * MOST_NUMBERS, sizeof *r->numbers);
    r->outcomes = calloc((size_t)t->ranks, sizeof *r->outcomes);
    if (!r->numbers || !r->outcomes) status = GMG_ERR_MEMORY;
  }
  if (status == GMG_OK) {
    (*context)->ranks = r, (*context)->end = end;
    if (t->ranks > 1) (*context)->comm = &over_transport;
    return GMG_OK;
  }
  if (r) free(r->numbers), free(r->outcomes);
  free(r);
  gmg_context_destroy(*context);
  *context = NULL;
  return status;
}

/* Whether the cut is 0 everywhere, or has as many parts as there are processes. */
static int is_cut_for(const int cut[3], int ranks)
{
  if (!cut || (cut[0] == 0 && cut[1] == 0 && cut[2] == 0)) return 1;
  for (int a = 0; a < 3; a++)
    if (cut[a] < 1 || cut[a] > ranks) return 0;
  return (long)cut[0] * cut[1] * cut[2] == ranks;
}

gmg_status gmg_context_create_ranks(const gmg_transport *t, const int cut[3], int threads, gmg_context **context)
{
  if (context) *context = NULL;
  if (!t || t->ranks < 1 || t->rank < 0 || t->rank >= t->ranks || !t->shift || !t->all_gather) return GMG_ERR_ARGUMENT;
  const gmg_status status = !context || !is_cut_for(cut, t->ranks) ? GMG_ERR_ARGUMENT : create(t, cut, threads, context);
  const int mine[4] = {(int)status, cut ? cut[0] : 0, cut ? cut[1] : 0, cut ? cut[2] : 0};
  int(*all)[4] = calloc((size_t)t->ranks, sizeof *all), worst = GMG_ERR_MEMORY;
  if (all) t->all_gather(t->data, mine, all, sizeof mine), worst = GMG_OK;
  for (int i = 0; all && i < t->ranks && worst == GMG_OK; i++) worst = all[i][0];
  if (worst == GMG_OK && all) /* all have the same cut */
    for (int i = 1; i < t->ranks; i++)
      if (memcmp(all[i] + 1, all[0] + 1, 3 * sizeof(int)) != 0) worst = GMG_ERR_ARGUMENT;
  free(all);
  if (worst == GMG_OK) return GMG_OK;
  if (context && *context) { /* the transport stays the caller's */
    (*context)->ranks->transport.end = NULL;
    gmg_context_destroy(*context);
    *context = NULL;
  }
  return (gmg_status)worst;
}
