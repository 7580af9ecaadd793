// Those who receive: many connections that say a greeting and then listen.
#pragma once

#include "events.h"
#include "http.h"
#include "loop.h"
#include "marks.h"
#include "matches.h"
#include "mqtt.h"

struct consumer {
  struct connection connection;  // first, so that one is the other
  struct matches ready;
  bool is_ready;
  uint64_t opened, seen;
  struct marks marks;
  struct http_answer http;
  struct event_input events;
  struct mqtt_input mqtt;
};

extern struct consumer *consumers;
extern uint32_t consumer_count, consumers_ready, consumers_lost;

// For each notification that arrives anywhere.
extern void (*consumers_on_mark)(struct consumer *, uint64_t number);
// When a consumer's word of readiness (the setting `ready`) has come.
extern void (*consumers_on_ready)(struct consumer *);
// A consumer whose connection ends is lost, if this is set; otherwise it ends the run.
extern bool consumers_may_be_lost;

// Settings: consumers=N greetings=FILE ready=WORD framing=plain|http|events|mqtt. Connects `at_once` at a time
// and returns when all of them are ready, or lost.
void consumers_connect(uint32_t at_once);
