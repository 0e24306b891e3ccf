/* Memory of this process, for tests that look for leaks. */
#ifndef GMG_TEST_MEMORY_H
#define GMG_TEST_MEMORY_H

#include <stddef.h>

/* Bytes that the C library has allocated and not freed. 0 with a sanitizer, which uses memory itself, and searches leaks itself. */
size_t allocated(void);
size_t resident(void); /* bytes of this process in memory */

/* The C library counts freed blocks in each thread's cache as allocated. Called first in main(), this starts the program again
   without caches, which only a new process can do. */
void switch_off_caches(char **argv);

#endif
