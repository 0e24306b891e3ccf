/* Messages between devices: the memory that a level's messages need, and copies of boxes of values. Included by links.cu and
   gather.cuh. */
#ifndef GMG_COMM_CUDA_MAIL_H
#define GMG_COMM_CUDA_MAIL_H

extern "C" {
#include "comm/planes.h"
#include "comm/ranks.h"
}

#include "core/cuda/pdl.cuh"

typedef unsigned long long counter;

/* Where others write to this process: two messages of each link, and of whole levels. */
typedef struct {
  char *slots[3][2], *whole;
  counter *came[3][2]; /* messages that have come */
  counter *came_whole; /* [ranks] */
  char *room;          /* the memory that contains all of these */
} addresses;

/* What a process tells the others: its addresses, and how they open the memory that contains them. */
typedef struct {
  addresses places;
  cudaIpcMemHandle_t handle;
} offer;

/* What messages of a level need. All pointers but `theirs` are to this device's memory. */
struct gmg_mail {
  addresses mine, *theirs; /* theirs: [ranks] in host memory */
  size_t bytes[3], bytes_of_whole; /* of a message */
  counter *done;           /* [4] exchanges across each axis, and gathers */
  unsigned *arrived;       /* [8] thread blocks that have sent, or read */
  size_t room_bytes;
  int is_connected;
};
typedef struct gmg_mail mail;

/* --- copies ----------------------------------------------------------------------------------------------------------------- */

/* Lines of words in a field: `width` words each, n[0] of them in a plane. */
typedef struct {
  size_t first, width, pitch, slice;
  unsigned n[2];
} lines;

/* Each line of a box. Those of a part and of a whole array then correspond. */
static lines single_lines_of(const size_t extents[3], const gmg_box_of_values *b, size_t words)
{
  const size_t row = extents[0] * words, plane = row * extents[1];
  return {(b->first[2] * extents[1] + b->first[1]) * row + b->first[0] * words, b->n[0] * words, row, plane,
          {(unsigned)b->n[1], (unsigned)b->n[2]}};
}

/* Whole planes, which lie one after the other, as one line. */
static lines lines_of(const size_t extents[3], const gmg_box_of_values *b, size_t words)
{
  lines l = single_lines_of(extents, b, words);
  if (b->n[0] == extents[0] && b->n[1] == extents[1]) l.width = l.slice * b->n[2], l.n[0] = l.n[1] = b->n[2] > 0;
  return l;
}

static __host__ __device__ __forceinline__ size_t words_of(const lines &l) { return l.width * l.n[0] * l.n[1]; }

/* Calls body(place in the field, place in the message) for all words. */
template <class Body> static __device__ __forceinline__ void for_words(const lines &l, Body body)
{
  gmg_for_all(words_of(l), [&](size_t w) {
    const size_t line = w / l.width, k = line / l.n[0], j = line - k * l.n[0];
    body(l.first + k * l.slice + j * l.pitch + (w - line * l.width), w);
  });
}

/* Returns 1 in one thread, after all thread blocks have come here. */
static __device__ __forceinline__ int is_last(unsigned *arrived)
{
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x > 0 || atomicAdd(arrived, 1) < gridDim.x * gridDim.y - 1) return 0;
  *arrived = 0;
  __threadfence_system();
  return 1;
}

/* The grid for n words. Blocks may wait, so all of them must fit on the device at once, even if several processes share it. */
static gmg_launch_shape grid_for(const gmg_exec *e, size_t n)
{
  enum { SHARED = 4 };
  const gmg_device *d = gmg_device_of(e);
  const unsigned most = d->is_shared ? SHARED : (unsigned)(2 * d->processors);
  gmg_launch_shape shape = gmg_flat_shape(n);
  if (shape.blocks.x > most) shape.blocks.x = most;
  return shape;
}

#endif
