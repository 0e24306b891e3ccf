/* Plane sweep (relax/cuda/plane_sweep_faces.cuh) on levels with coefficients on faces: accepts levels, chooses blocks, and
   launches. Called through its async_variant. */
#include "variant.h"

#include "smoothers/relax/cuda/plane_sweep_faces.cuh"

static int suits(const gmg_smoother_level *l)
{
  const gmg_operator *A = l->A;
  const gmg_params *p = l->params;
  for (int a = 0; a < 3; a++)
    if (A->wraps[a] && A->n[a] % 2) return 0; /* at a seam two unknowns of one colour meet */
  if (!A->face[0] || A->dim != 3 || !face_offsets_match(A)) return 0;
  return A->cells <= 0x7fffffff && is_large(l, MIN_CELLS_PLANES) && !is_dynamic(p) && has_default_relaxation(p, 1);
}

/* Cuts the last blocks into pieces, unless the caller chose their depth. Returns the time of a pass in planes. */
static size_t pieces_of(const gmg_smoother_level *l, const gmg_blocks *b, block_pieces *p)
{
  const size_t room = processors_of(l);
  if (!l->params->async.block[2]) return cut_last_blocks(b, room, FACE_FILL, p);
  *p = {(unsigned)b->total, 1, (unsigned)b->total, (int)b->shape[2]};
  return (b->total + room - 1) / room * (b->shape[2] + FACE_FILL);
}

/* Chooses blocks and pieces. Returns 0 if the given blocks do not fit, leave half of the threads idle, or hardly fill the
   pipeline. */
static int face_blocks(const gmg_smoother_level *l, gmg_blocks *best, block_pieces *cut)
{
  const gmg_operator *A = l->A;
  size_t least = 0;
  for (size_t parts = 1; parts <= 64 && parts <= A->n[2]; parts++) {
    const size_t want[3] = {FACE_WIDE - 2, FACE_DEEP - 2, (A->n[2] + parts - 1) / parts};
    const gmg_blocks b = gmg_blocks_make(A, l->params->async.block, want);
    block_pieces pieces;
    if (b.shape[0] > want[0] || b.shape[1] > want[1] || b.shape[2] + 4 > FACE_MAX_PLANES) continue;
    if (2 * (b.shape[0] + 2) * (b.shape[1] + 2) < (size_t)FACE_THREADS || b.shape[2] < FACE_FILL) continue;
    const size_t time = pieces_of(l, &b, &pieces);
    if (least && time >= least) continue;
    *best = b, *cut = pieces, least = time;
  }
  return least > 0;
}

/* Bytes of shared memory. */
static size_t bytes_of(const gmg_operator *A, int lines)
{
  static const size_t bytes[2][2] = {{face_slot<GMG_FACES, 0>::bytes, face_slot<GMG_FACES, 1>::bytes},
                                     {face_slot<GMG_FACES | GMG_SIGMA, 0>::bytes, face_slot<GMG_FACES | GMG_SIGMA, 1>::bytes}};
  return bytes[A->sigma != NULL][lines];
}

/* Whether coefficients and f are loaded by whole lines. A field of the caller may have any alignment. */
static int loads_by_lines(const gmg_operator *A, const void *f) { return face_fields_have_lines(A) && (uintptr_t)f % 16 == 0; }

static int lay_out(const gmg_smoother_level *l, async_state *s)
{
  s->bytes = bytes_of(l->A, 1), s->threads = dim3(FACE_THREADS); /* loading value by value takes less */
  return suits(l) && s->bytes + FACE_ALONG_BYTES <= s->max_bytes && face_blocks(l, &s->blocks, &s->cut);
}

typedef void (*face_kernel)(face_level, const scalar *, const scalar *, scalar *);

/* The kernels of a pass over a given u, and from zero. */
static const face_kernel *kernels_of(const gmg_operator *A, int lines)
{
#define KERNELS(kind, wraps, by_lines) {face_plane_kernel<kind, wraps, by_lines, 0>, face_plane_kernel<kind, wraps, by_lines, 1>}
#define BY_LINES(kind, wraps) {KERNELS(kind, wraps, 0), KERNELS(kind, wraps, 1)}
  static const face_kernel kernels[2][2][2][2] = {{BY_LINES(GMG_FACES, 0), BY_LINES(GMG_FACES, 1)},
                                                  {BY_LINES(GMG_FACES | GMG_SIGMA, 0), BY_LINES(GMG_FACES | GMG_SIGMA, 1)}};
#undef BY_LINES
#undef KERNELS
  return kernels[A->sigma != NULL][A->wraps[2]][lines];
}

/* Levels share kernels, and each requests the same amount of memory. */
static const void *prepare(const gmg_smoother_level *l, const async_state *s)
{
  (void)s;
  for (int lines = 0; lines < 2; lines++)
    for (int from_zero = 0; from_zero < 2; from_zero++)
      allow_shared(l, (const void *)kernels_of(l->A, lines)[from_zero], bytes_of(l->A, lines));
  return NULL;
}

static face_level level_of(const gmg_smoother_level *l, const async_state *s, gmg_leg leg)
{
  const gmg_operator *A = l->A;
  face_level x = {block_level_of(A, &s->blocks, order_of(l, s), leg == GMG_LEG_UP_REVERSED)};
  x.cut = s->cut;
  x.field = layout_along(gmg_layout_of(A), 3);
  for (int a = 0; a < 3; a++) {
    if (a < 2) x.face_at[a] = pitches_of(gmg_face_layout_of(A, a), 3);
    x.lo[a] = (const real *)A->lo_diag[a], x.hi[a] = (const real *)A->hi_diag[a], x.face[a] = (const real *)A->face[a];
  }
  x.sigma = (const real *)A->sigma, x.shift = (real)A->shift, x.omega = (real)gmg_weight_async(A, l->params);
  return x;
}

static void run(const gmg_smoother_level *l, const async_state *s, size_t passes, const void *f, const void *from, void *to,
                gmg_leg leg)
{
  const int lines = loads_by_lines(l->A, f);
  const gmg_launch_shape grid = {dim3(s->cut.total, (unsigned)passes), s->threads, bytes_of(l->A, lines)};
  gmg_launch(l->exec, "async", kernels_of(l->A, lines)[from == NULL], grid, level_of(l, s, leg), f, from, to);
}

const async_variant R(async_planes_faces) = {.lay_out = lay_out, .prepare = prepare, .run = run};
