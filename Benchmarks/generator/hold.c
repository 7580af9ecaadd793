// Consumers that connect and stay: all at once, or some at a time. Says when all of them were served, and holds
// them until stdin ends.
//
// With `marks=N`, a consumer is served when N notifications have arrived; without, when it is ready.
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

void mode_hold(void) {
  marks_wanted = (uint64_t)setting_number("marks", 0);
  consumers_on_mark = on_mark;
  consumers_on_ready = on_ready;
  uint64_t start = now(), spent = processor_spent(), deadline = start + 120 * SECOND;
  consumers_connect((uint32_t)setting_number("at-once", 200));
  while (served < consumer_count) {
    loop_turn(now() + SECOND);
    if (now() > deadline) fail("only %u of %u consumers are served", served, consumer_count);
  }
  uint64_t elapsed = now() - start;
  spent = processor_spent() - spent;
  // Whatever comes twice would come now.
  while (loop_turn(now() + SECOND / 5)) continue;
  printf(
    "{\"consumers\": %u, \"wrong\": %u, \"seconds\": %.6f, \"server_seconds\": %.6f, \"p50\": %.0f,"
    " \"p99\": %.0f}\n",
    consumer_count, wrongly_served(), (double)elapsed / SECOND, (double)spent / SECOND,
    latencies_percentile(&latencies, 50), latencies_percentile(&latencies, 99));
  fflush(stdout);
  while (getchar() != EOF) continue;
}
