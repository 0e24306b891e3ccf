/* The command line of the measurements on a device, its copy bandwidth, and the records in the JSON file. */
#include "gpu.h"

#include <cuda_runtime_api.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bench_options bench_gpu_options;
static FILE *json;
static int rows;
static char *known; /* for each character of bench_gpu_options.only: 1 if a row's name begins there */

void bench_gpu_add(bench_gpu_samples *s, double x)
{
  int at = s->count < MAX_RUNS ? s->count++ : MAX_RUNS - 1;
  for (; at > 0 && s->sample[at - 1] > x; at--) s->sample[at] = s->sample[at - 1];
  s->sample[at] = x;
}

double bench_gpu_median(const bench_gpu_samples *s)
{
  const double *middle = s->sample + s->count / 2;
  return s->count % 2 ? *middle : (middle[-1] + *middle) / 2;
}

void bench_gpu_stop(const char *what, const char *why)
{
  fprintf(stderr, "%s: %s: %s\n", bench_gpu_options.program, what, why);
  exit(1);
}

int bench_gpu_wanted(const char *name)
{
  if (!bench_gpu_options.only) return 1;
  const size_t n = strlen(name);
  for (const char *at = bench_gpu_options.only; (at = strstr(at, name)); at++)
    if ((at == bench_gpu_options.only || at[-1] == ',') && (at[n] == 0 || at[n] == ','))
      return known[at - bench_gpu_options.only] = 1;
  return 0;
}

void bench_gpu_row(const char *name, const char *unit, const bench_gpu_samples *s, double bytes, const char *extra)
{
  const double scale = strcmp(unit, "ms") == 0 ? 1e3 : 1, m = bench_gpu_median(s) * scale;
  printf("%-22s %10.4g %s (%.4g - %.4g, %d runs)", name, m, unit, s->sample[0] * scale, s->sample[s->count - 1] * scale, s->count);
  if (bytes > 0) printf("  %.3f of copy", bytes / bench_gpu_median(s) / bench_gpu_options.copy);
  printf(" %s\n", extra);
  fflush(stdout);
  if (!json) return;
  fprintf(json, "%s\n    {\"name\": \"%s\", \"median\": %.6g, \"min\": %.6g, \"max\": %.6g, \"runs\": %d, \"unit\": \"%s\"",
          rows++ ? "," : "", name, m, s->sample[0] * scale, s->sample[s->count - 1] * scale, s->count, unit);
  if (bytes > 0)
    fprintf(json, ", \"bytes\": %.6g, \"fraction_of_copy\": %.4f", bytes, bytes / bench_gpu_median(s) / bench_gpu_options.copy);
  fprintf(json, "%s}", extra);
  fflush(json); /* so that a run that is stopped leaves its finished rows */
}

void bench_gpu_skipped_row(const char *name, const char *why, const char *extra)
{
  printf("%-22s skipped: %s\n", name, why);
  if (!json) return;
  fprintf(json, "%s\n    {\"name\": \"%s\", \"status\": \"skipped\", \"skipped\": \"", rows++ ? "," : "", name);
  for (; *why; why++) { /* escaped as in JSON */
    if (*why == '"' || *why == '\\') fputc('\\', json);
    fputc((unsigned char)*why < ' ' ? ' ' : *why, json);
  }
  fprintf(json, "\"%s}", extra);
}

static void measure_copy(void)
{
  const size_t n = (size_t)1 << 27;
  double *a = bench_gpu_device_field(n), *b = bench_gpu_device_field(n);
  bench_gpu_samples s = {.count = 0};
  for (int i = -2; i < 20; i++) {
    const double start = bench_gpu_now();
    cudaMemcpyAsync(b, a, n * sizeof *a, cudaMemcpyDeviceToDevice, NULL);
    const double t = bench_gpu_now() - start;
    if (i >= 0) bench_gpu_add(&s, 2 * (double)(n * sizeof *a) / t);
  }
  bench_gpu_options.copy = bench_gpu_median(&s);
  cudaFree(a), cudaFree(b);
}

/* The first word of the file that is a version: it begins with a digit, and contains a point. */
static void driver_version(char *version, size_t size)
{
  FILE *from = fopen("/proc/driver/nvidia/version", "r");
  char word[64];
  snprintf(version, size, "not known");
  while (from && fscanf(from, "%63s", word) == 1) {
    if (word[0] < '0' || word[0] > '9' || !strchr(word, '.')) continue;
    snprintf(version, size, "%s", word);
    break;
  }
  if (from) fclose(from);
}

static void write_head(void)
{
  struct cudaDeviceProp p;
  int driver = 0, runtime = 0;
  char date[32], version[64];
  const time_t t = time(NULL);
  cudaGetDeviceProperties(&p, 0);
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  driver_version(version, sizeof version);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
  printf("%s, CUDA %d.%d, driver for %d.%d, copy %.4g TB/s\n", p.name, runtime / 1000, runtime % 1000 / 10, driver / 1000,
         driver % 1000 / 10, bench_gpu_options.copy * 1e-12);
  if (!bench_gpu_options.json) return;
  json = fopen(bench_gpu_options.json, "w");
  if (!json) bench_gpu_stop(bench_gpu_options.json, "cannot be written");
  fprintf(json,
          "{\n  \"program\": \"%s\",\n  \"commit\": \"%s\",\n  \"date\": \"%s\",\n  \"device\": \"%s\",\n  \"driver\": \"%s\",\n"
          "  \"cuda_driver\": %d,\n  \"cuda_runtime\": %d,\n"
          "  \"copy\": {\"median\": %.6g, \"unit\": \"bytes/s, read and written\"},\n  \"results\": [",
          bench_gpu_options.program, bench_gpu_options.commit, date, p.name, version, driver, runtime, bench_gpu_options.copy);
}

/* The number that `text` is, or NaN. */
static double number(const char *text)
{
  char *end;
  const double x = strtod(text, &end);
  return end == text || *end ? NAN : x;
}

static int refuse(const char *option, const char *value, const char *expected)
{
  fprintf(stderr, "%s: --%s '%s': expected %s\n", bench_gpu_options.program, option, value, expected);
  return 2;
}

static const char help_text[] =
    "  --json FILE        write the records there\n"
    "  --only NAME,NAME   these rows alone\n"
    "  --commit ID        what the file is to say of the commit\n"
    "  --runs N           measurements of a row, 1 to 100 (%d)\n"
    "  --most UNKNOWNS    larger problems are left out\n"
    "  --help             this text\n";

int bench_begin(int argc, char **argv, const char *program, const char *what, int runs)
{
  static const struct option options[] = {{"json", 1, NULL, 'j'}, {"only", 1, NULL, 'o'}, {"commit", 1, NULL, 'c'},
                                          {"runs", 1, NULL, 'r'}, {"most", 1, NULL, 'm'}, {"help", 0, NULL, 'h'}, {0}};
  bench_gpu_options = (bench_options){.program = program, .commit = "not known", .runs = runs, .most = INFINITY};
  for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (o == 'j') bench_gpu_options.json = optarg;
    else if (o == 'o') bench_gpu_options.only = optarg;
    else if (o == 'c') bench_gpu_options.commit = optarg;
    else if (o == 'r') {
      const double n = number(optarg);
      if (!(n >= 1 && n <= MAX_RUNS) || n != floor(n)) return refuse("runs", optarg, "a whole number from 1 to 100");
      bench_gpu_options.runs = (int)n;
    } else if (o == 'm') {
      bench_gpu_options.most = number(optarg);
      if (!(bench_gpu_options.most >= 1)) return refuse("most", optarg, "a number of unknowns from 1 up");
    } else if (o == 'h') return printf("%s: %s\n", program, what), printf(help_text, runs), 0;
    else return 2;
  }
  if (optind < argc) {
    fprintf(stderr, "%s: '%s': not an option\n", program, argv[optind]);
    return 2;
  }
  known = calloc(bench_gpu_options.only ? strlen(bench_gpu_options.only) + 1 : 1, 1);
  if (!known) bench_gpu_stop("--only", "out of memory");
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    fprintf(stderr, "%s: no CUDA device\n", program);
    return 77;
  }
  measure_copy();
  write_head();
  return -1;
}

int bench_end(void)
{
  int code = 0;
  if (json) {
    fprintf(json, "\n  ]\n}\n");
    if (fclose(json) != 0) bench_gpu_stop(bench_gpu_options.json, "cannot be written");
  }
  for (const char *at = bench_gpu_options.only; at && *at;) {
    const int n = (int)strcspn(at, ",");
    if (n > 0 && !known[at - bench_gpu_options.only])
      code = 2, fprintf(stderr, "%s: --only '%.*s': no such row, or --most leaves it out\n", bench_gpu_options.program, n, at);
    at += n + (at[n] == ',');
  }
  free(known);
  return code;
}
