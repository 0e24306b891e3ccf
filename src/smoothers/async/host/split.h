/* Splits lines of a level into even and odd columns (tile.h). Included twice by tile.h alone: for VALUE scalar, the type of values,
   and real, the type of coefficients. OF(name) gives each copy its own name. LOAD reads a number that other threads may write. */

/* shared: other threads may write the level's values, so they are read one at a time. A constant after inlining. */
GMG_INLINE VALUE OF(take)(const int shared, const VALUE *p) { return shared ? LOAD(p) : *p; }

/* Stores consecutive values, times c by, in columns begin .. end - 1 of a line, split into even and odd ones. `by` is split
   already; NULL: values are copied unchanged. */
GMG_INLINE void OF(split)(const int shared, const VALUE *from, long begin, long end, size_t half, real c, const real *by,
                          VALUE *restrict line)
{
  const int odd_first = begin < end && begin % 2;
  if (odd_first) line[half + (size_t)begin / 2] = (by ? c * by[half + (size_t)begin / 2] : 1) * OF(take)(shared, from);
  const long first = (begin + odd_first) / 2, pairs = (end - begin - odd_first) / 2;
  const real *restrict by_even = by ? by + first : NULL, *restrict by_odd = by ? by + half + first : NULL;
  VALUE *restrict even = line + first, *restrict odd = line + half + first;
  from += odd_first;
#pragma omp simd
  for (long m = 0; m < pairs; m++) {
    even[m] = (by ? c * by_even[m] : 1) * OF(take)(shared, from + 2 * m);
    odd[m] = (by ? c * by_odd[m] : 1) * OF(take)(shared, from + 2 * m + 1);
  }
  if (begin + odd_first + 2 * pairs < end) even[pairs] = (by ? c * by_even[pairs] : 1) * OF(take)(shared, from + 2 * pairs);
}

/* Splits the existing columns of an array along axis 0, in all pieces of the tile. */
GMG_INLINE void OF(split_columns)(const int shared, const tile *t, const VALUE *from, long begin, long end, real c, const real *by,
                                  VALUE *line)
{
  for (int k = 0; k < t->count; k++) {
    const piece *p = &t->pieces[k];
    const long first = begin > p->begin ? begin : p->begin, last = end < p->end ? end : p->end;
    if (first < last) OF(split)(shared, from + p->global + (size_t)(first - p->begin), first, last, t->s->half, c, by, line);
  }
}

/* Clears the ring beyond walls. It is read with couplings that are 0, so it must not hold NaN. */
static void OF(clear_ring)(const tile *t, VALUE *line)
{
  const size_t half = t->s->half;
  for (long i = LEAD - (long)t->s->margin[0]; i < t->exist[0][0]; i++) line[(size_t)(i / 2) + (i % 2 ? half : 0)] = 0;
  for (long i = t->exist[0][1]; i < t->size[0]; i++) line[(size_t)(i / 2) + (i % 2 ? half : 0)] = 0;
}

/* Splits a whole line of the tile. */
static void OF(split_line)(const tile *t, const VALUE *from, VALUE *line)
{
  OF(split_columns)(0, t, from, t->exist[0][0], t->exist[0][1], 1, NULL, line);
  OF(clear_ring)(t, line);
}

/* Splits a whole line of the tile, times c and a shared line. */
static void OF(split_product)(const tile *t, const VALUE *from, real c, int by, VALUE *line)
{
  OF(split_columns)(0, t, from, t->exist[0][0], t->exist[0][1], c, shared_line(t, by), line);
  OF(clear_ring)(t, line);
}
