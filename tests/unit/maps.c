/* What gmg_map says about its rows: those of long axes, which are made from short ones, and near pairs. */
#include "pair_of_axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The axis with an entry for each row. Positions stay unknown: maps of uniform axes do not need them. */
static gmg_axis with_all_entries(const gmg_axis *x)
{
  gmg_axis whole = *x;
  double *const from[] = {x->x, x->lo, x->hi, x->lo_diag, x->hi_diag, x->diag, x->volume};
  double **const to[] = {&whole.x, &whole.lo, &whole.hi, &whole.lo_diag, &whole.hi_diag, &whole.diag, &whole.volume};
  double *values = calloc(COUNT(to) * x->n, sizeof *values);
  whole.entries = x->n;
  for (int a = 0; a < COUNT(to); a++) {
    *to[a] = values + (size_t)a * x->n;
    for (size_t i = 0; i < x->n; i++) (*to[a])[i] = from[a][gmg_axis_entry(x, i)];
  }
  return whole;
}

static void are_equal_maps(const gmg_map *a, const gmg_map *b, const char *bc, int kind)
{
  const size_t rows = (size_t)a->rows, values = rows * (size_t)a->width;
  if (a->rows != b->rows || a->cols != b->cols || a->width != b->width || a->pairs != b->pairs || a->begin != b->begin ||
      a->end != b->end || a->period != b->period || a->step != b->step)
    fail_msg("%s, map %d: rows %d %d, cols %d %d, width %d %d, pairs %d %d, %d..%d %d..%d, period %d %d, step %d %d", bc, kind, a->rows,
             b->rows, a->cols, b->cols, a->width, b->width, (int)a->pairs, (int)b->pairs, a->begin, a->end, b->begin, b->end, a->period,
             b->period, a->step, b->step);
  assert_memory_equal(a->repeat, b->repeat, sizeof a->repeat);
  assert_memory_equal(a->at, b->at, sizeof a->at);
  assert_memory_equal(a->weight, b->weight, values * sizeof(double));
  assert_memory_equal(a->first, b->first, rows * sizeof(int));
  assert_memory_equal(a->wrap - GMG_MAP_PAD, b->wrap - GMG_MAP_PAD, ((size_t)a->cols + 2 * GMG_MAP_PAD) * sizeof(int));
}

/* Maps of long axes are made from those of short ones. They have the bits of maps that are built row by row. */
static void long_axes(void **state)
{
  (void)state;
  static const size_t n[] = {8193, 8194, 16384, 16385, 16387, 20001, 40000};
  static const gmg_map_kind kinds[] = {GMG_MAP_PROLONG, GMG_MAP_RESTRICT, GMG_MAP_RESTRICT_ADJOINT, GMG_MAP_INTERPOLATE, GMG_MAP_IDENTITY};
  int compared = 0;
  for (int i = 0; i < COUNT(n); i++)
    for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
      for (int b = 0; b < PAIRS; b++)
        for (int same = 0; same < 2; same++) {
          pair_of_axes x = make_pair(n[i], centering, pairs[b]);
          assert_int_equal(x.fine.entries, GMG_AXIS_SHORT);
          gmg_axis fine = with_all_entries(&x.fine), coarse = with_all_entries(&x.coarse);
          assert_near(gmg_axis_length(&x.fine), gmg_axis_length(&fine), 1e-11);
          for (int k = 0; k < COUNT(kinds); k++) {
            gmg_map fast, slow;
            assert_ok(x.context, gmg_map_create(&x.exec, kinds[k], &x.fine, same ? &x.fine : &x.coarse, &fast));
            assert_ok(x.context, gmg_map_create(&x.exec, kinds[k], &fine, same ? &fine : &coarse, &slow));
            are_equal_maps(&fast, &slow, pairs[b], (int)kinds[k]);
            compared++;
          }
          free(fine.x), free(coarse.x);
          end_pair(&x);
        }
  assert_int_equal(compared, COUNT(n) * 2 * PAIRS * 2 * COUNT(kinds));
}

/* The rows of an operator on a long axis, in memory of the solver: those of a short axis of the same mesh width. */
static void rows_of_long_axes(void **state)
{
  (void)state;
  enum { LONG = 9000, SHORT = 50 };
  for (int centering = GMG_CELL; centering <= GMG_VERTEX; centering++)
    for (int b = 0; b < PAIRS; b++)
      for (int type = 0; type < 2; type++) {
        gmg_problem p[2];
        session s[2];
        for (int k = 0; k < 2; k++) {
          gmg_params q = gmg_params_default();
          p[k] = make_problem(1, k ? SHORT : LONG, 1, 1, centering, pairs[b]);
          p[k].type = (gmg_type)type, p[k].h[0] = 0.25;
          q.precision = GMG_PRECISION_SAME;
          s[k] = begin_solver(&p[k], &q, 1);
        }
        const gmg_operator *A = &s[0].solver->level[0].A, *B = &s[1].solver->level[0].A;
        const void *const of_long[] = {A->lo[0], A->hi[0], A->diag[0], A->volume[0]}, *const of_short[] = {B->lo[0], B->hi[0], B->diag[0], B->volume[0]};
        const size_t size = type == GMG_F64 ? sizeof(double) : sizeof(float);
        assert_int_equal(A->uniform[0], B->uniform[0]);
        for (int a = 0; a < COUNT(of_long); a++)
          for (size_t i = 0; i < LONG; i++) {
            const size_t like = i < SHORT / 2 ? i : i >= LONG - SHORT / 2 ? i - (LONG - SHORT) : SHORT / 2;
            assert_memory_equal((const char *)of_long[a] + i * size, (const char *)of_short[a] + like * size, size);
          }
        end_solver(&s[0]), end_solver(&s[1]);
      }
}

/* gmg_map::near_pairs on all axes that are long enough, and gmg_map::place against the weights. */
static void places_agree(const char *name, const gmg_map *m)
{
  if (!m->near_pairs || !m->has_places) fail_msg("%s: near pairs %d, places %d", name, m->near_pairs, m->has_places);
  for (int r = GMG_NEAR_ENDS; r < m->rows - 2; r++) {
    const double *w = (const double *)m->weight + 2 * r, place = m->place[r % 2] + m->slope * (r / 2);
    const double at = m->first[r] + w[1] - (r / 2) - m->shift;
    assert_near(w[0] + w[1], 1, 1e-12);
    assert_near(at, place, 1e-9);
    assert_true(place >= -1 && place <= 1);
    assert_false(r % 2 && place < -1e-9 && m->place[0] + m->slope * (r / 2) > 1e-9);
  }
}

static void are_near_pairs(pair_of_axes *x, const char *bc)
{
  char name[50];
  gmg_map m;
  if (x->fine.n < 2 * GMG_NEAR_ENDS) return;
  assert_ok(x->context, gmg_map_create(&x->exec, GMG_MAP_PROLONG, &x->fine, &x->coarse, &m));
  snprintf(name, sizeof name, "%zu unknowns, %s", x->fine.n, bc);
  places_agree(name, &m);
  assert_ok(x->context, gmg_map_create(&x->exec, GMG_MAP_IDENTITY, &x->fine, &x->fine, &m));
  assert_true(!m.near_pairs && !m.has_places);
}

static void near_pairs(void **state)
{
  (void)state;
  for_all(are_near_pairs);
}

/* Parts of axes that are coarsened in pairs: the plane sweep prolongs in its pass there, too. */
static void near_pairs_of_parts(void **state)
{
  static const char *const walls[] = {"dd", "nn", "rn", "pp"};
  enum { N = 128, GHOSTS = 8 };
  (void)state;
  for (int b = 0; b < COUNT(walls); b++) {
    pair_of_axes x = make_pair(N, GMG_CELL, walls[b]);
    for (int low = 0; low < N; low += 32) {
      const int wraps = walls[b][0] == 'p', from = low > 0 || wraps ? low - GHOSTS : 0, to = low + 32 < N || wraps ? low + 32 + GHOSTS : N;
      const int coarse_from = low > 0 || wraps ? low / 2 - GHOSTS : 0, coarse_to = low + 32 < N || wraps ? low / 2 + 16 + GHOSTS : N / 2;
      const gmg_span fine = {from, (size_t)(to - from)}, coarse = {coarse_from, (size_t)(coarse_to - coarse_from)};
      gmg_map m;
      assert_ok(x.context, gmg_map_create_part(&x.exec, GMG_MAP_PROLONG, &x.fine, &x.coarse, fine, coarse, &m));
      assert_int_equal(m.pairs_inside, GMG_PAIRS_LINEAR);
      places_agree(walls[b], &m);
    }
    end_pair(&x);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(long_axes), cmocka_unit_test(rows_of_long_axes), cmocka_unit_test(near_pairs),
                                     cmocka_unit_test(near_pairs_of_parts)};
  return run_selected(tests);
}
