/* The part of layout.h that depends on the type of an index. Included only by layout.h, once for each type. */

/* A box of unknowns within a larger array. Values along axis 0 are contiguous. Kernels take the distance between rows and planes
   from here, never from n. */
typedef struct {
  GMG_INDEX n[3];  /* unknowns along each axis */
  GMG_INDEX row;   /* elements from one row to the next */
  GMG_INDEX rows;  /* rows from one plane to the next */
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
