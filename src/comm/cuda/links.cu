/* The table of neighbours for several CUDA devices. A device writes what a neighbour gets directly into the neighbour's memory,
   and then raises a counter there; the neighbour waits for the counter, and copies the values to its ghosts. The host only
   enqueues, and all of this can be recorded. Called through gmg_comm_ops; contexts are in contexts.cu, sums in core/cuda/device.h.

   Memory of another process is opened by CUDA's IPC. It is closed before its owner releases it.

   A neighbour may already send its next message while this one is being read, but not the one after that, which needs an answer. So
   there is room for two. Links of a level are used in the same order by all. */
#include "gather.cuh"

#include <stdint.h>
#include <stdlib.h>

/* --- ghosts ------------------------------------------------------------------------------------------------------------------ */

/* What crosses an axis in one direction on one side. came = NULL: nothing. */
typedef struct {
  lines values;
  char *slots;
  counter *came;
  int rank; /* the neighbour */
} way;

typedef struct {
  way side[2];
  size_t bytes; /* of a slot */
  counter *done;
  unsigned *arrived; /* thread blocks that have sent, or read */
  int *silent;
  gmg_slow_link slow;
} crossing;

template <class Word> static __global__ void send_kernel(crossing x, const Word *values)
{
  gmg_wait_for_predecessor();
  const counter number = *x.done + 1;
  const size_t slot = number % 2 * x.bytes;
  for (int side = 0; side < 2; side++)
    for_words(x.side[side].values, [&](size_t from, size_t to) { ((Word *)(x.side[side].slots + slot))[to] = values[from]; });
  if (!is_last(x.arrived)) return;
  for (int side = 0; side < 2; side++)
    if (x.side[side].came) gmg_store_release_system(x.side[side].came, number);
}

/* Waits for the neighbours while its predecessor, which sends, is at work. */
template <class Word> static __global__ void receive_kernel(crossing x, Word *values)
{
  const counter number = __ldcg(x.done) + 1;
  const size_t slot = number % 2 * x.bytes;
  if (threadIdx.x < 2 && x.side[threadIdx.x].came) {
    gmg_wait_for_counter(x.side[threadIdx.x].came, number, x.silent);
    gmg_wait_for_slow_link(x.slow, x.side[threadIdx.x].rank);
  }
  __syncthreads();
  gmg_wait_for_predecessor();
  for (int side = 0; side < 2; side++)
    for_words(x.side[side].values,
              [&](size_t to, size_t from) { values[to] = __ldcg((const Word *)(x.side[side].slots + slot) + from); });
  if (is_last(x.arrived)) *x.done = number;
}

enum { NARROW = 4, WIDE = 16 }; /* bytes of a word */

/* Sets the lines of two boxes in words of 4 bytes. Returns whether they consist of words of 16. */
static int set_lines(const gmg_exec *e, const size_t extents[3], const gmg_box_of_values box[2], way side[2])
{
  int is_wide = 1;
  for (int i = 0; i < 2; i++) {
    lines *l = &side[i].values;
    *l = lines_of(extents, &box[i], e->real_size / NARROW);
    is_wide = is_wide && (l->first | l->width | l->pitch | l->slice) % (WIDE / NARROW) == 0;
  }
  return is_wide;
}

static void use_wide_words(way side[2])
{
  for (int i = 0; i < 2; i++) {
    lines *l = &side[i].values;
    l->first /= WIDE / NARROW, l->width /= WIDE / NARROW, l->pitch /= WIDE / NARROW, l->slice /= WIDE / NARROW;
  }
}

/* Enqueues one of the two kernels. wide, narrow: for words of 16 and 4 bytes */
template <class Wide, class Narrow>
static void launch(const gmg_exec *e, const char *what, Wide wide, Narrow narrow, crossing x, const size_t extents[3],
                   const gmg_box_of_values box[2], void *values)
{
  const int is_wide = set_lines(e, extents, box, x.side) && (uintptr_t)values % WIDE == 0;
  if (is_wide) use_wide_words(x.side);
  const size_t words[2] = {words_of(x.side[0].values), words_of(x.side[1].values)};
  const gmg_launch_shape shape = grid_for(e, words[0] > words[1] ? words[0] : words[1]);
  if (is_wide) gmg_launch_early(e, what, wide, shape, x, (uint4 *)values);
  else gmg_launch_early(e, what, narrow, shape, x, (unsigned *)values);
}

static void exchange_axis(const gmg_exec *e, const gmg_part *p, const size_t extents[3], int axis, size_t extra, int layers,
                          void *values)
{
  const mail *m = p->mail;
  const gmg_device *d = gmg_device_of(e);
  crossing out = {{}, m->bytes[axis], &m->done[axis], &m->arrived[2 * axis], d->silent, d->slow}, in = out;
  gmg_box_of_values send[2], receive[2];
  in.arrived++;
  for (int side = 0; side < 2; side++) {
    const gmg_link l = gmg_link_of(p, extents, axis, side, extra, layers);
    send[side] = l.send, receive[side] = l.receive;
    if (l.rank < 0) continue;
    out.side[side].slots = m->theirs[l.rank].slots[axis][!side], out.side[side].came = m->theirs[l.rank].came[axis][!side];
    in.side[side].slots = m->mine.slots[axis][side], in.side[side].came = m->mine.came[axis][side], in.side[side].rank = l.rank;
  }
  launch(e, "send ghosts", send_kernel<uint4>, send_kernel<unsigned>, out, extents, send, values);
  launch(e, "receive ghosts", receive_kernel<uint4>, receive_kernel<unsigned>, in, extents, receive, values);
}

static void exchange(const gmg_exec *e, const gmg_operator *A, gmg_location location, int axis, int layers, const void *x)
{
  const gmg_part *p = A->part;
  size_t extents[3];
  if (!p) return;
  gmg_meet(e);
  if (!x) return;
  gmg_extents_of(A->n, location, axis, extents);
  for (int a = 0; a < A->dim; a++)
    if (gmg_is_cut(p, a) && !(location == GMG_AT_WALL && a == axis))
      exchange_axis(e, p, extents, a, location == GMG_AT_FACES && a == axis, layers, (void *)x);
}

/* --- the room for messages ------------------------------------------------------------------------------------------------- */

static size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

/* Places everything in the room, and returns its size. room = NULL: only the size. */
static size_t place(mail *m, const gmg_part *p, int ranks, char *room)
{
  size_t at = 0;
  const auto next = [&](size_t bytes) {
    char *const here = room + at;
    at += rounded(bytes);
    return here;
  };
  m->done = (counter *)next(4 * sizeof(counter)), m->arrived = (unsigned *)next(8 * sizeof(unsigned));
  for (int a = 0; a < 3; a++)
    for (int side = 0; side < 2; side++) m->mine.came[a][side] = (counter *)next(sizeof(counter));
  m->mine.came_whole = (counter *)next((size_t)ranks * sizeof(counter));
  for (int a = 0; a < 3; a++)
    for (int side = 0; side < 2; side++) m->mine.slots[a][side] = next(gmg_is_cut(p, a) ? 2 * m->bytes[a] : 0);
  m->mine.whole = next(2 * m->bytes_of_whole), m->mine.room = room;
  return at;
}

static gmg_status prepare(gmg_exec *e, gmg_part *p, int gathers)
{
  const int ranks = e->context->ranks->transport.ranks;
  void *state = NULL, *room = NULL;
  GMG_TRY(gmg_exec_alloc_state(e, "messages of a level", sizeof(mail) + (size_t)ranks * sizeof(addresses), &state));
  mail *m = p->mail = (mail *)state;
  m->theirs = (addresses *)(m + 1);
  for (int a = 0; a < 3; a++) m->bytes[a] = rounded(gmg_most_across(p, a) * e->real_size);
  m->bytes_of_whole = gathers ? rounded(gmg_most_in_all(p) * e->real_size) : 0;
  m->room_bytes = place(m, p, ranks, NULL);
  GMG_TRY(gmg_exec_alloc(e, "messages of a level", m->room_bytes, &room));
  if (!e->dry) place(m, p, ranks, (char *)room);
  return GMG_OK;
}

/* Whether the memory of process r must be opened: r is not this process of the system. */
static int is_foreign(const gmg_device *d, int r) { return d->foreign && d->foreign[r]; }

/* Opens the memory of process r, and translates its addresses. */
static cudaError_t open_memory(const offer *o, addresses *there)
{
  void *room = NULL;
  const cudaError_t error = cudaIpcOpenMemHandle(&room, o->handle, cudaIpcMemLazyEnablePeerAccess);
  const auto here = [&](void *x) { return (char *)room + ((char *)x - o->places.room); };
  for (int a = 0; a < 3; a++)
    for (int side = 0; side < 2; side++) {
      there->slots[a][side] = here(o->places.slots[a][side]);
      there->came[a][side] = (counter *)here(o->places.came[a][side]);
    }
  there->whole = here(o->places.whole), there->came_whole = (counter *)here(o->places.came_whole), there->room = (char *)room;
  return error;
}

static gmg_status connect(gmg_exec *e, gmg_part *p)
{
  const gmg_transport *t = &e->context->ranks->transport;
  gmg_device *d = gmg_device_of(e);
  mail *m = p->mail;
  offer mine = {m->mine, {}}, *all = (offer *)calloc((size_t)t->ranks, sizeof *all);
  gmg_cuda_note(d, cudaMemsetAsync(m->mine.room, 0, m->room_bytes, d->stream), "messages of a level");
  gmg_cuda_note(d, cudaStreamSynchronize(d->stream), "messages of a level");
  if (d->foreign) gmg_cuda_note(d, cudaIpcGetMemHandle(&mine.handle, m->mine.room), "messages of a level");
  gmg_status status = all ? e->memory->health(e->context) : gmg_fail(e->context, GMG_ERR_MEMORY, "messages of a level");
  status = gmg_agree(e->context, status);
  if (status == GMG_OK) {
    t->all_gather(t->data, &mine, all, sizeof mine);
    for (int r = 0; r < t->ranks; r++) {
      m->theirs[r] = all[r].places;
      if (is_foreign(d, r)) gmg_cuda_note(d, open_memory(&all[r], &m->theirs[r]), "memory of another process");
    }
    m->is_connected = 1;
    status = gmg_agree(e->context, e->memory->health(e->context));
  }
  free(all);
  return status;
}

static void disconnect(gmg_exec *e, gmg_part *p)
{
  gmg_device *d = gmg_device_of(e);
  mail *m = p->mail;
  if (!d->foreign || !m || !m->is_connected) return;
  cudaStreamSynchronize(d->stream); /* what this process sends has arrived */
  for (int r = 0; r < e->context->ranks->transport.ranks; r++)
    if (is_foreign(d, r)) cudaIpcCloseMemHandle(m->theirs[r].room);
  cudaGetLastError();
  e->comm->meet(e->context);
}

static void meet(gmg_context *c) { (void)gmg_worst_of_ranks(&c->ranks->transport, GMG_OK); }

extern "C" const gmg_comm_ops gmg_comm_links = {.most_whole = 1 << 18,
                                          .relaxes_ghosts = 1,
                                          .prepare = prepare,
                                          .connect = connect,
                                          .disconnect = disconnect,
                                          .exchange = exchange,
                                          .sum = gmg_sum_of_ranks,
                                          .max = gmg_max_of_ranks,
                                          .gather = gather,
                                          .take = take,
                                          .meet = meet,
                                          .agree = gmg_agree_of_ranks};
