/* Several threads of this process as processes that share a grid: a transport between them, and calls that all make at once. Calls
   nothing but the system; called through the API. */
#ifndef GMG_COMM_THREADS_H
#define GMG_COMM_THREADS_H

#include "gmg_transport.h"

/* Fills `transport` for each of `count` threads. The end of the last one releases what they share. Returns GMG_ERR_MEMORY, with
   nothing to release, if there is no memory. */
gmg_status gmg_threads_create(int count, gmg_transport transport[]);
void gmg_threads_release(int count, gmg_transport transport[]); /* if no context took them over */

/* Calls work(part, data) in `count` threads at once, of which the caller is the first. Returns GMG_ERR_MEMORY, with no call made,
   if the system cannot start so many. */
gmg_status gmg_run_together(int count, void (*work)(int part, void *data), void *data);

/* Creates a context for each part by create(its transport, part, data, context), in threads at once. All or none are created. */
typedef gmg_status gmg_create_part(const gmg_transport *t, int part, void *data, gmg_context **context);
gmg_status gmg_create_together(int count, gmg_create_part *create, void *data, gmg_context *contexts[]);

#endif
