/* Division of a level into blocks (src/smoothers/relax/partition.h): how many there are along an axis, and how long they are. */
#include "internals.h"
#include "util.h"

typedef gmg_blocks divide(const gmg_operator *A, const size_t wanted[3], const size_t preferred[3]);

static void expect(divide *by, size_t n, size_t wanted, size_t preferred, size_t count, size_t shape)
{
  const gmg_operator A = {.dim = 1, .n = {n, 1, 1}, .cells = n};
  const gmg_blocks b = by(&A, (size_t[3]){wanted, 0, 0}, (size_t[3]){preferred, 1, 1});
  if (b.count[0] != count || b.shape[0] != shape || b.total != count)
    fail_msg("%zu unknowns, preferred %zu: %zu blocks of %zu, not %zu of %zu", n, preferred, b.count[0], b.shape[0], count, shape);
}

static void blocks_are_balanced(void **state)
{
  (void)state;
  expect(gmg_blocks_make, 64, 0, 64, 1, 64), expect(gmg_blocks_make, 65, 0, 64, 2, 33), expect(gmg_blocks_make, 7, 0, 64, 1, 7);
  expect(gmg_blocks_make, 65, 64, 8, 2, 64); /* the caller's blocks stay as they are */
}

/* Blocks may be an eighth longer than preferred, where less than half a block would remain. */
static void blocks_may_be_longer(void **state)
{
  (void)state;
  divide *const about = gmg_blocks_make_about;
  expect(about, 256, 0, 256, 1, 256), expect(about, 257, 0, 256, 1, 257), expect(about, 288, 0, 256, 1, 288);
  expect(about, 289, 0, 256, 2, 145), expect(about, 512, 0, 256, 2, 256), expect(about, 513, 0, 256, 2, 257);
  expect(about, 257, 0, 32, 8, 33), expect(about, 271, 0, 32, 8, 34), expect(about, 288, 0, 32, 9, 32);
  expect(about, 300, 0, 32, 9, 34);
  expect(about, 48, 0, 32, 2, 24), expect(about, 7, 0, 32, 1, 7), expect(about, 257, 256, 32, 2, 256);
}

int main(int argc, char **argv)
{
  only(argc, argv);
  const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_balanced), cmocka_unit_test(blocks_may_be_longer)};
  return run_selected(tests);
}
