/* The NVTX ranges of a solve on CUDA, by operation and level. This program acts as the profiler: NVTX calls the function in
   InitializeInjectionNvtx2_fnptr. */
#include "twins.h"

#ifdef GMG_NVTX
#define NVTX_STATIC_INJECTION_IMPL /* the function that NVTX calls */
extern int (*InitializeInjectionNvtx2_fnptr)(const void *(*table_of)(uint32_t id));
#include <nvtx3/nvToolsExt.h>

enum { MOST_RANGES = 64 };

static struct {
  int depth, kinds;
  struct {
    char text[64];
    int times;
  } seen[MOST_RANGES];
} heard;

static nvtxDomainHandle_t create(const char *name)
{
  static int ours, others;
  return (nvtxDomainHandle_t)(strcmp(name, "gmg") == 0 ? &ours : &others);
}

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range)
{
  int i = 0, level = -1;
  (void)domain;
  while (i < heard.kinds && strcmp(heard.seen[i].text, range->message.ascii) != 0) i++;
  if (i == heard.kinds && heard.kinds < MOST_RANGES) snprintf(heard.seen[heard.kinds++].text, 64, "%s", range->message.ascii);
  if (i < heard.kinds) heard.seen[i].times++;
  const char *number = strrchr(range->message.ascii, ' ');
  if (number) level = atoi(number);
  assert_int_equal(range->payload.iValue, level);
  return heard.depth++;
}

static int pop(nvtxDomainHandle_t domain)
{
  (void)domain;
  return --heard.depth;
}

static int listen(NvtxGetExportTableFunc_t table_of)
{
  const NvtxExportTableCallbacks *callbacks = table_of(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table;
  unsigned size;
  if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
  *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
  return 1;
}

NvtxInitializeInjectionNvtxFunc_t InitializeInjectionNvtx2_fnptr = listen;

static int times(const char *operation, int level)
{
  char text[64];
  snprintf(text, sizeof text, "%s %d", operation, level);
  for (int i = 0; i < heard.kinds; i++)
    if (strcmp(heard.seen[i].text, text) == 0) return heard.seen[i].times;
  return 0;
}

/* Every level above the fused ones smooths, restricts and prolongs, each leg in one operation or in two. */
static void ranges_by_operation_and_level(void **state)
{
  static const shape shapes[] = {
      {3, {64, 64, 64}, GMG_CELL, "dddddd"}, {2, {300, 200, 1}, GMG_CELL, "ppdd"}, {1, {3000, 1, 1}, GMG_VERTEX, "dn"}};
  (void)state;
  for (int i = 0; i < 3; i++)
    for (int mixed = 0; mixed < 2; mixed++) {
      const gmg_problem p = shaped_problem(&shapes[i]);
      gmg_params q = params_for_cycles();
      gmg_report r;
      q.precision = mixed ? GMG_PRECISION_MIXED : GMG_PRECISION_SAME, q.max_cycles = 2, q.rtol = 1e-14;
      on_device = 1;
      session s = begin_solver(&p, &q, 0);
      double *f = field(unknowns(&p), 3), *u = field(unknowns(&p), 0);
      memset(&heard, 0, sizeof heard);
      assert_int_equal(solve_in(&s, f, u, &r), GMG_NOT_CONVERGED);
      assert_int_equal(heard.depth, 0);
      const int bottom = s.solver->mg.bottom.level;
      for (int l = 0; l < bottom; l++) {
        assert_true(times("smooth and restrict", l) > 0 || (times("smooth", l) > 0 && times("restrict", l) > 0));
        assert_true(times("prolong and smooth", l) > 0 || (times("smooth", l) > 0 && times("prolong", l) > 0));
      }
      assert_true(times("residual", 0) > 0);
      assert_true(times(bottom < r.levels - 1 ? "small levels" : "coarse solve", bottom) > 0);
      print_message("%dD, %d levels:", p.dim, r.levels);
      for (int k = 0; k < heard.kinds; k++) print_message(" %s (%d)", heard.seen[k].text, heard.seen[k].times);
      print_message("\n");
      end_solver(&s);
      free(f), free(u);
    }
}
#endif

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
#ifdef GMG_NVTX
  const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_by_operation_and_level)};
  return run_selected(tests);
#else
  puts("skipped: the library was built without nvtx3/nvToolsExt.h");
  return SKIPPED;
#endif
}
