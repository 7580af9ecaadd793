// A steady rate for a long time, to consumers that leave in the middle of anything and come back with their last
// event id. Every notification is checked at every consumer: it must arrive, and once.
//
// A line of JSON every ten seconds, with `final: true` the last one, after everybody has come back for the rest.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "http.h"
#include "latency.h"
#include "loop.h"
#include "modes.h"
#include "processor.h"
#include "template.h"

enum { PUBLISHERS = 32, SAMPLE_ONE_IN = 16 };
#define REPORT_EVERY (10 * SECOND)
#define TICK (SECOND / 500)

struct guest {
  struct connection connection;
  struct http_answer http;
  struct event_input events;
  char cursor[CURSOR_BYTES];
  size_t cursor_count;
  uint64_t opened, returns_at;  // the latter 0 while it is there
  uint64_t seen;
  uint8_t *has;  // a bit for each number
};

struct poster {
  struct connection connection;
  struct http_answer http;
  bool is_busy;
};

static struct {
  uint32_t guests;
  double rate, leaving_rate;
  uint64_t end, numbers_max;
  struct list greetings;
  struct template template;
} plan;

static struct guest *guests;
static struct poster posters[PUBLISHERS];
static uint64_t *sent_at, next_number = 1;
static struct {
  uint64_t sent, delivered, doubled, unknown, left, cut, late;
  struct latencies latencies;
} tally;

// --- Guests -----------------------------------------------------------------------------------------------

static void on_event(void *context, uint64_t number, const char *id, size_t id_count) {
  struct guest *guest = context;
  memcpy(guest->cursor, id, id_count);
  guest->cursor_count = id_count;
  if (number == 0 || number >= next_number) {
    tally.unknown++;
    return;
  }
  uint8_t bit = (uint8_t)(1 << number % 8), *byte = &guest->has[number / 8];
  if (*byte & bit) {
    tally.doubled++;
    return;
  }
  *byte |= bit;
  guest->seen++;
  // What it missed while it was away is no measure of the live way.
  if (++tally.delivered % SAMPLE_ONE_IN == 0 && sent_at[number] > guest->opened + SECOND)
    latencies_add(&tally.latencies, now() - sent_at[number]);
}

static void leave(struct guest *guest, double seconds) {
  connection_close(&guest->connection);
  guest->returns_at = now() + (uint64_t)(seconds * SECOND);
}

static void on_body(void *context, const char *bytes, size_t count) {
  struct guest *guest = context;
  events_take(&guest->events, bytes, count, on_event, guest);
}

static void on_stream_done(void *context, int status) {
  struct guest *guest = context;
  if (status != 200) fail("a stream was answered %d", status);
  tally.cut++;
  leave(guest, 0.1);
}

static void on_guest_end(struct connection *connection, const char *why) {
  (void)why;
  tally.cut++;
  leave((struct guest *)connection, 0.1);
}

static void on_guest_input(struct connection *connection, const char *bytes, size_t count) {
  static const struct http_events events = {.body = on_body, .done = on_stream_done};
  struct guest *guest = (struct guest *)connection;
  http_take(&guest->http, bytes, count, &events, guest);
}

// The greeting ends with an empty line, before which the cursor goes.
static void on_guest_connected(struct connection *connection) {
  struct guest *guest = (struct guest *)connection;
  struct text greeting = plan.greetings.items[connection->number % plan.greetings.count];
  if (!guest->cursor_count) return connection_send(connection, greeting.bytes, greeting.count);
  static char request[8192 + CURSOR_BYTES];
  int count = snprintf(
    request, sizeof request, "%.*sLast-Event-ID: %.*s\r\n\r\n", (int)greeting.count - 2, greeting.bytes,
    (int)guest->cursor_count, guest->cursor);
  connection_send(connection, request, (size_t)count);
}

static void come(struct guest *guest) {
  uint32_t number = (uint32_t)(guest - guests);
  free(guest->connection.unsent);
  guest->connection = (struct connection){
    .number = number, .on_connected = on_guest_connected, .on_input = on_guest_input, .on_end = on_guest_end};
  guest->http = (struct http_answer){.status = 0};
  guest->events = (struct event_input){.number = 0};
  guest->returns_at = 0;
  guest->opened = now();
  connection_open(&guest->connection);
}

// Most are back within five seconds; one in ten takes up to a minute, and finds more than a ring holds.
static double absence(void) {
  double part = drand48();
  return lrand48() % 10 ? part * 5 : part * 60;
}

static void let_come_and_go(void) {
  static double owed;
  static uint64_t last;
  uint64_t time = now();
  if (last) owed += (double)(time - last) / SECOND * plan.leaving_rate;
  last = time;
  for (; owed >= 1; owed--) {
    struct guest *guest = &guests[(uint32_t)lrand48() % plan.guests];
    if (guest->returns_at) continue;
    tally.left++;
    leave(guest, absence());
  }
  for (uint32_t i = 0; i < plan.guests; i++)
    if (guests[i].returns_at && guests[i].returns_at <= time) come(&guests[i]);
}

// --- Posting ----------------------------------------------------------------------------------------------

static void on_answer(void *context, int status) {
  if (status != 201) fail("a send was answered %d", status);
  ((struct poster *)context)->is_busy = false;
}

static void on_poster_input(struct connection *connection, const char *bytes, size_t count) {
  static const struct http_events events = {.done = on_answer};
  http_take(&((struct poster *)connection)->http, bytes, count, &events, connection);
}

static struct poster *free_poster(void) {
  // In turn: one that is never used would be closed by the broker as idle.
  static unsigned turn;
  for (unsigned i = 0; i < PUBLISHERS; i++) {
    struct poster *poster = &posters[turn++ % PUBLISHERS];
    if (!poster->is_busy) return poster;
  }
  return NULL;
}

static void post_due(uint64_t start) {
  uint64_t due = (uint64_t)((double)(now() - start) / SECOND * plan.rate);
  while (tally.sent < due) {
    struct poster *poster = free_poster();
    if (!poster) {
      tally.late++;
      return;
    }
    if (next_number + 1 >= plan.numbers_max) fail("more notifications than were planned");
    sent_at[next_number] = now();
    template_fill(&plan.template, &next_number);
    poster->is_busy = true;
    tally.sent++;
    connection_send(&poster->connection, plan.template.text.bytes, plan.template.text.count);
  }
}

// --- The run ----------------------------------------------------------------------------------------------

static uint64_t missing(void) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < plan.guests; i++) sum += tally.sent - guests[i].seen;
  return sum;
}

static void report(uint64_t start, bool is_final) {
  static uint64_t spent_before, delivered_before, time_before;
  uint64_t spent = processor_spent(), time = now(), since = time_before ? time_before : start;
  uint32_t present = 0;
  for (uint32_t i = 0; i < plan.guests; i++) present += !guests[i].returns_at;
  printf(
    "{\"final\": %s, \"at\": %.1f, \"sent\": %lu, \"delivered\": %lu, \"doubled\": %lu, \"unknown\": %lu,"
    " \"missing\": %lu, \"left\": %lu, \"cut\": %lu, \"late\": %lu, \"present\": %u, \"p50\": %.0f, \"p99\": %.0f,"
    " \"cost\": %.3f, \"load\": %.3f}\n",
    is_final ? "true" : "false", (double)(time - start) / SECOND, tally.sent, tally.delivered, tally.doubled,
    tally.unknown, missing(), tally.left, tally.cut, tally.late, present,
    latencies_percentile(&tally.latencies, 50), latencies_percentile(&tally.latencies, 99),
    (double)(spent - spent_before) / 1000 / (double)(tally.delivered - delivered_before + 1),
    (double)(spent - spent_before) / (double)(time - since));
  fflush(stdout);
  spent_before = spent;
  delivered_before = tally.delivered;
  time_before = time;
  tally.latencies.count = 0;
}

static void take_settings(void) {
  plan.guests = (uint32_t)setting_number("consumers", 1000);
  plan.rate = setting_number("rate", 100);
  plan.leaving_rate = setting_number("leaving", 20);
  double seconds = setting_number("seconds", 600);
  plan.numbers_max = (uint64_t)(plan.rate * seconds * 1.1) + 1000;
  plan.greetings = read_list(setting("greetings", NULL));
  plan.template = template_read(setting("template", NULL));
  srand48((long)setting_number("seed", 1));
  guests = calloc(plan.guests, sizeof *guests);
  sent_at = calloc(plan.numbers_max, sizeof *sent_at);
  if (!guests || !sent_at) fail("no memory");
  for (uint32_t i = 0; i < plan.guests; i++)
    if (!(guests[i].has = calloc(plan.numbers_max / 8 + 1, 1))) fail("no memory");
}

static void gather(void) {
  for (unsigned i = 0; i < PUBLISHERS; i++) {
    posters[i].connection = (struct connection){.number = i, .on_input = on_poster_input};
    connection_open(&posters[i].connection);
  }
  for (uint32_t i = 0; i < plan.guests; i++) come(&guests[i]);
  while (loop_turn(now() + SECOND / 2)) continue;
}

// Everybody comes back, and then has a minute for what is missing.
static void wait_for_rest(void) {
  for (uint32_t i = 0; i < plan.guests; i++)
    if (guests[i].returns_at) come(&guests[i]);
  for (uint64_t end = now() + 60 * SECOND; missing() && now() < end;) {
    loop_turn(now() + SECOND / 10);
    for (uint32_t i = 0; i < plan.guests; i++)
      if (guests[i].returns_at && guests[i].returns_at <= now()) come(&guests[i]);
  }
  // What comes twice would come now. Not until nothing comes: there are heartbeats.
  for (uint64_t end = now() + 2 * SECOND; now() < end;) loop_turn(end);
}

void mode_soak(void) {
  take_settings();
  gather();
  uint64_t start = now(), next_report = start + REPORT_EVERY, next_tick = start;
  plan.end = start + (uint64_t)(setting_number("seconds", 600) * SECOND);
  report(start, false);
  while (now() < plan.end) {
    post_due(start);
    loop_turn(next_tick);
    if (now() < next_tick) continue;
    next_tick = now() + TICK;
    let_come_and_go();
    if (now() < next_report) continue;
    report(start, false);
    next_report += REPORT_EVERY;
  }
  wait_for_rest();
  report(start, true);
}
