#include "consumers.h"

#include <stdio.h>
#include <string.h>

struct consumer *consumers;
uint32_t consumer_count, consumers_ready, consumers_lost;
bool consumers_may_be_lost;
void (*consumers_on_mark)(struct consumer *, uint64_t);
void (*consumers_on_ready)(struct consumer *);

static struct list greetings;
static const char *ready_word;
// HTTP looks for marks in the body of the answer, EVENTS understands it as well.
static enum { PLAIN, HTTP, EVENTS, MQTT } framing;

static void on_mark(void *context, uint64_t number) {
  struct consumer *consumer = context;
  consumer->seen++;
  if (consumers_on_mark) consumers_on_mark(consumer, number);
}

static void on_body(void *context, const char *bytes, size_t count) {
  struct consumer *consumer = context;
  marks_find(&consumer->marks, bytes, count, on_mark, consumer);
}

static void on_event(void *context, uint64_t number, const char *id, size_t id_count) {
  (void)id, (void)id_count;
  on_mark(context, number);
}

static void on_events(void *context, const char *bytes, size_t count) {
  struct consumer *consumer = context;
  events_take(&consumer->events, bytes, count, on_event, consumer);
}

static void lose(struct connection *connection, const char *why) {
  if (consumers_lost++ == 0) fprintf(stderr, "generator: consumer %u: %s\n", connection->number, why);
}

static void on_done(void *context, int status) {
  struct consumer *consumer = context;
  if (!consumers_may_be_lost) fail("consumer %u: the stream ended, status %d", consumer->connection.number, status);
  connection_close(&consumer->connection);
  lose(&consumer->connection, "the stream ended");
}

static void look_for_ready(struct consumer *consumer, const char *bytes, size_t count) {
  matches_find(&consumer->ready, ready_word, bytes, count);
  if (!consumer->ready.count) return;
  consumer->is_ready = true;
  consumers_ready++;
  if (consumers_on_ready) consumers_on_ready(consumer);
}

static void on_input(struct connection *connection, const char *bytes, size_t count) {
  struct consumer *consumer = (struct consumer *)connection;
  if (!consumer->is_ready) look_for_ready(consumer, bytes, count);
  if (framing == HTTP || framing == EVENTS) {
    static const struct http_events marks = {.body = on_body, .done = on_done};
    static const struct http_events events = {.body = on_events, .done = on_done};
    return http_take(&consumer->http, bytes, count, framing == HTTP ? &marks : &events, consumer);
  }
  marks_find(&consumer->marks, bytes, count, on_mark, consumer);
  if (framing == MQTT) mqtt_acknowledge(&consumer->mqtt, connection, bytes, count);
}

static void on_connected(struct connection *connection) {
  struct text greeting = greetings.items[connection->number % greetings.count];
  connection_send(connection, greeting.bytes, greeting.count);
}

static void take_settings(void) {
  consumer_count = (uint32_t)setting_number("consumers", 0);
  greetings = read_list(setting("greetings", NULL));
  if (!consumer_count || !greetings.count) fail("no consumers, or no greetings");
  ready_word = setting("ready", NULL);
  const char *name = setting("framing", "plain");
  framing = !strcmp(name, "http") ? HTTP : !strcmp(name, "events") ? EVENTS : !strcmp(name, "mqtt") ? MQTT : PLAIN;
}

void consumers_connect(uint32_t at_once) {
  take_settings();
  consumers = reserve(NULL, consumer_count * sizeof *consumers);
  memset(consumers, 0, consumer_count * sizeof *consumers);
  uint64_t deadline = now() + 60 * SECOND;
  for (uint32_t opened = 0; consumers_ready + consumers_lost < consumer_count;) {
    for (; opened < consumer_count && opened - consumers_ready - consumers_lost < at_once; opened++) {
      struct consumer *consumer = &consumers[opened];
      consumer->opened = now();
      consumer->connection = (struct connection){
        .number = opened, .on_connected = on_connected, .on_input = on_input,
        .on_end = consumers_may_be_lost ? lose : NULL};
      connection_open(&consumer->connection);
    }
    loop_turn(now() + SECOND);
    if (now() > deadline) fail("only %u of %u consumers are ready", consumers_ready, consumer_count);
  }
}
