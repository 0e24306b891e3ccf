/* Small types that several rooms share. Calls nothing; called by smoothers, coarse and mg. */
#ifndef GMG_CORE_TYPES_H
#define GMG_CORE_TYPES_H

/* What stands in u where a sweep, a leg of a cycle or a solve begins. GMG_FROM_ZERO: u is taken as 0 and not read. */
typedef enum { GMG_FROM_CURRENT, GMG_FROM_ZERO } gmg_start;

#endif
