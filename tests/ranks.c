/* A transport between threads (ranks.h): a message is a pointer in a mailbox until the receiver has copied it. */
#include "ranks.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const void *bytes; /* NULL: the box is empty */
  size_t count;
} mail;

typedef struct {
  int ranks;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_barrier_t barrier;
  mail *box;          /* [to][from] */
  const void **given; /* what each process gathers */
} hub;

typedef struct {
  hub *hub;
  gmg_transport transport;
  void (*work)(const gmg_transport *transport, void *data);
  void *data;
} thread;

static void shift(void *data, int to, const void *send, size_t send_bytes, int from, void *receive, size_t receive_bytes)
{
  const thread *t = data;
  hub *h = t->hub;
  const int me = t->transport.rank;
  static const char none;
  mail *out = to < 0 ? NULL : &h->box[to * h->ranks + me], *in = from < 0 ? NULL : &h->box[me * h->ranks + from];
  pthread_mutex_lock(&h->lock);
  if (out) *out = (mail){send_bytes ? send : &none, send_bytes};
  pthread_cond_broadcast(&h->changed);
  while (in && !in->bytes) pthread_cond_wait(&h->changed, &h->lock);
  if (in) {
    assert(in->count == receive_bytes);
    memcpy(receive, in->bytes, receive_bytes);
    in->bytes = NULL;
    pthread_cond_broadcast(&h->changed);
  }
  while (out && out->bytes) pthread_cond_wait(&h->changed, &h->lock);
  pthread_mutex_unlock(&h->lock);
}

static void all_gather(void *data, const void *send, void *receive, size_t bytes)
{
  const thread *t = data;
  hub *h = t->hub;
  h->given[t->transport.rank] = send;
  pthread_barrier_wait(&h->barrier);
  for (int r = 0; r < h->ranks; r++) memcpy((char *)receive + (size_t)r * bytes, h->given[r], bytes);
  pthread_barrier_wait(&h->barrier);
}

static void *run(void *data)
{
  thread *t = data;
  t->work(&t->transport, t->data);
  return NULL;
}

void run_ranks(int ranks, void (*work)(const gmg_transport *transport, void *data), void *data)
{
  const size_t n = (size_t)ranks;
  hub h = {.ranks = ranks, .box = calloc(n * n, sizeof *h.box), .given = calloc(n, sizeof *h.given)};
  thread *t = calloc(n, sizeof *t);
  pthread_t *id = calloc(n, sizeof *id);
  pthread_mutex_init(&h.lock, NULL);
  pthread_cond_init(&h.changed, NULL);
  pthread_barrier_init(&h.barrier, NULL, (unsigned)ranks);
  for (int r = 0; r < ranks; r++) {
    t[r] = (thread){&h, {r, ranks, &t[r], shift, all_gather, NULL}, work, data};
    pthread_create(&id[r], NULL, run, &t[r]);
  }
  for (int r = 0; r < ranks; r++) pthread_join(id[r], NULL);
  pthread_barrier_destroy(&h.barrier);
  pthread_cond_destroy(&h.changed);
  pthread_mutex_destroy(&h.lock);
  free(h.box), free(h.given), free(t), free(id);
}
