/* CUDA against the host: transfers between levels of any sizes. */
#include "transfers.h"

static void transfers_agree_in(const plain_case *c, int count)
{
  for (int type = 0; type < 2; type++)
    for (int i = 0; i < 2 * count; i++) {
      gmg_problem p = shaped_problem(&c[i / 2].shape);
      if (!taken(unknowns(&p))) continue;
      p.type = (gmg_type)type;
      all_transfers(c[i / 2].name, &p, i % 2);
    }
}

/* 2D: axes that are not processed by pairs, strips of columns and parts of rows with few or many unknowns in the last ones. */
static void transfers_agree_at_odd_sizes(void **state)
{
  static const plain_case odd[] = {
      {"cells", {2, {255, 131, 1}, GMG_CELL, "dnrd"}},
      {"vertices", {2, {257, 129, 1}, GMG_VERTEX, "ndrn"}},
      {"periodic cells", {2, {129, 257, 1}, GMG_CELL, "pppp"}},
      {"periodic rows", {2, {61, 187, 1}, GMG_VERTEX, "ppdn"}},
      {"periodic columns", {2, {385, 95, 1}, GMG_CELL, "ndpp"}},
      {"one line", {2, {1, 333, 1}, GMG_CELL, "dddd"}},
      {"tall and thin", {2, {3, 5000, 1}, GMG_CELL, "ddnd"}},
      {"wide and thin", {2, {5000, 3, 1}, GMG_VERTEX, "ddrd"}},
      {"tall, periodic", {2, {3, 1501, 1}, GMG_VERTEX, "pppp"}},
      {"wide, periodic", {2, {1501, 3, 1}, GMG_CELL, "pppp"}},
      {"one axis coarsened", {2, {93, 2048, 1}, GMG_CELL, "ddnd"}},
      {"the other", {2, {2047, 93, 1}, GMG_VERTEX, "ndpp"}},
      {"strips with one column", {2, {129, 33, 1}, GMG_VERTEX, "dddd"}},
      {"nine rows", {2, {125, 9, 1}, GMG_CELL, "nnpp"}}};
  (void)state;
  transfers_agree_in(odd, COUNT(odd));
  for (int i = 0; i < 4; i++) { /* no two rows have the same weights */
    medium m = stretched(2, 77, 5, (gmg_centering)(i % 2));
    if (taken(unknowns(&m.p))) all_transfers("stretched", &m.p, i / 2);
    free_medium(&m);
  }
}

/* Even sizes of which one axis is coarsened: along the last and the first axis, and between them. */
static void transfers_agree_along_one_axis(void **state)
{
  static const plain_case even[] = {{"the last of two axes", {2, {94, 2048, 1}, GMG_CELL, "ddnd"}},
                                    {"the last, periodic", {2, {64, 1500, 1}, GMG_CELL, "ddpp"}},
                                    {"the first of two axes", {2, {2048, 94, 1}, GMG_CELL, "ndpp"}},
                                    {"the first, periodic", {2, {1500, 64, 1}, GMG_VERTEX, "ppdd"}},
                                    {"the last of three axes", {3, {12, 10, 250}, GMG_CELL, "dnppdr"}},
                                    {"the last of three, periodic", {3, {10, 12, 254}, GMG_VERTEX, "ddddpp"}},
                                    {"the first of three axes", {3, {250, 12, 10}, GMG_CELL, "drppnn"}},
                                    {"the first of three, periodic", {3, {254, 10, 12}, GMG_CELL, "ppdddd"}},
                                    {"the second of three axes", {3, {12, 250, 10}, GMG_CELL, "dddddd"}}};
  (void)state;
  transfers_agree_in(even, COUNT(even));
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(transfers_agree_at_odd_sizes), cmocka_unit_test(transfers_agree_along_one_axis)};
  return run_selected(tests);
}
