/* A data race: two threads write one variable. If the thread sanitizer does not report it, its other results mean nothing. */
int main(void)
{
  volatile int shared = 0;
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 1000; i++) shared = shared + 1;
  return 0;
}
