// Those who receive: many connections that say a greeting and then listen.
#pragma once

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
  struct mqtt_input mqtt;
};

extern struct consumer *consumers;
extern uint32_t consumer_count, consumers_ready;

// For each notification that arrives anywhere.
extern void (*consumers_on_mark)(struct consumer *, uint64_t number);
// When a consumer's word of readiness (the setting `ready`) has come.
extern void (*consumers_on_ready)(struct consumer *);

// Settings: consumers=N greetings=FILE ready=WORD framing=plain|http|mqtt. Connects `at_once` at a time and
// returns when all of them are ready.
void consumers_connect(uint32_t at_once);
