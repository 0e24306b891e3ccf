/* Functions of the CUDA runtime for tests. Only device.c depends on whether the library has CUDA. Without CUDA nothing is
   allocated, and without_device() skips the test. */
#ifndef GMG_TEST_DEVICE_H
#define GMG_TEST_DEVICE_H

#include <stddef.h>

enum { SKIPPED = 77 }; /* exit status for CTest, after the reason is printed */

extern const int built_with_cuda;
int without_device(void); /* 0 or SKIPPED */

/* Functions below end the program if a CUDA call fails. */
void *device_alloc(size_t bytes);
void device_release(void *p);
void device_copy(void *to, const void *from, size_t bytes); /* after all earlier work, before all later work */
size_t device_free_memory(void);
int device_count(void);
void device_use(int number);         /* for this thread */
void *device_stream(void);           /* a new stream that does not wait for the default stream */
void device_stream_end(void *stream);
void device_describe(char *text, size_t size); /* "sm_90, 132 multiprocessors" */

#endif
