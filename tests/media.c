#include "media.h"

static medium made(const char *name, int dim, size_t n, double strength, gmg_centering centering)
{
  medium m;
  if (!medium_make(medium_kind_of(name), dim, n, strength, centering, &m)) fail_msg("no memory for %s", name);
  return m;
}

#define MAKER(function, name) \
  medium function(int dim, size_t n, double strength, gmg_centering centering) { return made(name, dim, n, strength, centering); }
MAKER(ball, "ball")
MAKER(checkerboard, "board_8")
MAKER(wavy, "waves")
MAKER(stretched, "stretched")
MAKER(channel, "channel")
MAKER(stripes, "stripes")
MAKER(halves, "halves")
MAKER(squares, "squares")
MAKER(turning, "turning")
MAKER(absorbing, "corner")

void free_medium(medium *m) { medium_free(m); }
