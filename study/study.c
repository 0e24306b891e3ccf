/* See study.h. */
#include "study.h"
#include "gmg_cuda.h"

#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef GMG_CUDA
#include <cuda_runtime_api.h>
#endif

double study_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

gmg_params study_params(void)
{
  gmg_params p = gmg_params_default();
  p.direct = GMG_DIRECT_NEVER;
  p.smoother = gmg_smoother_by_name("async");
  return p;
}

void study_say(const study *s, const char *format, ...)
{
  va_list args;
  if (s->place[STUDY_HOST].demo.quiet) return;
  printf("[%6.1f s] ", study_now() - s->start);
  va_start(args, format);
  vprintf(format, args);
  va_end(args);
  putchar('\n');
  fflush(stdout);
}

/* --- options --- */

enum { DEVICE = 256, THREADS, JSON, RUNS, N, ONLY };

static const char *const help_text =
    "  --n N                  unknowns of the largest one-dimensional problems\n"
    "  --runs K               runs of what is timed, and of what is not deterministic\n"
    "  --only PART,...        these parts alone:";

static const char *const more_help_text =
    "  --quick                small sizes, a second or two\n"
    "  --full                 the papers' sizes: hours on a host\n"
    "  --device host|cuda[:N] where to run (a CUDA device where one can be used, else the host)\n"
    "  --threads K            host threads; 0: all cores (0)\n"
    "  --json FILE            write the results to FILE as JSON\n"
    "  --quiet                print nothing but errors\n"
    "  --help                 print this and leave\n";

static int print_help(const study_program *about)
{
  printf("usage: %s [options]\n\n%s\n\noptions (defaults in parentheses):\n%s", about->name, about->summary, help_text);
  for (const study_part *part = about->parts; part->name; part++) printf(" %s", part->name);
  printf("\n%s", more_help_text);
  return 0;
}

static int bad_value(const study_program *about, const char *name, const char *text, const char *expects)
{
  fprintf(stderr, "%s: --%s '%s': expected %s\n", about->name, name, text, expects);
  return 2;
}

static int is_part(const study_program *about, const char *text, size_t length)
{
  for (const study_part *part = about->parts; part->name; part++)
    if (strlen(part->name) == length && memcmp(part->name, text, length) == 0) return 1;
  return 0;
}

static int read_only(study *s, const char *text)
{
  char expects[512] = "some of";
  for (const study_part *part = s->about->parts; part->name; part++)
    snprintf(expects + strlen(expects), sizeof expects - strlen(expects), " %s", part->name);
  s->options.only = text;
  for (const char *at = text;; at++) {
    const size_t length = strcspn(at, ",");
    if (!is_part(s->about, at, length)) return bad_value(s->about, "only", text, expects);
    at += length;
    if (!*at) return -1;
  }
}

static int read_number(const study *s, const char *name, const char *text, int least, int most, int *value)
{
  char expects[64];
  snprintf(expects, sizeof expects, "a whole number from %d to %d", least, most);
  return demo_parse_int(text, least, most, value) ? -1 : bad_value(s->about, name, text, expects);
}

static int read_value(study *s, int option, const char *text)
{
  study_options *o = &s->options;
  demo_options *d = &s->place[STUDY_DEVICE].demo;
  switch (option) {
    case DEVICE: return demo_parse_device(text, &d->device) ? -1 : bad_value(s->about, "device", text, "host, cuda or cuda:N");
    case THREADS: return read_number(s, "threads", text, 0, 4096, &d->threads);
    case JSON: return d->json = text, *text ? -1 : bad_value(s->about, "json", text, "a file name");
    case RUNS: return read_number(s, "runs", text, 1, BENCH_SAMPLES, &o->runs);
    case N: return read_number(s, "n", text, s->about->least, s->about->most, &o->n);
    case ONLY: return read_only(s, text);
    default: return -1; /* getopt_long() has set the flag */
  }
}

static int read_options(study *s, int argc, char **argv)
{
  study_options *o = &s->options;
  demo_options *d = &s->place[STUDY_DEVICE].demo;
  const struct option options[] = {{"device", 1, NULL, DEVICE}, {"threads", 1, NULL, THREADS}, {"json", 1, NULL, JSON},
                                   {"runs", 1, NULL, RUNS},     {"n", 1, NULL, N},             {"only", 1, NULL, ONLY},
                                   {"quick", 0, &o->quick, 1},  {"full", 0, &o->full, 1},      {"quiet", 0, &d->quiet, 1},
                                   {"help", 0, &d->help, 1},    {0}};
  opterr = 0;
  for (int c, code; (c = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
    if (c == '?' || c == ':') {
      fprintf(stderr, "%s: %s %s; see --help\n", d->program, argv[optind - 1], c == ':' ? "needs a value" : "is not an option here");
      return 2;
    }
    if ((code = read_value(s, c, optarg)) >= 0) return code;
  }
  if (d->help) return print_help(s->about);
  if (optind < argc || (o->quick && o->full)) {
    if (optind < argc) fprintf(stderr, "%s: '%s' is not an option; see --help\n", d->program, argv[optind]);
    else fprintf(stderr, "%s: --quick and --full exclude each other\n", d->program);
    return 2;
  }
  o->scale = o->quick ? STUDY_QUICK : o->full ? STUDY_FULL : STUDY_DEFAULT;
  return !d->json || demo_can_write(d->json) ? -1 : demo_fail(d, "--json %s: could not be written", d->json);
}

/* Whether --only selects the part. */
static int wanted(const study *s, const char *part)
{
  const size_t length = strlen(part);
  for (const char *at = s->options.only; at; at = *at ? at + 1 : NULL) {
    const size_t here = strcspn(at, ",");
    if (here == length && memcmp(at, part, length) == 0) return 1;
    at += here;
  }
  return s->options.only == NULL;
}

/* --- contexts and the file --- */

/* Creates the host's context, and a device's if there is one and --device is not host. */
static int create_contexts(study *s)
{
  study_place *host = &s->place[STUDY_HOST], *device = &s->place[STUDY_DEVICE];
  const int wanted = device->demo.device.kind;
  host->demo = device->demo;
  host->demo.device.kind = DEMO_HOST;
  host->demo.quiet |= wanted != DEMO_HOST; /* the message about the device is enough */
  if (demo_context_create(&host->demo, &host->context)) return 1;
  host->demo.quiet = device->demo.quiet;
  device->demo.threads = 0; /* --threads is for the host */
  s->no_device = wanted == DEMO_HOST ? "--device host" : NULL;
  if (wanted == DEMO_HOST) return 0;
  if (demo_context_create(&device->demo, &device->context)) return 1;
  if (device->demo.device.kind == DEMO_CUDA) return 0;
  gmg_context_destroy(device->context); /* there is no device, so this is a second context of the host */
  device->context = NULL;
  s->no_device = "no CUDA device could be used";
  return 0;
}

const study_place *study_best(const study *s) { return &s->place[s->place[STUDY_DEVICE].context ? STUDY_DEVICE : STUDY_HOST]; }

int study_is_device(const study_place *place) { return place->demo.device.kind == DEMO_CUDA; }

static void add_versions(study *s)
{
#ifdef GMG_CUDA
  int driver = 0, runtime = 0;
  if (!s->place[STUDY_DEVICE].context || cudaDriverGetVersion(&driver) || cudaRuntimeGetVersion(&runtime)) return;
  study_number(s, s->root, "cuda_driver", driver);
  study_number(s, s->root, "cuda_runtime", runtime);
#else
  (void)s;
#endif
}

static int begin_file(study *s, int argc, char **argv)
{
  static const char *const scales[] = {"quick", "default", "full"};
  char command[1024] = "";
  const char *slash = strrchr(argv[0], '/');
  for (int i = 0; i < argc; i++) {
    const char *text = i == 0 && slash ? slash + 1 : argv[i];
    snprintf(command + strlen(command), sizeof command - strlen(command), "%s%s", i ? " " : "", text);
  }
  s->root = cJSON_CreateObject();
  s->complete = s->root && bench_header(s->root, s->about->name, gmg_context_threads(s->place[STUDY_HOST].context), NULL);
  study_text(s, s->root, "device", s->no_device ? "none" : s->place[STUDY_DEVICE].demo.device_name);
  if (s->no_device) study_text(s, s->root, "no_device", s->no_device);
  add_versions(s);
  const char *wait_policy = getenv("OMP_WAIT_POLICY"); /* threads that do not spin take long to wake up */
  if (wait_policy) study_text(s, s->root, "wait_policy", wait_policy);
  study_text(s, s->root, "command", command);
  study_text(s, s->root, "scale", scales[s->options.scale]);
  s->results = cJSON_CreateArray();
  return s->complete && s->results ? -1 : demo_fail(&s->place[STUDY_HOST].demo, "out of memory");
}

static int begin(study *s, const study_program *about, int argc, char **argv)
{
  *s = (study){.about = about, .start = study_now(), .place[STUDY_DEVICE].demo = {.program = about->name}};
  const int code = read_options(s, argc, argv);
  if (code >= 0) return code;
  return create_contexts(s) ? 1 : begin_file(s, argc, argv);
}

static int end(study *s, int code)
{
  if (code == 0 && s->results && s->place[STUDY_HOST].demo.json) {
    study_number(s, s->root, "seconds", study_rounded(study_now() - s->start, 4));
    code = study_write(s);
  }
  cJSON_Delete(s->root);
  cJSON_Delete(s->results);
  for (int i = 0; i < 2; i++) gmg_context_destroy(s->place[i].context);
  return code;
}

int study_main(const study_program *about, int argc, char **argv)
{
  study s;
  int code = begin(&s, about, argc, argv);
  if (code >= 0) return end(&s, code);
  code = 0;
  for (const study_part *part = about->parts; part->name && !code; part++)
    if (wanted(&s, part->name)) code = part->run(&s);
  return end(&s, code);
}
