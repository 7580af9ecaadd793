#include "http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void take_header(struct http_answer *answer, const char *line) {
  if (!strncmp(line, "HTTP/1.", 7)) {
    *answer = (struct http_answer){.status = atoi(line + 9)};
  } else if (!strncasecmp(line, "Content-Length:", 15)) {
    answer->rest = strtoull(line + 15, NULL, 10);
  } else if (!strncasecmp(line, "Transfer-Encoding: chunked", 26)) {
    answer->is_chunked = true;
  }
}

static void finish(struct http_answer *answer, const struct http_events *events, void *context) {
  answer->state = HTTP_HEAD;
  events->done(context, answer->status);
}

static void take_line(
  struct http_answer *answer, const char *line, const struct http_events *events, void *context) {
  switch (answer->state) {
    case HTTP_HEAD:
      if (*line) return take_header(answer, line);
      if (answer->is_chunked) answer->state = HTTP_CHUNK_SIZE;
      else if (answer->rest) answer->state = HTTP_BODY;
      else finish(answer, events, context);
      return;
    case HTTP_CHUNK_SIZE:
      answer->rest = strtoull(line, NULL, 16);
      answer->state = answer->rest ? HTTP_CHUNK : HTTP_TRAILER;
      return;
    case HTTP_CHUNK_END:
      answer->state = HTTP_CHUNK_SIZE;
      return;
    case HTTP_TRAILER:
      if (!*line) finish(answer, events, context);
      return;
    default:
      return;
  }
}

// Longer lines than there is room for are cut: none of those that matter is.
static const char *gather_line(
  struct http_answer *answer, const char *at, const char *end, const struct http_events *events, void *context) {
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  const char *stop = newline ? newline : end;
  size_t count = (size_t)(stop - at), room = sizeof answer->line - 1 - answer->line_count;
  if (count > room) count = room;
  memcpy(answer->line + answer->line_count, at, count);
  answer->line_count += (uint16_t)count;
  if (!newline) return end;
  if (answer->line_count && answer->line[answer->line_count - 1] == '\r') answer->line_count--;
  answer->line[answer->line_count] = 0;
  answer->line_count = 0;
  take_line(answer, answer->line, events, context);
  return newline + 1;
}

void http_take(
  struct http_answer *answer, const char *bytes, size_t count, const struct http_events *events, void *context) {
  const char *end = bytes + count;
  for (const char *at = bytes; at < end;) {
    if (answer->state != HTTP_BODY && answer->state != HTTP_CHUNK) {
      at = gather_line(answer, at, end, events, context);
      continue;
    }
    size_t part = (size_t)(end - at);
    if (part > answer->rest) part = answer->rest;
    if (events->body) events->body(context, at, part);
    at += part;
    answer->rest -= part;
    if (answer->rest) continue;
    if (answer->state == HTTP_CHUNK) answer->state = HTTP_CHUNK_END;
    else finish(answer, events, context);
  }
}
