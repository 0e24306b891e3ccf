/* PNG files by libpng. Its errors come by longjmp(), and their text is passed to the caller, who prints it with the option and the
 * file. Palettes and samples of fewer than 8 bits are expanded. A transparent colour becomes alpha. */
#include "image.h"

#include <errno.h>
#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 128, SIGNATURE = 8 };

static void on_error(png_structp png, png_const_charp text)
{
  snprintf(png_get_error_ptr(png), TEXT, "%s", text);
  longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp text) { (void)png, (void)text; }

int demo_image_create(size_t width, size_t height, image *to)
{
  int ok = 1;
  *to = (image){.width = width, .height = height, .depth = 8};
  for (int p = 0; p < PLANES; p++) ok &= (to->plane[p] = calloc(width * height, sizeof(double))) != NULL;
  for (size_t i = 0; ok && i < width * height; i++) to->plane[ALPHA][i] = 1;
  return ok;
}

int demo_image_copy(const image *from, image *to)
{
  if (!demo_image_create(from->width, from->height, to)) return 0;
  to->depth = from->depth, to->grey = from->grey, to->has_alpha = from->has_alpha;
  for (int p = 0; p < PLANES; p++) memcpy(to->plane[p], from->plane[p], from->width * from->height * sizeof(double));
  return 1;
}

void demo_image_destroy(image *i)
{
  for (int p = 0; p < PLANES; p++) free(i->plane[p]);
  *i = (image){0};
}

/* --- reading --- */

static double value_of(const png_byte *row, size_t i, int depth)
{
  return depth == 16 ? (256 * row[2 * i] + row[2 * i + 1]) / 65535.0 : row[i] / 255.0;
}

static void take_rows(png_structp png, png_infop info, image *to)
{
  const size_t channels = png_get_channels(png, info); /* 1 to 4: grey or colour, each perhaps with alpha */
  png_bytepp row = png_get_rows(png, info);
  for (size_t y = 0; y < to->height; y++)
    for (size_t x = 0; x < to->width; x++)
      for (size_t p = 0; p < PLANES; p++) {
        const size_t colour = to->grey ? 0 : p;
        if (p == ALPHA && !to->has_alpha) continue;
        to->plane[p][y * to->width + x] = value_of(row[y], x * channels + (p == ALPHA ? channels - 1 : colour), to->depth);
      }
}

static int decode(FILE *file, image *to, char text[TEXT])
{
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, text, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info || setjmp(png_jmpbuf(png))) return png_destroy_read_struct(&png, &info, NULL), 0;
  png_init_io(png, file);
  png_set_sig_bytes(png, SIGNATURE);
  png_read_png(png, info, PNG_TRANSFORM_EXPAND, NULL);
  if (!demo_image_create(png_get_image_width(png, info), png_get_image_height(png, info), to)) png_error(png, "out of memory");
  to->depth = png_get_bit_depth(png, info) == 16 ? 16 : 8;
  to->grey = png_get_channels(png, info) < 3;
  to->has_alpha = png_get_channels(png, info) % 2 == 0;
  take_rows(png, info, to);
  png_destroy_read_struct(&png, &info, NULL);
  return 1;
}

int demo_image_read(const demo_options *o, const char *option, const char *path, image *to)
{
  char text[TEXT] = "out of memory";
  png_byte first[SIGNATURE];
  *to = (image){0};
  FILE *file = fopen(path, "rb");
  if (!file) return demo_fail(o, "%s %s: %s", option, path, strerror(errno));
  int ok = fread(first, 1, SIGNATURE, file) == SIGNATURE && png_sig_cmp(first, 0, SIGNATURE) == 0;
  if (!ok) snprintf(text, sizeof text, "not a PNG file");
  ok = ok && decode(file, to, text);
  fclose(file);
  return ok ? 0 : demo_fail(o, "%s %s: %s", option, path, text);
}

/* --- writing --- */

static void put_row(const image *from, size_t y, png_byte *row)
{
  const double most = from->depth == 16 ? 65535 : 255;
  for (size_t x = 0; x < from->width; x++)
    for (int p = from->grey ? BLUE : RED; p < PLANES - !from->has_alpha; p++) {
      const unsigned level = (unsigned)lround(most * fmin(1, fmax(0, from->plane[p][y * from->width + x])));
      if (from->depth == 16) *row++ = (png_byte)(level >> 8);
      *row++ = (png_byte)(level & 255);
    }
}

static int encode(FILE *file, const image *from, png_byte *row, char text[TEXT])
{
  static const int kinds[2][2] = {{PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA}, {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA}};
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, text, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info || setjmp(png_jmpbuf(png))) return png_destroy_write_struct(&png, &info), 0;
  png_init_io(png, file);
  png_set_IHDR(png, info, (png_uint_32)from->width, (png_uint_32)from->height, from->depth, kinds[from->grey][from->has_alpha],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (size_t y = 0; y < from->height; y++) {
    put_row(from, y, row);
    png_write_row(png, row);
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return 1;
}

int demo_image_write(const demo_options *o, const char *option, const char *path, const image *from)
{
  char text[TEXT] = "out of memory";
  png_byte *row = malloc(from->width * PLANES * 2);
  FILE *file = fopen(path, "wb");
  if (!file) snprintf(text, sizeof text, "%s", strerror(errno));
  int ok = row && file && encode(file, from, row, text);
  if (file && fclose(file) != 0 && ok) ok = 0, snprintf(text, sizeof text, "%s", strerror(errno));
  free(row);
  return ok ? 0 : demo_fail(o, "%s %s: %s", option, path, text);
}
