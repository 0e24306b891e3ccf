/* Sweeps of line relaxation on a CUDA device: what grid.cu and box.cu share. A launch relaxes the lines of one colour in one phase
   (systems.h), so lines are relaxed in the order of the host. This file chooses the shape of the launches. Compiled once per real
   type. Private to this folder.

   Bytes moved per unknown by a sweep along one axis, in double, without coefficient arrays. Each colour reads f of its lines and u
   of both colours, and writes its own u. It reads its own u once more before it adds the correction, from cache at best. Memory is
   read and written in sectors of 32 bytes:

     lines along axis 0: a sector is of one colour                      32
     lines along axis 1 or 2: a sector has unknowns of both colours     48
     lines along axis 0 that are too long for shared memory             80
     lines along axis 1 or 2 that are too long for it                   96

   Too long are, with 227 kB of shared memory, lines of more than about 9000 unknowns along axis 0 (in float 17000), and 4200 along
   the other axes. Their d, q and z are written to memory and read again, 48 bytes per unknown. A thread for each line would do so
   with all lines, and a level in 2D would not have enough threads. */
#ifndef GMG_SMOOTHERS_LINES_CUDA_SWEEPS_H
#define GMG_SMOOTHERS_LINES_CUDA_SWEEPS_H

#include "relax.cuh"

extern "C" {
#include "smoothers/lines/lines.h"
}

namespace {

struct line_launch {
  line_blocks blocks;
  int shared;   /* whether unknowns are in shared memory */
  size_t total; /* thread blocks */
};

struct lines_state {
  line_launch launch[3]; /* by axis */
  scalar *room;          /* work space for lines that are too long for shared memory; NULL: there are none */
};

/* --- what the file defines that includes this: also the type `operand`, and DIAGONAL (lines_colours()) ----------------------- */

typedef void kernel(operand, line_blocks, lines_part, const scalar *, scalar *, real, scalar *);
kernel *kernel_of(const gmg_operator *A, int along, int shared);
operand operand_of(const gmg_operator *A);

/* --- launches ---------------------------------------------------------------------------------------------------------------- */

size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

line_blocks blocks_of(const gmg_operator *A, int axis, size_t lanes, size_t chunks)
{
  line_blocks s = {lines_axes_of(axis), DIAGONAL, {0, 0}, {0, 0}, 1, (unsigned)A->n[axis], (unsigned)lanes, 0, 0, 0, 0};
  const int across[2] = {s.along.beside, s.along.third};
  for (int a = 0; a < 2; a++) s.across[a] = (unsigned)A->n[across[a]], s.seam[a] = gmg_odd_seam(A, across[a]);
  s.third_step = (unsigned)lines_colours(A, DIAGONAL) / 2;
  s.rows = (unsigned)ceil_div(s.n, chunks), s.chunks = (unsigned)ceil_div(s.n, s.rows);
  s.groups = (unsigned)ceil_div(ceil_div(A->n[s.along.beside], 2), lanes);
  s.pitch = (unsigned)ceil_div((size_t)s.lanes * s.chunks, 32) * 32 + (axis == 0); /* odd along axis 0: no bank conflicts */
  return s;
}

size_t total_of(const line_blocks &s) { return s.groups * ceil_div(s.across[1], s.third_step); }

/* Twice as many chunks as there are rows in a chunk, more or less: a row of a chunk waits for memory, a row of the chunks' system
   does not. */
size_t chunks_for(size_t n)
{
  size_t root = 1;
  while (root * root < n) root++;
  return 2 * root < n ? 2 * root : n;
}

/* As many lines beside each other as fill a cache line, or along axis 0 a thread block of moderate size. Fewer, if thread blocks
   would be too large, or too few for the device. */
line_launch launch_of(const gmg_smoother_level *l, int axis)
{
  enum { THREADS_ALONG = 256 };
  const gmg_device *d = gmg_device_of(l->exec);
  const gmg_operator *A = l->A;
  const size_t most = axis == 0 ? THREADS_ALONG : 64 / sizeof(scalar), least = axis == 0 ? 1 : 16 / sizeof(scalar);
  const size_t threads = axis == 0 ? (size_t)THREADS_ALONG : (size_t)LINES_THREADS, chunks = chunks_for(A->n[axis]);
  const size_t lines = ceil_div(A->n[lines_axes_of(axis).beside], 2);
  size_t lanes = most;
  const auto is_too_large = [&]() {
    const line_blocks s = blocks_of(A, axis, lanes, chunks);
    return lanes * s.chunks > threads || bytes_of(s, 1) > (size_t)d->max_shared || lanes >= 2 * lines ||
           total_of(s) < (size_t)d->processors;
  };
  while (lanes > least && is_too_large()) lanes /= 2;
  line_launch x = {blocks_of(A, axis, lanes, chunks), 1, 0};
  x.shared = lanes * x.blocks.chunks <= LINES_THREADS && bytes_of(x.blocks, 1) <= (size_t)d->max_shared;
  if (!x.shared) {
    lanes = axis == 0 ? 1 : most;
    while (lanes > 1 && lanes >= 2 * lines) lanes /= 2;
    x.blocks = blocks_of(A, axis, lanes, LINES_THREADS / lanes);
  }
  x.total = total_of(x.blocks);
  return x;
}

size_t room_of(const line_launch &x) { return x.shared ? 0 : 3 * chunk_reals(x.blocks) * x.total; }

gmg_status setup(const gmg_smoother_level *l, void **state)
{
  size_t room = 0;
  GMG_TRY(gmg_exec_alloc_state(l->exec, "lines state", sizeof(lines_state), state));
  lines_state *s = (lines_state *)*state;
  for (int axis = 0; axis < 3; axis++) {
    if (!gmg_has_lines_along(l, axis)) continue;
    const line_launch x = s->launch[axis] = launch_of(l, axis);
    room = room_of(x) > room ? room_of(x) : room;
    const void *const by = (const void *)kernel_of(l->A, axis == 0, x.shared);
    if (!l->exec->dry) gmg_allow_shared(l->exec, by, (size_t)gmg_device_of(l->exec)->max_shared);
  }
  if (room == 0) return GMG_OK;
  return gmg_exec_alloc(l->exec, "systems of lines", room * sizeof(scalar), (void **)&s->room);
}

void sweep_along(const gmg_smoother_level *l, const lines_state *state, int axis, int reversed, const void *f, void *u)
{
  const line_launch &x = state->launch[axis];
  const gmg_launch_shape shape = {dim3((unsigned)x.total), dim3(x.blocks.pitch / 32 * 32), bytes_of(x.blocks, x.shared)};
  const size_t phases = lines_phases(l->A, x.blocks.along, DIAGONAL), colours = lines_colours(l->A, DIAGONAL);
  const real omega = (real)gmg_weight_lines(l->A, l->params);
  for (size_t i = 0; i < colours * phases; i++)
    gmg_launch(l->exec, "lines", kernel_of(l->A, axis == 0, x.shared), shape, operand_of(l->A), x.blocks,
               lines_part_at(colours, phases, i, reversed), f, u, omega, state->room);
}

void sweep(const gmg_smoother_level *l, void *state, const void *f, void *u, int steps, gmg_leg leg)
{
  const int reversed = leg == GMG_LEG_UP_REVERSED;
  for (int s = 0; s < steps; s++)
    for (int i = 0; i < 3; i++) {
      const int axis = reversed ? 2 - i : i;
      if (gmg_has_lines_along(l, axis)) sweep_along(l, (const lines_state *)state, axis, reversed, f, u);
    }
}

} // namespace

#endif
