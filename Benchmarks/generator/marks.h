// The number in each notification: `~0000001234~`, in its payload, whatever protocol carries it.
//
// It is found in the bytes as they arrive, without understanding what is around it, so that every protocol
// costs the generator the same and no more than it must.
#pragma once

#include "support.h"

enum { MARK_DIGITS = 10 };

struct marks {
  uint8_t matched;  // characters of a mark that has begun
  uint64_t number;
};

// Calls `found` for each mark that ends in these bytes.
void marks_find(
  struct marks *, const char *bytes, size_t count, void (*found)(void *context, uint64_t number), void *context);
