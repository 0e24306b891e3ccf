/* What tests need of a CUDA device beside the library. device.c alone asks whether there is CUDA; without it nothing is allocated,
   and without_device() skips the test. */
#ifndef GMG_TEST_DEVICE_H
#define GMG_TEST_DEVICE_H

#include <stddef.h>

enum { SKIPPED = 77 }; /* exit status, for CTest; the reason is printed */

extern const int built_with_cuda;
int without_device(void); /* 0 or SKIPPED */

/* A call of CUDA that fails ends the program. */
void *device_alloc(size_t bytes);
void device_release(void *p);
void device_copy(void *to, const void *from, size_t bytes); /* after what any stream still does, before what it does next */
size_t device_free_memory(void);
void device_describe(char *text, size_t size); /* "sm_90, 132 multiprocessors" */

#endif
