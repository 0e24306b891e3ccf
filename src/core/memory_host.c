/* Host memory, aligned to cache lines, and the clock. */
#include "exec.h"

#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *host_alloc(size_t bytes)
{
  if (bytes > SIZE_MAX - 64) return NULL;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void host_copy(void *to, const void *from, size_t bytes)
{
  if (bytes) memcpy(to, from, bytes);
}

/* Linux promises more memory than there is and ends the program that uses it. */
static size_t physical_memory(void)
{
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? (size_t)pages * (size_t)bytes : SIZE_MAX;
}

const gmg_memory_ops gmg_memory_host = {.alloc = host_alloc,
                                        .release = free,
                                        .most = physical_memory,
                                        .upload = host_copy,
                                        .download = host_copy,
                                        .now = omp_get_wtime};
