// Consumers that connect and stay: all at once, or some at a time. Says when all of them were served, and holds
// them until stdin ends.
//
// With `marks=N`, a consumer is served when N notifications have arrived; without, when it is ready. With
// `framing=events` and `cursors=FILE`, the file gets each consumer's last event id, a line each.
#include <stdio.h>

#include "consumers.h"
#include "latency.h"
#include "modes.h"
#include "processor.h"

static uint64_t marks_wanted;
static uint32_t served;
static struct latencies latencies;

static void serve(const struct consumer *consumer) {
  latencies_add(&latencies, now() - consumer->opened);
  served++;
}

static void on_mark(struct consumer *consumer, uint64_t number) {
  (void)number;
  if (consumer->seen == marks_wanted) serve(consumer);
}

static void on_ready(struct consumer *consumer) {
  if (!marks_wanted) serve(consumer);
}

static uint32_t wrongly_served(void) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < consumer_count; i++) count += consumers[i].seen != marks_wanted;
  return count;
}

static void write_cursors(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) fail("cannot write %s", path);
  for (uint32_t i = 0; i < consumer_count; i++)
    fprintf(file, "%.*s\n", (int)consumers[i].events.id_count, consumers[i].events.id);
  fclose(file);
}

void mode_hold(void) {
  marks_wanted = (uint64_t)setting_number("marks", 0);
  consumers_on_mark = on_mark;
  consumers_on_ready = on_ready;
  consumers_may_be_lost = true;
  uint64_t start = now(), spent = processor_spent(), deadline = start + 120 * SECOND;
  consumers_connect((uint32_t)setting_number("at-once", 200));
  while (served + consumers_lost < consumer_count) {
    loop_turn(now() + SECOND);
    if (now() > deadline) fail("only %u of %u consumers are served", served, consumer_count);
  }
  uint64_t elapsed = now() - start;
  spent = processor_spent() - spent;
  // Whatever comes twice would come now.
  while (loop_turn(now() + SECOND / 5)) continue;
  const char *cursors = setting("cursors", "");
  if (*cursors) write_cursors(cursors);
  printf(
    "{\"consumers\": %u, \"lost\": %u, \"wrong\": %u, \"seconds\": %.6f, \"server_seconds\": %.6f, \"p50\": %.0f,"
    " \"p99\": %.0f}\n",
    consumer_count, consumers_lost, wrongly_served(), (double)elapsed / SECOND, (double)spent / SECOND,
    latencies_percentile(&latencies, 50), latencies_percentile(&latencies, 99));
  fflush(stdout);
  while (getchar() != EOF) continue;
}
