// Requests and their answers, as many as the servers manage, or at a rate: over some connections, on each of which a
// window of requests waits for answers.
//
// The requests are either made from a template, with new numbers each, or a list that is gone through once.
#include <stdio.h>
#include <string.h>

#include "http.h"
#include "latency.h"
#include "loop.h"
#include "matches.h"
#include "modes.h"
#include "processor.h"
#include "resp.h"
#include "template.h"

struct asker {
  struct connection connection;
  struct http_answer http;
  struct resp_input resp;
  struct matches matches;
  uint64_t *started;  // a ring: answers come in the order of their requests
  uint64_t asked, answered, replies;
};

static struct {
  unsigned connections, window;
  bool has_template;
  struct template template;
  struct list list;
  size_t list_next;
  struct text greeting;
  enum { HTTP, RESP, WORD } answers;
  unsigned replies;  // of Redis, to one request: a request may be a pipeline
  const char *word;  // counted in the answers; with WORD, each is an answer
  uint64_t next_number;
  double rate;  // requests a second at most; 0: as many as are answered
} plan;

static struct asker *askers;
static uint64_t start_of_asking, end_of_asking, asked, answers, refusals;
static struct latencies latencies;

static bool has_more(void) {
  if (!plan.has_template) return plan.list_next < plan.list.count;
  return now() < end_of_asking;
}

static bool may_ask(void) {
  if (plan.rate > 0 && (double)asked >= (double)(now() - start_of_asking) / SECOND * plan.rate) return false;
  return has_more();
}

static struct text next_request(void) {
  if (!plan.has_template) return plan.list.items[plan.list_next++];
  template_fill(&plan.template, &plan.next_number);
  return plan.template.text;
}

// All that the window allows, in one write.
static void ask(struct asker *asker) {
  static char *batch;
  static size_t room;
  size_t count = 0;
  uint64_t time = now();
  while (asker->asked - asker->answered < plan.window && may_ask()) {
    struct text request = next_request();
    if (count + request.count > room) batch = reserve(batch, room = (count + request.count) * 2);
    memcpy(batch + count, request.bytes, request.count);
    count += request.count;
    asker->started[asker->asked++ % plan.window] = time;
    asked++;
  }
  if (count) connection_send(&asker->connection, batch, count);
}

static void take_answer(struct asker *asker) {
  if (asker->answered == asker->asked) fail("an answer to no request");
  latencies_add(&latencies, now() - asker->started[asker->answered++ % plan.window]);
  answers++;
}

static void on_body(void *context, const char *bytes, size_t count) {
  matches_find(&((struct asker *)context)->matches, plan.word, bytes, count);
}

static void on_done(void *context, int status) {
  if (status >= 300) refusals++;
  take_answer(context);
}

static uint64_t complete_pipelines(struct asker *asker, const char *bytes, size_t count) {
  asker->replies += resp_replies(&asker->resp, bytes, count);
  uint64_t complete = asker->replies / plan.replies;
  asker->replies %= plan.replies;
  return complete;
}

static void on_input(struct connection *connection, const char *bytes, size_t count) {
  static const struct http_events events = {.body = on_body, .done = on_done};
  struct asker *asker = (struct asker *)connection;
  uint64_t complete = 0;
  if (plan.answers == HTTP) {
    http_take(&asker->http, bytes, count, &events, asker);
  } else {
    uint64_t before = asker->matches.count;
    matches_find(&asker->matches, plan.word, bytes, count);
    complete = plan.answers == RESP ? complete_pipelines(asker, bytes, count) : asker->matches.count - before;
  }
  while (complete--) take_answer(asker);
  ask(asker);
}

static void on_connected(struct connection *connection) {
  if (plan.greeting.count) connection_send(connection, plan.greeting.bytes, plan.greeting.count);
}

static void take_settings(void) {
  plan.connections = (unsigned)setting_number("connections", 1);
  plan.window = (unsigned)setting_number("window", 1);
  plan.word = setting("expect", "");
  plan.replies = (unsigned)setting_number("replies", 1);
  plan.next_number = (uint64_t)setting_number("first", 1);
  plan.rate = setting_number("rate", 0);
  const char *kind = setting("answers", NULL), *path = setting("template", "");
  plan.answers = !strcmp(kind, "http") ? HTTP : !strcmp(kind, "resp") ? RESP : WORD;
  plan.has_template = *path;
  if (plan.has_template) plan.template = template_read(path);
  else plan.list = read_list(setting("requests", NULL));
  path = setting("greeting", "");
  if (*path) plan.greeting = read_file(path);
}

static void connect_all(void) {
  askers = reserve(NULL, plan.connections * sizeof *askers);
  memset(askers, 0, plan.connections * sizeof *askers);
  for (unsigned i = 0; i < plan.connections; i++) {
    askers[i].started = reserve(NULL, plan.window * sizeof *askers[i].started);
    askers[i].connection = (struct connection){
      .number = i, .on_connected = on_connected, .on_input = on_input};
    connection_open(&askers[i].connection);
  }
  while (loop_turn(now() + SECOND / 20)) continue;
}

static uint64_t outstanding(void) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < plan.connections; i++) sum += askers[i].asked - askers[i].answered;
  return sum;
}

static uint64_t words_found(void) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < plan.connections; i++) sum += askers[i].matches.count;
  return sum;
}

// Those that are due, each by the next connection.
static void ask_in_turn(void) {
  static unsigned next;
  for (unsigned i = 0; i < plan.connections && may_ask(); i++) ask(&askers[next++ % plan.connections]);
}

static void run(double seconds) {
  start_of_asking = now();
  end_of_asking = start_of_asking + (uint64_t)(seconds * SECOND);
  asked = 0;
  uint64_t heard = start_of_asking;
  while (ask_in_turn(), outstanding() || has_more()) {
    if (loop_turn(now() + SECOND / (plan.rate > 0 ? 1000 : 10))) heard = now();
    if (now() - heard > 10 * SECOND) fail("no answer for ten seconds, %lu outstanding", outstanding());
  }
}

void mode_exchange(void) {
  take_settings();
  connect_all();
  double seconds = setting_number("seconds", 1);
  // A list is there once, and leaves nothing to warm up with.
  if (plan.has_template) run(seconds / 5);
  answers = refusals = latencies.count = 0;
  uint64_t words = words_found(), number = plan.next_number;

  uint64_t start = now(), spent = processor_spent(), here = processor_spent_here();
  run(seconds);
  uint64_t elapsed = now() - start;
  spent = processor_spent() - spent;
  here = processor_spent_here() - here;
  printf(
    "{\"answers\": %lu, \"refusals\": %lu, \"words\": %lu, \"numbers\": %lu, \"next\": %lu,"
    " \"seconds\": %.6f, \"server_seconds\": %.6f, \"generator_seconds\": %.6f, \"p50\": %.0f, \"p99\": %.0f}\n",
    answers, refusals, words_found() - words, plan.next_number - number, plan.next_number,
    (double)elapsed / SECOND, (double)spent / SECOND, (double)here / SECOND,
    latencies_percentile(&latencies, 50), latencies_percentile(&latencies, 99));
}
