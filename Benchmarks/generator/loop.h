// One epoll loop, one thread, and connections that never block.
#pragma once

#include "support.h"

struct connection {
  int descriptor;  // -1: none
  bool is_connecting;
  bool waits_for_room;
  uint32_t number;
  char *unsent;  // what the kernel did not take
  size_t unsent_count, unsent_room;
  // Called with what has arrived; `bytes` is valid during the call.
  void (*on_input)(struct connection *, const char *bytes, size_t count);
  void (*on_connected)(struct connection *);
  // After the descriptor is closed. Without it, an end is a failure of the run.
  void (*on_end)(struct connection *, const char *why);
};

// Where the servers are: the setting `path` (a unix socket), or `port` on the loopback. 127.0.0.1 as a source
// has some 28,000 ports, so connections come from several addresses of the loopback.
void loop_start(void);

void connection_open(struct connection *);
void connection_close(struct connection *);
// Sends at once what the kernel takes, and the rest as it has room.
void connection_send(struct connection *, const char *bytes, size_t count);

// Waits for events until `deadline` at most, and handles those there are. False when nothing came.
bool loop_turn(uint64_t deadline);

// Bytes received by all connections together.
extern uint64_t loop_received;
