/* Images of the demo clone: PNG files of 8 or 16 bits, grey or in colour, with or without alpha, and those that it draws. */
#ifndef GMG_DEMO_IMAGE_H
#define GMG_DEMO_IMAGE_H

#include "demo.h"

enum { RED, GREEN, BLUE, ALPHA, PLANES };

/* Rows from the top, values from 0 to 1. */
typedef struct image {
  size_t width, height;
  int depth;             /* bits of a value in the file, 8 or 16 */
  int grey, has_alpha;   /* grey: three planes alike; no alpha: 1 everywhere */
  double *plane[PLANES];
} image;

/* option: what names the file, for messages. Destroy the image either way. */
int demo_image_read(const demo_options *o, const char *option, const char *path, image *to);
/* Values are rounded to the depth; what is beyond 0 and 1 is cut off there. */
int demo_image_write(const demo_options *o, const char *option, const char *path, const image *from);

int demo_image_create(size_t width, size_t height, image *to); /* black, 8 bits, in colour, opaque; returns 1 on success */
int demo_image_copy(const image *from, image *to);             /* likewise */
void demo_image_destroy(image *i);

/* --- what clone draws where it is given no files (scene.c); they return 1 on success --- */
int demo_scene_landscape(image *to); /* an evening over a lake */
int demo_scene_balloon(image *to);   /* in a hazy sky; alpha is an oval around it */
extern const int demo_scene_place[2];  /* of the balloon in the landscape */

#endif
