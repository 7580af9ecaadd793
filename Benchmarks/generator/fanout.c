// One publisher, many consumers: how long until the last of them has a notification, and what that costs.
//
// The consumers stay connected. Each line on stdin, `WINDOW SECONDS`, is a round: so many notifications are
// kept in flight for so long, and the result is a line of JSON on stdout. Rounds of several generators can so
// alternate without connecting anew.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers.h"
#include "latency.h"
#include "modes.h"
#include "processor.h"
#include "template.h"

enum { PUBLISHERS_MAX = 64, FLIGHTS = 1024 };

struct publisher {
  struct connection connection;
  struct http_answer http;
  bool is_busy;
};

static struct {
  struct template template;
  struct publisher publishers[PUBLISHERS_MAX];
  unsigned publisher_count;
  bool speaks_http;
  struct text greeting;
} sending;

static struct flight {
  uint64_t number, started;
  uint32_t missing;
} flights[FLIGHTS];
static uint64_t next_number;
static unsigned due, in_flight;

static struct {
  uint64_t notifications, deliveries;
  struct latencies latencies;
} round_done;

static void on_delivery(struct consumer *consumer, uint64_t number) {
  (void)consumer;
  struct flight *flight = &flights[number % FLIGHTS];
  // Left over from before, such as a persistent session's: not of this run.
  if (flight->number != number || !flight->missing) return;
  round_done.deliveries++;
  if (--flight->missing) return;
  latencies_add(&round_done.latencies, now() - flight->started);
  round_done.notifications++;
  in_flight--;
  due++;
}

// --- Publishing -------------------------------------------------------------------------------------------

static void on_answer(void *context, int status) {
  if (status != 201) fail("the publisher was answered %d", status);
  ((struct publisher *)context)->is_busy = false;
}

static void on_publisher_input(struct connection *connection, const char *bytes, size_t count) {
  static const struct http_events events = {.done = on_answer};
  struct publisher *publisher = (struct publisher *)connection;
  if (sending.speaks_http) http_take(&publisher->http, bytes, count, &events, publisher);
}

static void on_publisher_connected(struct connection *connection) {
  if (sending.greeting.count) connection_send(connection, sending.greeting.bytes, sending.greeting.count);
}

static struct publisher *free_publisher(void) {
  for (unsigned i = 0; i < sending.publisher_count; i++)
    if (!sending.publishers[i].is_busy) return &sending.publishers[i];
  return NULL;
}

static void append_filled(char **batch, size_t *count, size_t *room) {
  struct text *text = &sending.template.text;
  flights[next_number % FLIGHTS] = (struct flight){next_number, now(), consumer_count};
  template_fill(&sending.template, &next_number);
  if (*count + text->count > *room) *batch = reserve(*batch, *room = (*count + text->count) * 2);
  memcpy(*batch + *count, text->bytes, text->count);
  *count += text->count;
  in_flight++;
  due--;
}

// Where one connection carries many, those due together leave together, as a pipelining client's would.
static void publish_due(void) {
  static char *batch;
  static size_t room;
  while (due) {
    struct publisher *publisher = free_publisher();
    if (!publisher) return;
    size_t count = 0;
    do append_filled(&batch, &count, &room);
    while (due && !sending.speaks_http);
    publisher->is_busy = sending.speaks_http;
    connection_send(&publisher->connection, batch, count);
  }
}

static void take_settings(void) {
  sending.template = template_read(setting("template", NULL));
  sending.publisher_count = (unsigned)setting_number("publishers", 1);
  sending.speaks_http = !strcmp(setting("publisher-framing", setting("framing", "plain")), "http");
  if (sending.publisher_count > PUBLISHERS_MAX) fail("too many publishers");
  const char *greeting = setting("publisher-greeting", "");
  if (*greeting) sending.greeting = read_file(greeting);
}

// For each round anew: between rounds they would stand idle for longer than a server must put up with.
static void start_publishers(void) {
  for (unsigned i = 0; i < sending.publisher_count; i++) {
    struct publisher *publisher = &sending.publishers[i];
    publisher->http = (struct http_answer){.status = 0};
    publisher->connection = (struct connection){
      .number = i, .on_connected = on_publisher_connected, .on_input = on_publisher_input};
    connection_open(&publisher->connection);
  }
  while (loop_turn(now() + SECOND / 10)) continue;
}

static void stop_publishers(void) {
  for (unsigned i = 0; i < sending.publisher_count; i++) {
    connection_close(&sending.publishers[i].connection);
    free(sending.publishers[i].connection.unsent);
  }
}

// --- Rounds -----------------------------------------------------------------------------------------------

// Begins and ends with nothing in flight, so that what is counted and what it cost are of the same work.
static void run(unsigned window, double seconds) {
  uint64_t end = now() + (uint64_t)(seconds * SECOND), give_up = end + 10 * SECOND;
  for (due = window;;) {
    if (now() < end) publish_due();
    else due = 0;
    if (!in_flight && !due) return;
    loop_turn(now() + SECOND);
    if (now() > give_up) fail("%u notifications have not reached everybody", in_flight);
  }
}

static void check_counts(const uint64_t *before) {
  for (uint32_t i = 0; i < consumer_count; i++) {
    uint64_t seen = consumers[i].seen - before[i];
    if (seen != round_done.notifications)
      fail("consumer %u saw %lu notifications of %lu", i, seen, round_done.notifications);
  }
}

static void measure(unsigned window, double seconds) {
  static uint64_t *seen;
  seen = reserve(seen, consumer_count * sizeof *seen);
  start_publishers();
  run(window, seconds / 5);
  for (uint32_t i = 0; i < consumer_count; i++) seen[i] = consumers[i].seen;
  round_done.notifications = round_done.deliveries = round_done.latencies.count = 0;

  uint64_t start = now(), spent = processor_spent(), here = processor_spent_here(), received = loop_received;
  run(window, seconds);
  uint64_t elapsed = now() - start;
  spent = processor_spent() - spent;
  here = processor_spent_here() - here;
  check_counts(seen);
  // Every publisher has its last answer, which may come after the last delivery.
  while (loop_turn(now() + SECOND / 20)) continue;
  stop_publishers();
  printf(
    "{\"notifications\": %lu, \"deliveries\": %lu, \"seconds\": %.6f, \"server_seconds\": %.6f,"
    " \"generator_seconds\": %.6f, \"bytes\": %lu, \"p50\": %.0f, \"p99\": %.0f}\n",
    round_done.notifications, round_done.deliveries, (double)elapsed / SECOND, (double)spent / SECOND,
    (double)here / SECOND, loop_received - received, latencies_percentile(&round_done.latencies, 50),
    latencies_percentile(&round_done.latencies, 99));
}

void mode_fanout(void) {
  next_number = (uint64_t)setting_number("first", 1);
  consumers_on_mark = on_delivery;
  take_settings();
  consumers_connect(200);
  puts("{\"ready\": true}");
  fflush(stdout);
  unsigned window;
  double seconds;
  while (scanf("%u %lf", &window, &seconds) == 2) {
    measure(window, seconds);
    fflush(stdout);
  }
}
