#include "resp.h"

#include <stdlib.h>
#include <string.h>

// True when that was the last element of a reply.
static bool finish_element(struct resp_input *input) {
  while (input->depth && --input->open[input->depth - 1] == 0) input->depth--;
  return input->depth == 0;
}

static bool take_line(struct resp_input *input) {
  const char *line = input->line;
  long length = strtol(line + 1, NULL, 10);
  switch (*line) {
    case '$':
      if (length < 0) return finish_element(input);
      input->skip = (uint64_t)length + 2;
      return false;
    case '*':
      if (length <= 0) return finish_element(input);
      if (input->depth == sizeof input->open / sizeof *input->open) fail("a reply too deep");
      input->open[input->depth++] = (uint32_t)length;
      return false;
    case '-': fail("Redis refuses: %s", line);
    default: return finish_element(input);
  }
}

uint64_t resp_replies(struct resp_input *input, const char *bytes, size_t count) {
  uint64_t replies = 0;
  for (size_t at = 0; at < count;) {
    if (input->skip) {
      size_t part = count - at < input->skip ? count - at : input->skip;
      at += part;
      input->skip -= part;
      if (!input->skip) replies += finish_element(input);
      continue;
    }
    char byte = bytes[at++];
    if (byte != '\n') {
      if (input->line_count < sizeof input->line - 1) input->line[input->line_count++] = byte;
      continue;
    }
    input->line[input->line_count] = 0;
    input->line_count = 0;
    replies += take_line(input);
  }
  return replies;
}
