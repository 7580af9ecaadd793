#include "marks.h"

#include <string.h>

void marks_find(
  struct marks *marks, const char *bytes, size_t count, void (*found)(void *, uint64_t), void *context) {
  const char *end = bytes + count;
  for (const char *at = bytes; at < end; at++) {
    if (marks->matched == 0) {
      at = memchr(at, '~', (size_t)(end - at));
      if (!at) return;
      *marks = (struct marks){.matched = 1};
    } else if (marks->matched <= MARK_DIGITS && *at >= '0' && *at <= '9') {
      marks->number = marks->number * 10 + (uint64_t)(*at - '0');
      marks->matched++;
    } else if (marks->matched == MARK_DIGITS + 1 && *at == '~') {
      marks->matched = 0;
      found(context, marks->number);
    } else {
      *marks = (struct marks){.matched = *at == '~'};
    }
  }
}
