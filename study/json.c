/* See study.h: the records of a study and its file. */
#include "study.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the file --- */

static int print_line(FILE *file, const char *before, const cJSON *item, const char *after)
{
  char *text = cJSON_PrintUnformatted(item);
  const int done = text && fprintf(file, "%s%s%s", before, text, after) > 0;
  cJSON_free(text);
  return done;
}

static int print_all(FILE *file, const cJSON *root, const cJSON *results)
{
  int done = fprintf(file, "{\n") > 0;
  for (const cJSON *field = root->child; field && done; field = field->next)
    done = fprintf(file, "\"%s\": ", field->string) > 0 && print_line(file, "", field, ",\n");
  done = done && fprintf(file, "\"results\": [") > 0;
  for (const cJSON *record = results->child; record && done; record = record->next)
    done = print_line(file, "\n", record, record->next ? "," : "\n");
  return done && fprintf(file, "]\n}\n") > 0;
}

/* The name of the file that keeps the records so far, in case the run is killed. */
static int name_meanwhile(const study *s, char *name, size_t size)
{
  const char *json = s->place[STUDY_HOST].demo.json;
  return json && snprintf(name, size, "%s.part", json) < (int)size;
}

/* Writes all finished records from time to time. Errors are ignored here, because the last write reports them. */
static void save_meanwhile(study *s)
{
  enum { SECONDS = 5, NAME_LENGTH = 4096 };
  char name[NAME_LENGTH];
  if (study_now() - (s->saved > 0 ? s->saved : s->start) < SECONDS || !name_meanwhile(s, name, sizeof name)) return;
  FILE *file = fopen(name, "w");
  if (file) print_all(file, s->root, s->results), fclose(file);
  s->saved = study_now();
}

/* --- records --- */

double study_rounded(double x, int digits)
{
  char text[32];
  snprintf(text, sizeof text, "%.*e", digits - 1, x);
  return strtod(text, NULL);
}

cJSON *study_record(study *s, const char *part)
{
  save_meanwhile(s);
  cJSON *record = cJSON_CreateObject();
  if (!record || !cJSON_AddItemToArray(s->results, record)) s->complete = 0;
  study_text(s, record, "part", part);
  return record;
}

void study_number(study *s, cJSON *record, const char *name, double value)
{
  if (isfinite(value) && !cJSON_AddNumberToObject(record, name, value)) s->complete = 0;
}

void study_text(study *s, cJSON *record, const char *name, const char *value)
{
  if (!cJSON_AddStringToObject(record, name, value)) s->complete = 0;
}

void study_where(study *s, cJSON *record, const study_place *place)
{
  study_text(s, record, "where", study_is_device(place) ? "device" : "host");
}

void study_spread(study *s, cJSON *record, const char *name, const bench_samples *samples)
{
  enum { DIGITS = 6 };
  if (samples->count == 0 || !isfinite(bench_median(samples))) return;
  cJSON *to = cJSON_AddObjectToObject(record, name);
  if (!to) {
    s->complete = 0;
    return;
  }
  study_number(s, to, "median", study_rounded(bench_median(samples), DIGITS));
  study_number(s, to, "min", study_rounded(bench_min(samples), DIGITS));
  study_number(s, to, "max", study_rounded(bench_max(samples), DIGITS));
  study_number(s, to, "runs", samples->count);
}

void study_numbers(study *s, cJSON *record, const char *name, const double *value, size_t count, int digits)
{
  double *v = malloc((count ? count : 1) * sizeof *v);
  for (size_t i = 0; v && i < count; i++) v[i] = study_rounded(value[i], digits);
  if (!v || !demo_json_numbers(record, name, v, count)) s->complete = 0;
  free(v);
}

int study_write(study *s)
{
  enum { NAME_LENGTH = 4096 };
  char meanwhile[NAME_LENGTH];
  const demo_options *o = &s->place[STUDY_HOST].demo;
  if (!s->complete) return demo_fail(o, "--json %s: out of memory", o->json);
  FILE *file = fopen(o->json, "w");
  int done = file && print_all(file, s->root, s->results);
  if (file) done &= fclose(file) == 0;
  if (!done) return demo_fail(o, "--json %s: could not be written", o->json);
  if (s->saved > 0 && name_meanwhile(s, meanwhile, sizeof meanwhile)) remove(meanwhile);
  return 0;
}
