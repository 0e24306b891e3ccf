/* The default images of the demo clone: an evening over a lake, and a balloon in quite another light. Nothing here has to do
 * with multigrid. Clouds and ridges are sums of octaves of random values on a grid, smoothly interpolated (Perlin 1985). */
#include "image.h"

#include <math.h>

const int demo_scene_place[2] = {110, 1};

typedef struct colour {
  double r, g, b;
} colour;

static const double PI = 3.14159265358979323846;

static colour mix(colour a, colour b, double t)
{
  t = fmin(1, fmax(0, t));
  return (colour){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}

static colour times(double s, colour c) { return (colour){s * c.r, s * c.g, s * c.b}; }

static void put(image *to, size_t i, colour c) { to->plane[RED][i] = c.r, to->plane[GREEN][i] = c.g, to->plane[BLUE][i] = c.b; }

static double smooth(double from, double to, double x)
{
  const double t = fmin(1, fmax(0, (x - from) / (to - from)));
  return t * t * (3 - 2 * t);
}

/* A random value in 0..1 that depends on x and y alone. */
static double hash(long x, long y)
{
  unsigned long long z = (unsigned long long)x * 0x9e3779b97f4a7c15ULL ^ (unsigned long long)y * 0xc2b2ae3d27d4eb4fULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double noise(double x, double y)
{
  const double i = floor(x), j = floor(y), s = smooth(0, 1, x - i), t = smooth(0, 1, y - j);
  const long a = (long)i, b = (long)j;
  const double lower = hash(a, b) + s * (hash(a + 1, b) - hash(a, b)), upper = hash(a, b + 1) + s * (hash(a + 1, b + 1) - hash(a, b + 1));
  return lower + t * (upper - lower);
}

static double octaves(double x, double y, int count)
{
  double sum = 0, weight = 0.5;
  for (int i = 0; i < count; i++, weight /= 2, x *= 2.03, y *= 2.03) sum += weight * noise(x + 17.3 * i, y + 5.1 * i);
  return sum;
}

/* --- the landscape: x from 0 to 1.6, y from 0 at the top to 1 --- */

enum { WIDTH = 640, HEIGHT = 400 };
static const double SHORE = 0.74, SUN[2] = {1.13, 0.545};

static colour sky(double x, double y)
{
  const colour high = {0.20, 0.23, 0.45}, middle = {0.66, 0.45, 0.55}, low = {1.00, 0.70, 0.42}, glow = {1.00, 0.90, 0.65};
  colour c = mix(mix(high, middle, smooth(0, 0.38, y)), low, smooth(0.25, 0.62, y));
  const double away = hypot(x - SUN[0], 1.2 * (y - SUN[1]));
  c = mix(c, glow, 0.75 * exp(-away * away / 0.06));
  if (away < 0.2) c = mix(c, (colour){1, 0.97, 0.85}, 1 - smooth(0.036, 0.040, away));
  const double cloud = octaves(1.6 * x + 3, 9 * y + 0.6 * x, 5);
  return mix(c, mix((colour){0.42, 0.33, 0.48}, (colour){1.0, 0.74, 0.58}, smooth(0.1, 0.5, y)), 0.7 * smooth(0.46, 0.72, cloud));
}

static double ridge(int which, double x)
{
  static const double base[] = {0.60, 0.665, 0.72}, height[] = {0.34, 0.24, 0.15}, steps[] = {2.3, 3.3, 5};
  return base[which] - height[which] * (octaves(steps[which] * x + 31.7 * which, 7.7 * which, 7) - 0.36);
}

static colour above_shore(double x, double y)
{
  static const colour shade[] = {{0.52, 0.38, 0.50}, {0.32, 0.24, 0.38}, {0.13, 0.11, 0.20}};
  colour c = sky(x, y);
  for (int i = 0; i < 3; i++) {
    const double top = ridge(i, x), light = 1 + 0.35 * (octaves(26 * x, 26 * y + 40 * i, 3) - 0.44);
    const colour haze = mix(shade[i], (colour){0.85, 0.58, 0.48}, (2 - i) * 0.22 * smooth(top, SHORE, y));
    c = mix(c, times(light, haze), smooth(-0.0015, 0.0015, y - top));
  }
  return c;
}

/* The lake mirrors what is above the shore, with ripples that grow towards the viewer. */
static colour landscape(double x, double y)
{
  if (y < SHORE) return above_shore(x, y);
  const double near = (y - SHORE) / (1 - SHORE), ripple = octaves(7 * x, 40 / (0.25 + near), 4) - 0.45;
  const colour mirrored = above_shore(x + 0.05 * near * ripple, fmax(0, SHORE - 0.9 * (y - SHORE) * (1 + 0.5 * ripple) - 0.1 * near * ripple));
  const colour c = mix(mirrored, (colour){0.17, 0.19, 0.34}, 0.18 + 0.35 * near);
  return times(1 + 0.25 * near * ripple, mix(c, (colour){0.08, 0.07, 0.13}, 0.7 * (1 - smooth(0, 0.012, y - SHORE))));
}

int demo_scene_landscape(image *to)
{
  if (!demo_image_create(WIDTH, HEIGHT, to)) return 0;
  for (size_t i = 0; i < WIDTH * HEIGHT; i++)
    put(to, i, landscape(((double)(i % WIDTH) + 0.5) / HEIGHT, ((double)(i / WIDTH) + 0.5) / HEIGHT));
  return 1;
}

/* --- the balloon: units are its radius, its widest place is at 0, 0 --- */

enum { BALLOON_WIDTH = 160, BALLOON_HEIGHT = 196, SAMPLES = 3 }; /* SAMPLES: a pixel's side */
static const double UNIT = 48, MIDDLE[2] = {80, 75};

static double envelope(double y)
{
  if (y < -1 || y > 1.28) return -1;
  if (y < 0.45) return sqrt(1 - y * y);
  const double t = (y - 0.45) / 0.83, at = sqrt(1 - 0.45 * 0.45); /* straight on to the mouth, a little hollow */
  return at + t * (0.17 - at) - 0.07 * sin(PI * t);
}

static colour hazy_sky(double x, double y)
{
  const double cloud = octaves(0.9 * x + 8, 1.5 * y + 4, 4);
  return mix(mix((colour){0.46, 0.56, 0.66}, (colour){0.63, 0.68, 0.70}, (y + 1.6) / 4), (colour){0.78, 0.79, 0.78}, 0.45 * smooth(0.42, 0.75, cloud));
}

static colour cloth(double x, double y, double r)
{
  static const colour gore[] = {{0.80, 0.38, 0.34}, {0.92, 0.90, 0.84}, {0.30, 0.52, 0.66}, {0.92, 0.90, 0.84}};
  const double angle = asin(fmin(1, fmax(-1, x / r))), place = 12 * (angle / PI + 0.5) + 0.5;
  const int band = y > -0.12 && y < 0.16;
  const colour c = band ? (colour){0.90, 0.74, 0.42} : gore[(int)place % 4];
  const double seam = 1 - 0.12 * exp(-pow(30 * (place - round(place)), 2) / 40);
  return times((0.72 + 0.34 * cos(angle - 0.7) * (0.75 - 0.25 * y)) * seam, c);
}

static colour balloon(double x, double y)
{
  const double r = envelope(y);
  if (r > 0 && fabs(x) < r) return cloth(x, y, r);
  const double rope = 0.16 - 0.05 * (y - 1.28) / 0.32;
  if (y > 1.28 && y < 1.60 && fabs(fabs(x) - rope) < 0.012) return (colour){0.35, 0.28, 0.25};
  if (y > 1.58 && y < 1.83 && fabs(x) < 0.14 - 0.06 * (y - 1.58))
    return times(0.8 + 0.25 * (fmod(floor(40 * y) + floor(30 * x) + 100, 2)), (colour){0.52, 0.36, 0.24});
  return hazy_sky(x, y);
}

int demo_scene_balloon(image *to)
{
  if (!demo_image_create(BALLOON_WIDTH, BALLOON_HEIGHT, to)) return 0;
  to->has_alpha = 1;
  for (size_t i = 0; i < BALLOON_WIDTH * BALLOON_HEIGHT; i++) {
    const double px = (double)(i % BALLOON_WIDTH), py = (double)(i / BALLOON_WIDTH);
    colour sum = {0, 0, 0};
    for (int s = 0; s < SAMPLES * SAMPLES; s++) {
      const double x = px + (s % SAMPLES + 0.5) / SAMPLES, y = py + (s / SAMPLES + 0.5) / SAMPLES;
      const colour c = balloon((x - MIDDLE[0]) / UNIT, (y - MIDDLE[1]) / UNIT);
      sum = (colour){sum.r + c.r, sum.g + c.g, sum.b + c.b};
    }
    put(to, i, times(1.0 / (SAMPLES * SAMPLES), sum));
    const double a = (px + 0.5 - MIDDLE[0]) / 74, b = (py + 0.5 - BALLOON_HEIGHT / 2.0) / 95;
    to->plane[ALPHA][i] = pow(fabs(a), 2.6) + pow(fabs(b), 2.6) < 1;
  }
  return 1;
}
