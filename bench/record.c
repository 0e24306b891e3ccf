/* See record.h. NaN and infinity are not valid JSON: a number that does not apply is left out. */
#include "record.h"

#include <gmg_bench_build.h>  /* made by CMake: BENCH_COMPILER, BENCH_FLAGS */
#include <gmg_bench_commit.h> /* made at every build: BENCH_COMMIT */

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void bench_add(bench_samples *s, double value)
{
  if (s->count < BENCH_SAMPLES) s->value[s->count++] = value;
}

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(const bench_samples *s)
{
  double v[BENCH_SAMPLES];
  if (s->count == 0) return NAN;
  memcpy(v, s->value, (size_t)s->count * sizeof *v);
  qsort(v, (size_t)s->count, sizeof *v, by_value);
  return (v[(s->count - 1) / 2] + v[s->count / 2]) / 2;
}

double bench_min(const bench_samples *s)
{
  double least = s->count ? s->value[0] : NAN;
  for (int i = 1; i < s->count; i++) least = fmin(least, s->value[i]);
  return least;
}

double bench_max(const bench_samples *s)
{
  double most = s->count ? s->value[0] : NAN;
  for (int i = 1; i < s->count; i++) most = fmax(most, s->value[i]);
  return most;
}

void bench_record_start(bench_record *r, const char *name, size_t n)
{
  *r = (bench_record){.n = n, .tolerance = NAN, .floor = NAN, .bytes = NAN, .factor = NAN, .cycles = NAN,
                      .type = "f64", .unit = "s", .status = "GMG_OK"};
  snprintf(r->name, sizeof r->name, "%s_%zu", name, n);
}

void bench_record_note(bench_record *r, const char *name, double value)
{
  for (int i = 0; i < BENCH_NOTES; i++)
    if (!r->note[i].name) {
      r->note[i] = (bench_note){name, value};
      return;
    }
}

static double unknowns(const bench_record *r) { return (double)r->n * (double)r->n * (double)r->n; }

static double bytes_at_triad(const bench_record *r, double triad)
{
  return strcmp(r->unit, "s") ? NAN : bench_median(&r->samples) * triad / unknowns(r);
}

void bench_record_print(const bench_record *r, double triad)
{
  if (*r->skipped) {
    printf("%-24s skipped: %s\n", r->name, r->skipped);
    return;
  }
  printf("%-24s %10.4g %-5s (%.4g - %.4g, %d runs)", r->name, bench_median(&r->samples), r->unit, bench_min(&r->samples),
         bench_max(&r->samples), r->samples.count);
  const double bytes = bytes_at_triad(r, triad);
  if (isfinite(bytes)) printf("  %.4g bytes/unknown at triad", bytes);
  if (isfinite(bytes) && isfinite(r->bytes)) printf(", %.3g of it", r->bytes / bytes);
  if (isfinite(r->cycles)) printf("  %g cycles", r->cycles);
  if (isfinite(r->factor)) printf("  factor %.3f", r->factor);
  for (int i = 0; i < BENCH_NOTES && r->note[i].name; i++) printf("  %s %.4g", r->note[i].name, r->note[i].value);
  if (*r->setting) printf("  [%s]", r->setting);
  printf("%s%s\n", strcmp(r->status, "GMG_OK") ? "  " : "", strcmp(r->status, "GMG_OK") ? r->status : "");
  fflush(stdout);
}

/* --- JSON --- */

static int number(cJSON *to, const char *name, double value)
{
  return !isfinite(value) || cJSON_AddNumberToObject(to, name, value) != NULL;
}

static int number_or_null(cJSON *to, const char *name, double value)
{
  return isfinite(value) ? number(to, name, value) : cJSON_AddNullToObject(to, name) != NULL;
}

static int text(cJSON *to, const char *name, const char *value) { return cJSON_AddStringToObject(to, name, value) != NULL; }

/* Takes ownership of `what`, also if it fails. */
static int item(cJSON *to, const char *name, cJSON *what)
{
  if (what && cJSON_AddItemToObject(to, name, what)) return 1;
  cJSON_Delete(what);
  return 0;
}

static int spread(cJSON *to, const bench_samples *s, double scale)
{
  int ok = number(to, "median", bench_median(s) * scale) & number(to, "min", bench_min(s) * scale);
  return ok & number(to, "max", bench_max(s) * scale) & number(to, "runs", s->count);
}

static cJSON *record_object(const bench_record *r, double triad)
{
  cJSON *to = cJSON_CreateObject();
  const int n[3] = {(int)r->n, (int)r->n, (int)r->n};
  int ok = to && text(to, "name", r->name) & item(to, "n", cJSON_CreateIntArray(n, 3)) & text(to, "type", r->type);
  ok = ok && text(to, "what", r->what) & text(to, "f", r->f) & text(to, "start", r->start) & text(to, "norm", r->norm);
  ok = ok && number_or_null(to, "tolerance", r->tolerance) & number_or_null(to, "floor", r->floor);
  ok = ok && text(to, "floor_of", r->floor_of) & text(to, "unit", r->unit);
  if (*r->setting) ok = ok && text(to, "setting", r->setting);
  if (*r->skipped) {
    ok = ok && text(to, "status", "skipped") & text(to, "skipped", r->skipped);
  } else {
    const double bytes = bytes_at_triad(r, triad);
    ok = ok && text(to, "status", r->status) & spread(to, &r->samples, 1);
    ok = ok && item(to, "samples", cJSON_CreateDoubleArray(r->samples.value, r->samples.count));
    ok = ok && number(to, "bytes", r->bytes) & number(to, "bytes_at_triad", bytes);
    ok = ok && number(to, "fraction_of_triad", r->bytes / bytes);
    ok = ok && number(to, "factor", r->factor) & number(to, "cycles", r->cycles);
    for (int i = 0; i < BENCH_NOTES && r->note[i].name; i++) ok = ok && number(to, r->note[i].name, r->note[i].value);
  }
  if (ok) return to;
  cJSON_Delete(to);
  return NULL;
}

/* First line of a file, from after `key` if given; "unknown" if there is none. */
static void line_of(const char *path, const char *key, char *line, size_t size)
{
  char buffer[512];
  FILE *file = fopen(path, "r");
  snprintf(line, size, "unknown");
  while (file && fgets(buffer, sizeof buffer, file)) {
    const char *colon = strchr(buffer, ':');
    buffer[strcspn(buffer, "\n")] = 0;
    if (key && strncmp(buffer, key, strlen(key))) continue;
    snprintf(line, size, "%s", key && colon ? colon + 2 : buffer);
    break;
  }
  if (file) fclose(file);
}

int bench_header(cJSON *root, const char *program, int threads, const bench_samples *triad)
{
  char model[512], pages[512], date[64];
  const time_t now = time(NULL);
  line_of("/proc/cpuinfo", "model name", model, sizeof model);
  line_of("/sys/kernel/mm/transparent_hugepage/enabled", NULL, pages, sizeof pages);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  int ok = text(root, "program", program) & text(root, "commit", BENCH_COMMIT) & text(root, "date", date);
  ok &= text(root, "machine", model) & number(root, "cores", (double)sysconf(_SC_NPROCESSORS_ONLN));
  ok &= number(root, "threads", threads) & text(root, "compiler", BENCH_COMPILER) & text(root, "flags", BENCH_FLAGS);
  ok &= text(root, "transparent_hugepage", pages);
  if (!triad || triad->count == 0) return ok;
  cJSON *to = cJSON_AddObjectToObject(root, "triad");
  return ok && to && text(to, "unit", "GB/s") & spread(to, triad, 1e-9);
}

int bench_write(const char *path, const char *program, int threads, const bench_samples *triad, const bench_record *records,
                int count)
{
  cJSON *root = cJSON_CreateObject();
  int ok = root && bench_header(root, program, threads, triad);
  cJSON *list = ok ? cJSON_AddArrayToObject(root, "results") : NULL;
  for (int i = 0; i < count && list; i++)
    if (!cJSON_AddItemToArray(list, record_object(&records[i], triad ? bench_median(triad) : NAN))) list = NULL;
  char *printed = list ? cJSON_Print(root) : NULL;
  FILE *file = printed ? fopen(path, "w") : NULL;
  ok = file && fprintf(file, "%s\n", printed) > 0;
  if (file) ok &= fclose(file) == 0;
  cJSON_free(printed);
  cJSON_Delete(root);
  if (!ok) fprintf(stderr, "%s: %s could not be written\n", program, path);
  return !ok;
}
