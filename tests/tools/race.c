/* Two threads write one variable without care. If the thread sanitizer lets this pass, it sees nothing elsewhere either. */
int main(void)
{
  volatile int shared = 0;
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 1000; i++) shared = shared + 1;
  return 0;
}
