/* Line relaxation on a device: a kernel relaxes the lines of one part (systems.h). Included by sweeps.cuh.

   A thread has a chunk of a line. It eliminates the rows of its chunk but the last, going up; the last unknown of the chunk below
   is the border. What is left is a system of one row for each chunk, its last. One thread solves it. Then the threads substitute,
   going down (Wang 1981). A line in a single chunk is solved as on the host.

   The unknowns of a chunk (d, q, z) are in shared memory, or in global memory where a line is too long. The unknowns that threads
   beside each other have at one time are beside each other there. */
#ifndef GMG_SMOOTHERS_LINES_CUDA_RELAX_H
#define GMG_SMOOTHERS_LINES_CUDA_RELAX_H

#include "smoothers/lines/systems.h"

enum { LINES_THREADS = 512 }; /* maximum number of threads */

/* Lines along an axis, and their threads. A thread block has `lanes` lines of one colour beside each other. */
struct line_blocks {
  lines_axes along;
  int diagonal, seam[2]; /* see lines_colours(); whether the axes across, `beside` and `third`, are odd and periodic */
  unsigned across[2];    /* lines along these axes */
  unsigned third_step;   /* a colour has lines at every third_step-th place along the third axis */
  unsigned n, lanes, chunks, rows; /* of a line: unknowns, chunks, and rows of a chunk; its last chunk may have less */
  unsigned groups;                 /* thread blocks beside each other */
  unsigned pitch;                  /* threads, and numbers for each row in the work space */
};

static __host__ __device__ __forceinline__ size_t chunk_reals(const line_blocks &s) { return (size_t)s.rows * s.pitch; }

/* Shared memory: what couples the chunks, 5 numbers each, and the unknowns, if they are there. */
static size_t bytes_of(const line_blocks &s, int shared)
{
  return (5 * (size_t)s.pitch + (shared ? 3 * chunk_reals(s) : 0)) * sizeof(scalar);
}

/* A list of unknowns, or of rows with diagonal 1. */
struct lines_unknowns {
  scalar *d;
  real *q, *z;
  __device__ __forceinline__ void put(size_t at, const lines_unknown &x) const { d[at] = x.d, q[at] = x.q, z[at] = x.z; }
  __device__ __forceinline__ lines_unknown get(size_t at) const { return {d[at], q[at], z[at]}; }
  __device__ __forceinline__ void put_row(size_t at, const lines_row &a) const { d[at] = a.r, q[at] = a.hi, z[at] = a.lo; }
  __device__ __forceinline__ lines_row get_row(size_t at) const { return {z[at], q[at], 1, d[at]}; }
};

static __device__ __forceinline__ lines_unknowns lines_unknowns_at(scalar *room, size_t count)
{
  real *const q = (real *)(room + count);
  return {room, q, q + count};
}

/* A row divided by its diagonal, which may be 0 if there is nothing else in it. */
static __device__ __forceinline__ lines_row divided(const lines_row &a)
{
  const real inverse = lines_inverse(a.diag, a.diag);
  return {a.lo * inverse, a.hi * inverse, 1, a.r * inverse};
}

/* The place of a line across. */
struct line_place {
  size_t beside, third;
};

static __device__ __forceinline__ line_place place_of(const line_blocks &s, const lines_part &part, unsigned lane)
{
  const unsigned m = blockIdx.x % s.groups * s.lanes + lane, row = blockIdx.x / s.groups;
  const size_t third = s.third_step > 1 ? row * s.third_step + part.colour / 2 : row;
  return {2 * (size_t)m + (s.diagonal ? part.colour % 2 : lines_first_of(part.colour, third)), third};
}

static __device__ __forceinline__ int is_in_part(const line_blocks &s, const lines_part &part, const line_place &p)
{
  const int beside = s.seam[0] && p.beside + 1 == s.across[0], third = s.seam[1] && p.third + 1 == s.across[1];
  const int phases = s.diagonal ? 1 + s.seam[0] : 1; /* for each phase of the third axis */
  return p.beside < s.across[0] && p.third < s.across[1] && (int)part.phase == beside + phases * third;
}

/* Indices of row k of a line. along: 1 for lines along axis 0. */
struct row_indices {
  size_t i, j, k;
};

template <int along>
static __device__ __forceinline__ row_indices row_indices_of(const line_blocks &s, const line_place &p, unsigned k)
{
  if (along) return {k, p.beside, p.third};
  return s.along.axis == 1 ? row_indices{p.beside, k, p.third} : row_indices{p.beside, p.third, k};
}

/* Row k of the system for the corrections of a line. rows: a source of rows (grid.cu, box.cu) */
template <int along, class Rows>
static __device__ __forceinline__ lines_row row_of_line(const Rows &rows, const line_blocks &s, const line_place &p, unsigned k,
                                                        const scalar *f, const scalar *u)
{
  return rows.row(along ? 0 : s.along.axis, row_indices_of<along>(s, p, k), f, u);
}

/* Eliminates rows 0 to count - 2 of a chunk: row(k). Returns the last unknown of these, and sets `first` to the first one of the
   chunk, both by the last one of the chunk and the border. Stores all by put(k, unknown). */
template <class Row, class Put>
static __device__ __forceinline__ lines_unknown eliminate_chunk(unsigned count, Row row, Put put, lines_unknown *first,
                                                                lines_row *last)
{
  lines_unknown x = {0, 0, 1};
  *first = {0, 1, 0};
  lines_row next = row(0);
  for (unsigned k = 0; k + 1 < count; k++) {
    const lines_row here = next;
    next = row(k + 1); /* loads before they are needed */
    x = lines_eliminated(here, x);
    first->d += first->q * x.d, first->z += first->q * x.z, first->q *= x.q;
    put(k, x);
  }
  *last = next;
  return x;
}

/* The last row of a chunk by the last unknowns of the chunks beside it. below: the unknown below it; above: the first one of the
   chunk above. Divided by its diagonal. */
static __device__ __forceinline__ lines_row row_of_chunk(const lines_row &last, const lines_unknown &below,
                                                         const lines_unknown &above)
{
  const lines_row a = divided(last);
  return {a.lo * below.z, a.hi * above.q, 1 - a.lo * below.q - a.hi * above.z, a.r + a.lo * below.d + a.hi * above.d};
}

/* Solves the rows of the chunks of a line: those of `diag` and x, at place(chunk). The border is the last unknown. Leaves the
   solution in x.d. The last correction of a singular line is 0, as on the host. Its last pivot does not show that it is singular,
   because rounding has added up in it. So the chunks say whether any of their rows is regular. */
template <class Place>
static __device__ __forceinline__ void solve_chunks(unsigned chunks, const lines_unknowns &x, const real *diag, const int *regular,
                                                    Place place)
{
  lines_unknown first;
  lines_row last;
  int is_regular = 0;
  const auto row = [&](unsigned c) {
    lines_row a = x.get_row(place(c));
    a.diag = diag[place(c)], is_regular |= regular[place(c)];
    return a;
  };
  const lines_unknown below = eliminate_chunk(chunks, row, [&](unsigned c, const lines_unknown &v) { x.put(place(c), v); }, &first,
                                              &last);
  const real pivot = last.diag - last.lo * (below.q + below.z) - last.hi * (first.q + first.z);
  const scalar end = (last.r + last.lo * below.d + last.hi * first.d) * (is_regular ? lines_inverse(pivot, 1) : (real)0);
  scalar above = end;
  x.d[place(chunks - 1)] = end;
  for (unsigned c = chunks - 1; c-- > 0;) {
    const lines_unknown v = x.get(place(c));
    x.d[place(c)] = above = v.d + v.q * above + v.z * end;
  }
}

/* Calls body(place of the line, row, place in the work space) for all rows of a thread block's lines along axis 0, so that threads
   beside each other have rows beside each other. */
template <class Body>
static __device__ __forceinline__ void for_rows(const line_blocks &s, const lines_part &part, Body body)
{
  for (unsigned t = threadIdx.x; t < s.lanes * s.n; t += blockDim.x) {
    const unsigned lane = t / s.n, k = t - lane * s.n, chunk = k / s.rows;
    const line_place p = place_of(s, part, lane);
    if (is_in_part(s, part, p)) body(p, k, (size_t)(k - chunk * s.rows) * s.pitch + lane * s.chunks + chunk);
  }
}

/* The body of a kernel. along: lines along axis 0, whose unknowns are loaded and stored together if they are in shared memory.
   room: work space of 3 rows x pitch numbers for every thread block, unless `shared`. */
template <int along, int shared, class Rows>
static __device__ __forceinline__ void relax_lines(const Rows &rows, const line_blocks &s, const lines_part &part, const scalar *f,
                                                   scalar *u, real omega, scalar *room)
{
  extern __shared__ double memory[];
  constexpr int together = along && shared;
  const unsigned t = threadIdx.x, lane = along ? t / s.chunks : t % s.lanes, chunk = along ? t - lane * s.chunks : t / s.lanes;
  const line_place p = place_of(s, part, lane);
  const int works = lane < s.lanes && chunk < s.chunks && is_in_part(s, part, p);
  const unsigned begin = chunk * s.rows, count = min(s.rows, s.n - begin);
  const auto offset = [&](const line_place &q, unsigned k) { return rows.offset(row_indices_of<along>(s, q, k)); };
  const auto place = [&](unsigned c) { return along ? lane * s.chunks + c : c * s.lanes + lane; }; /* the thread of chunk c */

  scalar *const knots = (scalar *)memory;
  const lines_unknowns knot = lines_unknowns_at(knots, s.pitch);
  real *const diag = knot.z + s.pitch;
  int *const regular = (int *)(knots + 4 * s.pitch); /* whether a row's diagonal exceeds its couplings along the line */
  const size_t numbers = chunk_reals(s);
  const lines_unknowns all = lines_unknowns_at(shared ? knots + 5 * s.pitch : room + 3 * numbers * blockIdx.x, numbers);
  const auto at = [&](unsigned k) { return (size_t)k * s.pitch + t; };

  if (together) {
    for_rows(s, part, [&](const line_place &q, unsigned k, size_t to) {
      all.put_row(to, divided(row_of_line<along>(rows, s, q, k, f, u)));
    });
    __syncthreads();
  }

  lines_unknown below, first;
  lines_row last;
  if (works) {
    int is_regular = 0;
    const auto row = [&](unsigned k) {
      const lines_row a = together ? all.get_row(at(k)) : row_of_line<along>(rows, s, p, begin + k, f, u);
      is_regular |= lines_exceeds_rounding(a.diag - a.lo - a.hi, a.diag);
      return a;
    };
    below = eliminate_chunk(count, row, [&](unsigned k, const lines_unknown &x) { all.put(at(k), x); }, &first, &last);
    knot.put(t, first), regular[t] = is_regular;
  }
  __syncthreads();
  lines_row mine;
  if (works) mine = row_of_chunk(last, below, knot.get(place(chunk + 1 < s.chunks ? chunk + 1 : 0)));
  __syncthreads();
  if (works) knot.put_row(t, mine), diag[t] = mine.diag;
  __syncthreads();
  if (works && chunk == 0) solve_chunks(s.chunks, knot, diag, regular, place);
  __syncthreads();

  if (works) {
    const scalar border = knot.d[place(chunk > 0 ? chunk - 1 : s.chunks - 1)];
    scalar x = knot.d[t], old = together ? (scalar)0 : u[offset(p, begin + count - 1)];
    for (unsigned k = count; k-- > 0;) {
      if (k + 1 < count) {
        const lines_unknown v = all.get(at(k));
        x = v.d + v.q * x + v.z * border;
      }
      if (together) {
        all.d[at(k)] = x;
        continue;
      }
      const scalar here = old;
      if (k > 0) old = u[offset(p, begin + k - 1)]; /* loads before it is needed */
      u[offset(p, begin + k)] = here + omega * x;
    }
  }
  if (!together) return;
  __syncthreads();
  for_rows(s, part, [&](const line_place &q, unsigned k, size_t from) {
    u[offset(q, k)] += omega * all.d[from];
  });
}

#endif
