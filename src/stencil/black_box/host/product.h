/* The Galerkin product of host/product.c. Included by host/black_box.c. */
#ifndef GMG_STENCIL_BLACK_BOX_HOST_PRODUCT_H
#define GMG_STENCIL_BLACK_BOX_HOST_PRODUCT_H

#include "core/real.h"
#include "stencil/black_box/black_box.h"

/* gmg_black_box_ops::product() */
void R(gmg_black_box_product_host)(const gmg_exec *e, const gmg_operator *A, const gmg_operator *C, const gmg_black_box *p);

#endif
