// Server-Sent Events, as far as a consumer needs them that resumes: which notification, and the cursor behind it.
// Source: WHATWG HTML, "Server-sent events".
#pragma once

#include "marks.h"

enum { CURSOR_BYTES = 512 };

struct event_input {
  enum { EVENT_FIELD, EVENT_DATA, EVENT_ID, EVENT_OTHER } field;
  uint8_t name_count;
  char name[6];  // the beginning of a line
  struct marks marks;
  bool has_number;
  uint64_t number;
  uint16_t id_count;
  char id[CURSOR_BYTES];
};

// Calls `found` for each notification whose event is complete. One that is cut off in the middle has not arrived;
// it comes again when the stream is resumed. `id` is valid during the call.
void events_take(
  struct event_input *, const char *bytes, size_t count,
  void (*found)(void *context, uint64_t number, const char *id, size_t id_count), void *context);
