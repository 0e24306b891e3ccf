/* Threads that share a grid (threads.h). They wait for each other often and not for long: they ask again and again, and let others
   run after a while. */
#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ASKS = 2000 };

typedef struct {
  int count;
  atomic_int users;
  atomic_int waiting, round; /* of the barrier */
  const void **given;        /* [count] what each thread gathers */
  _Atomic(const void *) *box; /* [to][from] */
} hub;

typedef struct {
  hub *hub;
  int me;
} place;

static void ask_again(int *asked)
{
  if (++*asked > ASKS) sched_yield();
}

static void wait_for_all(hub *h)
{
  const int round = atomic_load(&h->round);
  int asked = 0;
  if (atomic_fetch_add(&h->waiting, 1) + 1 == h->count) {
    atomic_store(&h->waiting, 0);
    atomic_store(&h->round, round + 1);
    return;
  }
  while (atomic_load(&h->round) == round) ask_again(&asked);
}

static void all_gather(void *data, const void *send, void *receive, size_t bytes)
{
  const place *p = data;
  hub *h = p->hub;
  h->given[p->me] = send;
  wait_for_all(h);
  for (int r = 0; r < h->count; r++) memcpy((char *)receive + (size_t)r * bytes, h->given[r], bytes);
  wait_for_all(h);
}

/* A message is a pointer in a box until the receiver has copied it. */
static void shift(void *data, int to, const void *send, size_t send_bytes, int from, void *receive, size_t receive_bytes)
{
  const place *p = data;
  hub *h = p->hub;
  static const char nothing;
  int asked = 0;
  if (to >= 0) atomic_store(&h->box[to * h->count + p->me], send_bytes ? send : &nothing);
  if (from >= 0) {
    _Atomic(const void *) *in = &h->box[p->me * h->count + from];
    while (!atomic_load(in)) ask_again(&asked);
    memcpy(receive, atomic_load(in), receive_bytes);
    atomic_store(in, (const void *)NULL);
  }
  while (to >= 0 && atomic_load(&h->box[to * h->count + p->me])) ask_again(&asked);
}

static void end(void *data)
{
  place *p = data;
  hub *h = p->hub;
  free(p);
  if (atomic_fetch_sub(&h->users, 1) > 1) return;
  free(h->given), free(h->box), free(h);
}

void gmg_threads_release(int count, gmg_transport transport[])
{
  for (int r = 0; r < count; r++) transport[r].end(transport[r].data);
}

gmg_status gmg_threads_create(int count, gmg_transport transport[])
{
  const size_t n = (size_t)count;
  hub *h = calloc(1, sizeof *h);
  if (!h) return GMG_ERR_MEMORY;
  h->count = count, h->given = calloc(n, sizeof *h->given), h->box = calloc(n * n, sizeof *h->box);
  int made = 0;
  for (; made < count; made++) {
    place *p = calloc(1, sizeof *p);
    if (!p) break;
    *p = (place){h, made};
    transport[made] = (gmg_transport){made, count, p, shift, all_gather, end};
  }
  atomic_store(&h->users, made);
  if (made == count && h->given && h->box) return GMG_OK;
  gmg_threads_release(made, transport);
  if (made == 0) free(h->given), free(h->box), free(h);
  return GMG_ERR_MEMORY;
}

/* --- calls at once ----------------------------------------------------------------------------------------------------------- */

typedef struct {
  void (*work)(int part, void *data);
  void *data;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int decision; /* 0: wait; 1: work; -1: do not, because not all threads could be started */
} call;

typedef struct {
  call *call;
  int part;
  pthread_t id;
} caller;

static void *run(void *data)
{
  const caller *c = data;
  call *x = c->call;
  pthread_mutex_lock(&x->lock);
  while (x->decision == 0) pthread_cond_wait(&x->changed, &x->lock);
  const int works = x->decision > 0;
  pthread_mutex_unlock(&x->lock);
  if (works) x->work(c->part, x->data);
  return NULL;
}

gmg_status gmg_run_together(int count, void (*work)(int part, void *data), void *data)
{
  call x = {.work = work, .data = data, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  caller *others = calloc((size_t)count, sizeof *others);
  int started = 1;
  for (; others && started < count; started++) {
    others[started] = (caller){.call = &x, .part = started};
    if (pthread_create(&others[started].id, NULL, run, &others[started]) != 0) break;
  }
  pthread_mutex_lock(&x.lock);
  x.decision = others && started == count ? 1 : -1;
  pthread_cond_broadcast(&x.changed);
  pthread_mutex_unlock(&x.lock);
  if (x.decision > 0) work(0, data);
  for (int i = 1; others && i < started; i++) pthread_join(others[i].id, NULL);
  free(others);
  return x.decision > 0 ? GMG_OK : GMG_ERR_MEMORY;
}

/* --- contexts ---------------------------------------------------------------------------------------------------------------- */

typedef struct {
  gmg_create_part *create;
  void *data;
  gmg_transport *transport;
  gmg_context **contexts;
  gmg_status status; /* of part 0; all have the same */
} creation;

static void create_one(int part, void *data)
{
  creation *x = data;
  const gmg_status status = x->create(&x->transport[part], part, x->data, &x->contexts[part]);
  if (part == 0) x->status = status;
}

gmg_status gmg_create_together(int count, gmg_create_part *create, void *data, gmg_context *contexts[])
{
  for (int i = 0; contexts && i < count; i++) contexts[i] = NULL;
  if (count < 1 || !contexts) return GMG_ERR_ARGUMENT;
  gmg_transport *transport = calloc((size_t)count, sizeof *transport);
  if (!transport) return GMG_ERR_MEMORY;
  gmg_status status = gmg_threads_create(count, transport);
  if (status == GMG_OK) {
    creation x = {create, data, transport, contexts, GMG_OK};
    status = gmg_run_together(count, create_one, &x);
    if (status == GMG_OK) status = x.status;
    if (status != GMG_OK) gmg_threads_release(count, transport);
  }
  free(transport);
  return status;
}

/* On hosts. */
typedef struct {
  const int *cut;
  int threads;
} host_parts;

static gmg_status create_on_host(const gmg_transport *t, int part, void *data, gmg_context **context)
{
  const host_parts *h = data;
  (void)part;
  return gmg_context_create_ranks(t, h->cut, h->threads, context);
}

gmg_status gmg_context_create_parts(int count, const int cut[3], int threads, gmg_context *contexts[])
{
  return gmg_create_together(count, create_on_host, &(host_parts){cut, threads}, contexts);
}
