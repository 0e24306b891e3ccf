/* The vector operations for complex scalars on a CUDA device (complex_vectors.h). */
#include "complex_vectors.h"
#include "gmg_cuda.h"

static void vectors(void **state)
{
  gmg_context *c;
  (void)state;
  assert_int_equal(gmg_context_create_cuda(0, NULL, &c), GMG_OK);
  check_complex_vectors(c, GMG_F32, &gmg_vector_cuda_c32);
  check_complex_vectors(c, GMG_F64, &gmg_vector_cuda_c64);
  assert_int_equal(gmg_exec_make(c, GMG_F64, 0).memory->health(c), GMG_OK);
  gmg_context_destroy(c);
}

int main(int argc, char **argv)
{
  only(argc, argv);
  if (without_device()) return SKIPPED;
  const struct CMUnitTest tests[] = {cmocka_unit_test(vectors)};
  return run_selected(tests);
}
