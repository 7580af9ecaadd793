// What every part of the generator needs: time, settings, files, and an end with a reason.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Nanoseconds on a clock that never goes back.
uint64_t now(void);

#define SECOND UINT64_C(1000000000)

// Ends the program with status 1 and one line on stderr. A benchmark that goes on after something unexpected
// measures something else than it says.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The words `name=value` of the command line. A setting without a default is required.
void settings_take(int count, char **words);
const char *setting(const char *name, const char *otherwise);
double setting_number(const char *name, double otherwise);

struct text {
  char *bytes;
  size_t count;
};

struct text read_file(const char *path);

// A file of byte strings, each after its length (4 bytes, little-endian): requests, or greetings. The
// protocols' words are thus the orchestration's business, and this program only carries them.
struct list {
  struct text *items;
  size_t count;
};

struct list read_list(const char *path);

// `malloc`, and `realloc`, that do not return without memory.
void *reserve(void *old, size_t bytes);
