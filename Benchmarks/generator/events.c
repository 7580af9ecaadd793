#include "events.h"

#include <string.h>

static void on_mark(void *context, uint64_t number) {
  struct event_input *input = context;
  input->has_number = true;
  input->number = number;
}

static void begin_line(struct event_input *input) {
  input->field = EVENT_FIELD;
  input->name_count = 0;
}

// The field is known as soon as its name and what separates it from its value have come.
static void take_name(struct event_input *input, char byte) {
  input->name[input->name_count++] = byte;
  if (input->name_count == 4 && !memcmp(input->name, "id: ", 4)) {
    input->field = EVENT_ID;
    input->id_count = 0;
  } else if (input->name_count == 6) {
    input->field = memcmp(input->name, "data: ", 6) ? EVENT_OTHER : EVENT_DATA;
    input->marks = (struct marks){.matched = 0};
  }
}

static void take_id(struct event_input *input, const char *bytes, size_t count) {
  if (input->id_count + count > sizeof input->id) fail("a cursor of more than %zu bytes", sizeof input->id);
  memcpy(input->id + input->id_count, bytes, count);
  input->id_count += (uint16_t)count;
}

void events_take(
  struct event_input *input, const char *bytes, size_t count,
  void (*found)(void *, uint64_t, const char *, size_t), void *context) {
  const char *end = bytes + count;
  for (const char *at = bytes; at < end;) {
    if (input->field == EVENT_FIELD && *at != '\n') {
      take_name(input, *at++);
      continue;
    }
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *stop = newline ? newline : end;
    if (input->field == EVENT_DATA) marks_find(&input->marks, at, (size_t)(stop - at), on_mark, input);
    if (input->field == EVENT_ID) take_id(input, at, (size_t)(stop - at));
    if (!newline) return;
    bool is_end_of_event = input->field == EVENT_FIELD && input->name_count == 0;
    if (is_end_of_event && input->has_number) {
      input->has_number = false;
      found(context, input->number, input->id, input->id_count);
    }
    begin_line(input);
    at = newline + 1;
  }
}
