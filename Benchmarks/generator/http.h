// HTTP/1.1 answers as they arrive: heads, bodies of a known length, and chunks, of streams without end too.
#pragma once

#include "support.h"

struct http_answer {
  enum { HTTP_HEAD, HTTP_BODY, HTTP_CHUNK_SIZE, HTTP_CHUNK, HTTP_CHUNK_END, HTTP_TRAILER } state;
  int status;
  uint64_t rest;  // of the body, or of the chunk
  bool is_chunked;
  uint16_t line_count;
  char line[512];
};

struct http_events {
  void (*body)(void *context, const char *bytes, size_t count);  // a part of it
  void (*done)(void *context, int status);                       // an answer is complete
};

void http_take(
  struct http_answer *, const char *bytes, size_t count, const struct http_events *, void *context);
