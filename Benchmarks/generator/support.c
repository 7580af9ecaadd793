#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("generator: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  exit(1);
}

static int word_count;
static char **all_words;

void settings_take(int count, char **words) {
  for (int i = 0; i < count; i++)
    if (!strchr(words[i], '=')) fail("not name=value: %s", words[i]);
  word_count = count;
  all_words = words;
}

const char *setting(const char *name, const char *otherwise) {
  size_t length = strlen(name);
  for (int i = 0; i < word_count; i++)
    if (!strncmp(all_words[i], name, length) && all_words[i][length] == '=') return all_words[i] + length + 1;
  if (!otherwise) fail("%s=… is missing", name);
  return otherwise;
}

double setting_number(const char *name, double otherwise) {
  const char *text = setting(name, "");
  return *text ? strtod(text, NULL) : otherwise;
}

void *reserve(void *old, size_t bytes) {
  void *memory = realloc(old, bytes ? bytes : 1);
  if (!memory) fail("no memory for %zu bytes", bytes);
  return memory;
}

struct text read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail("cannot open %s", path);
  fseek(file, 0, SEEK_END);
  struct text text = {.count = (size_t)ftell(file)};
  rewind(file);
  text.bytes = reserve(NULL, text.count);
  if (fread(text.bytes, 1, text.count, file) != text.count) fail("cannot read %s", path);
  fclose(file);
  return text;
}

struct list read_list(const char *path) {
  struct text file = read_file(path);
  struct list list = {0};
  for (size_t at = 0, room = 0; at < file.count;) {
    uint32_t length;
    if (file.count - at < sizeof length) fail("%s is cut short", path);
    memcpy(&length, file.bytes + at, sizeof length);
    at += sizeof length;
    if (file.count - at < length) fail("%s is cut short", path);
    if (list.count == room) {
      room = room ? room * 2 : 64;
      list.items = reserve(list.items, room * sizeof *list.items);
    }
    list.items[list.count++] = (struct text){file.bytes + at, length};
    at += length;
  }
  return list;
}
