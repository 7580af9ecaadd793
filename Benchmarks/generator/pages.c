// Reads a feed page by page to its end, again and again: each page's cursor asks for the next.
#include <stdio.h>
#include <string.h>

#include "http.h"
#include "latency.h"
#include "loop.h"
#include "matches.h"
#include "modes.h"
#include "processor.h"

enum { CONNECTIONS_MAX = 64, CURSOR_MAX = 16 * 1024 };

struct reader {
  struct connection connection;
  struct http_answer http;
  struct matches entries;
  uint64_t entries_before, started;
  char *page;
  size_t page_count, page_room;
  bool is_reading;
};

static struct reader readers[CONNECTIONS_MAX];
static unsigned reader_count, reading;
static struct text head, tail;  // of a request, around the cursor
static uint64_t page_limit, end_of_reading, pages;
static struct latencies latencies;

static void ask(struct reader *reader, const char *cursor, size_t cursor_count) {
  static char request[CURSOR_MAX + 8192];
  size_t count = 0;
  const struct text parts[] = {head, {"&after=", cursor_count ? 7 : 0}, {(char *)cursor, cursor_count}, tail};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (count + parts[i].count > sizeof request) fail("a request too long");
    memcpy(request + count, parts[i].bytes, parts[i].count);
    count += parts[i].count;
  }
  reader->page_count = 0;
  reader->entries_before = reader->entries.count;
  reader->started = now();
  connection_send(&reader->connection, request, count);
}

static void start_over(struct reader *reader) {
  if (!reader->is_reading) reading++;
  reader->is_reading = true;
  ask(reader, "", 0);
}

static void stop(struct reader *reader) {
  reader->is_reading = false;
  reading--;
}

static void on_body(void *context, const char *bytes, size_t count) {
  struct reader *reader = context;
  matches_find(&reader->entries, "\"messageServerId\"", bytes, count);
  if (reader->page_count + count > reader->page_room)
    reader->page = reserve(reader->page, reader->page_room = (reader->page_count + count) * 2);
  memcpy(reader->page + reader->page_count, bytes, count);
  reader->page_count += count;
}

static void on_done(void *context, int status) {
  struct reader *reader = context;
  if (status != 200) fail("a page was answered %d", status);
  latencies_add(&latencies, now() - reader->started);
  pages++;
  if (reader->entries.count - reader->entries_before < page_limit) {
    if (now() < end_of_reading) start_over(reader);
    else stop(reader);
    return;
  }
  // The cursor stands behind the notifications, and is made of characters that need no escape.
  static const char name[] = "\"cursor\":\"";
  size_t at = reader->page_count - (sizeof name - 1);
  while (at && memcmp(reader->page + at, name, sizeof name - 1)) at--;
  const char *cursor = reader->page + at + sizeof name - 1;
  const char *end = memchr(cursor, '"', (size_t)(reader->page + reader->page_count - cursor));
  if (!at || !end) fail("a page without a cursor");
  ask(reader, cursor, (size_t)(end - cursor));
}

static void on_input(struct connection *connection, const char *bytes, size_t count) {
  static const struct http_events events = {.body = on_body, .done = on_done};
  struct reader *reader = (struct reader *)connection;
  http_take(&reader->http, bytes, count, &events, reader);
}

static uint64_t run(double seconds) {
  uint64_t before = 0, after = 0;
  end_of_reading = now() + (uint64_t)(seconds * SECOND);
  for (unsigned i = 0; i < reader_count; i++) before += readers[i].entries.count, start_over(&readers[i]);
  while (reading)
    if (!loop_turn(now() + 10 * SECOND)) fail("no page for ten seconds");
  for (unsigned i = 0; i < reader_count; i++) after += readers[i].entries.count;
  return after - before;
}

void mode_pages(void) {
  reader_count = (unsigned)setting_number("connections", 1);
  if (reader_count > CONNECTIONS_MAX) fail("too many connections");
  page_limit = (uint64_t)setting_number("limit", 500);
  head = read_file(setting("head", NULL));
  tail = read_file(setting("tail", NULL));
  for (unsigned i = 0; i < reader_count; i++) {
    readers[i].connection = (struct connection){.number = i, .on_input = on_input};
    connection_open(&readers[i].connection);
  }
  double seconds = setting_number("seconds", 1);
  run(seconds / 5);
  pages = latencies.count = 0;
  uint64_t start = now(), spent = processor_spent(), here = processor_spent_here();
  uint64_t entries = run(seconds);
  uint64_t elapsed = now() - start;
  spent = processor_spent() - spent;
  here = processor_spent_here() - here;
  printf(
    "{\"entries\": %lu, \"pages\": %lu, \"seconds\": %.6f, \"server_seconds\": %.6f,"
    " \"generator_seconds\": %.6f, \"p50\": %.0f, \"p99\": %.0f}\n",
    entries, pages, (double)elapsed / SECOND, (double)spent / SECOND, (double)here / SECOND,
    latencies_percentile(&latencies, 50), latencies_percentile(&latencies, 99));
}
