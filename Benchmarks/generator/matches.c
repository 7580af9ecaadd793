#include "matches.h"

#include <string.h>

void matches_find(struct matches *matches, const char *word, const char *bytes, size_t count) {
  size_t length = strlen(word);
  if (!length) return;
  for (const char *at = bytes, *end = bytes + count; at < end;) {
    if (matches->matched == 0) {
      at = memchr(at, word[0], (size_t)(end - at));
      if (!at) return;
    }
    if (*at == word[matches->matched]) {
      at++;
      if (++matches->matched < length) continue;
      matches->matched = 0;
      matches->count++;
    } else if (matches->matched) {
      matches->matched = 0;
    }
  }
}
