/* The part of layout.h that depends on the type of an index. Included only by layout.h, once for each type. */

/* A box of unknowns within a larger array. Values along axis 0 are contiguous. Kernels take the distance between rows and planes
   from here, never from n. */
typedef struct {
  GMG_INDEX n[3];  /* unknowns along each axis */
  GMG_INDEX row;   /* pitch of rows, in elements: from unknown (i, j, k) to (i, j + 1, k) there are `row` elements */
  GMG_INDEX rows;  /* pitch of planes, in rows: from unknown (i, j, k) to (i, j, k + 1) there are rows * row elements */
  GMG_INDEX first; /* elements before unknown (0, 0, 0): ghosts */
} GMG_L(gmg_layout);

/* The layout of a packed field: no gaps, no ghosts. */
GMG_INLINE GMG_L(gmg_layout) GMG_L(gmg_layout_packed)(const GMG_INDEX n[3])
{
  const GMG_L(gmg_layout) l = {{n[0], n[1], n[2]}, n[0], n[1], 0};
  return l;
}

/* The layout of a packed field on the faces across an axis, which has one more face than unknowns. */
GMG_INLINE GMG_L(gmg_layout) GMG_L(gmg_layout_faces)(const GMG_INDEX n[3], int axis)
{
  const GMG_INDEX faces[3] = {n[0] + (axis == 0), n[1] + (axis == 1), n[2] + (axis == 2)};
  return GMG_L(gmg_layout_packed)(faces);
}

/* Offset of unknown (i, j, k). Written this way, compilers can share (k rows + j) between fields on unknowns and on faces. The
   index -1 of a ghost is correct modulo 2^64 (2^32). A separate pitch for planes would cost kernels registers. */
GMG_INLINE GMG_INDEX GMG_L(gmg_offset)(GMG_L(gmg_layout) l, GMG_INDEX i, GMG_INDEX j, GMG_INDEX k)
{
  return l.first + (k * l.rows + j) * l.row + i;
}

/* Indices of entry number t of n[0] n[1] n[2] entries: the inverse of gmg_offset() in a packed field. */
GMG_INLINE void GMG_L(gmg_indices_of)(GMG_INDEX t, const GMG_INDEX n[3], GMG_INDEX at[3])
{
  at[0] = t % n[0], at[1] = t / n[0] % n[1], at[2] = t / (n[0] * n[1]);
}

/* Where line number t of n[1] n[2] lines is. */
typedef struct {
  GMG_INDEX j, k;
} GMG_L(gmg_line_place);

GMG_INLINE GMG_L(gmg_line_place) GMG_L(gmg_line_place_of)(GMG_INDEX t, const GMG_INDEX n[3])
{
  const GMG_L(gmg_line_place) p = {t % n[1], t / n[1]};
  return p;
}

/* Offset of the first unknown of line number t. */
GMG_INLINE GMG_INDEX GMG_L(gmg_offset_of_line)(GMG_L(gmg_layout) l, GMG_INDEX t)
{
  const GMG_L(gmg_line_place) p = GMG_L(gmg_line_place_of)(t, l.n);
  return GMG_L(gmg_offset)(l, 0, p.j, p.k);
}

/* Offset of the unknown with index x along one axis, and y and z along the other two, the faster axis first. */
GMG_INLINE GMG_INDEX GMG_L(gmg_offset_across)(GMG_L(gmg_layout) l, int axis, GMG_INDEX x, GMG_INDEX y, GMG_INDEX z)
{
  return axis == 0   ? GMG_L(gmg_offset)(l, x, y, z)
         : axis == 1 ? GMG_L(gmg_offset)(l, y, x, z)
                     : GMG_L(gmg_offset)(l, y, z, x);
}

/* Elements from one unknown to the next along an axis. */
GMG_INLINE GMG_INDEX GMG_L(gmg_pitch)(GMG_L(gmg_layout) l, int axis) { return axis == 0 ? 1 : axis == 1 ? l.row : l.rows * l.row; }

/* Neighbours of unknown i along an axis of n. Across the seam of a periodic axis they wrap. At a wall it is the unknown itself, and
   the coupling is 0. */
GMG_INLINE GMG_INDEX GMG_L(gmg_index_below)(GMG_INDEX i, GMG_INDEX n, int wraps) { return i > 0 ? i - 1 : wraps ? n - 1 : i; }
GMG_INLINE GMG_INDEX GMG_L(gmg_index_above)(GMG_INDEX i, GMG_INDEX n, int wraps) { return i + 1 < n ? i + 1 : wraps ? 0 : i; }

/* Wraps index i on a periodic axis of n, however far outside it is. */
GMG_INLINE GMG_SIGNED GMG_L(gmg_wrap_modulo)(GMG_SIGNED i, GMG_SIGNED n) { return ((i % n) + n) % n; }

/* The unknown at index i, wrapped on a periodic axis. -1: it is beyond a wall. */
GMG_INLINE GMG_SIGNED GMG_L(gmg_index_or_none)(GMG_SIGNED i, GMG_SIGNED n, int wraps)
{
  return i >= 0 && i < n ? i : wraps ? GMG_L(gmg_wrap_modulo)(i, n) : -1;
}

/* The period that index i is in, which may be outside the axis by less than n: 0 on the axis, -1 below it, 1 above it. */
GMG_INLINE int GMG_L(gmg_period_of)(GMG_SIGNED i, GMG_SIGNED n) { return i < 0 ? -1 : i >= n ? 1 : 0; }

/* Whether unknown i has a lower or an upper neighbour. */
GMG_INLINE int GMG_L(gmg_has_below)(GMG_INDEX i, int wraps) { return i > 0 || wraps; }
GMG_INLINE int GMG_L(gmg_has_above)(GMG_INDEX i, GMG_INDEX n, int wraps) { return i + 1 < n || wraps; }

/* Offsets of the lower and the upper neighbour of the unknown at offset c. */
typedef struct {
  GMG_INDEX below, above;
} GMG_L(gmg_beside);

GMG_INLINE GMG_L(gmg_beside) GMG_L(gmg_offsets_beside)(GMG_INDEX c, GMG_INDEX i, GMG_INDEX n, int wraps, GMG_INDEX pitch)
{
  const GMG_INDEX around = wraps ? (n - 1) * pitch : 0;
  const GMG_L(gmg_beside) b = {i > 0 ? c - pitch : c + around, i + 1 < n ? c + pitch : c - around};
  return b;
}

/* Steps from unknown i to its lower and its upper neighbour, in elements. At a wall 0. */
typedef struct {
  GMG_SIGNED below, above;
} GMG_L(gmg_steps);

GMG_INLINE GMG_L(gmg_steps) GMG_L(gmg_steps_beside)(GMG_INDEX i, GMG_SIGNED n, int wraps, GMG_SIGNED pitch)
{
  const GMG_SIGNED around = wraps ? (n - 1) * pitch : 0;
  const GMG_L(gmg_steps) s = {i > 0 ? -pitch : around, (GMG_SIGNED)i + 1 < n ? pitch : -around};
  return s;
}
