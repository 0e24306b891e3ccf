/* A solve in a medium of the gallery: coefficients that jump or turn, or a stretched mesh. scripts/plot.py draws the medium, the
 * solution and the convergence as one picture. */
#include "demo.h"

#include <stddef.h>

static const demo_program about = {
    "media",
    "Solves -div(beta grad u) + sigma u = f in the unit box, in a medium of the gallery. `--medium list` prints the media. "
    "scripts/plot.py media draws the files that --json and --output write.",
    DEMO_TAKES_RUN | DEMO_TAKES_DEVICE | DEMO_TAKES_SIZE | DEMO_TAKES_MEDIUM | DEMO_TAKES_SHIFT | DEMO_TAKES_METHOD |
        DEMO_TAKES_SMOOTHER | DEMO_TAKES_RHS | DEMO_TAKES_GUESS | DEMO_TAKES_LIMIT | DEMO_TAKES_OUTPUT,
    DEMO_RANDOM, 2, 256};

int main(int argc, char **argv)
{
  demo_options o;
  int code = demo_options_read(argc, argv, &about, &o);
  if (code >= 0) return code;
  if (!o.medium) o.medium = "ball";
  demo_medium medium = {.about = NULL};
  gmg_context *context = NULL;
  code = demo_context_create(&o, &context);
  if (!code) code = demo_medium_take(&o, &medium);
  if (!code) code = demo_solve_once(&o, context, &medium);
  gmg_context_destroy(context);
  demo_medium_destroy(&medium);
  return code;
}
