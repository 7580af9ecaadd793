#pragma once

#include <stdint.h>

// A machine for one thread: clocks that stand until they are set, and random numbers that follow from a seed. Other threads
// keep the machine that they have.
//
// The functions of the C library that ask for the time or for random numbers, and the one that connects, are defined here a
// second time. The executable's own symbols go before those of libraries, so Swift's runtime, hiredis, libcurl and OpenSSL
// call these, too.

// Puts the calling thread on such a machine. All times are nanoseconds: since the machine was started, and since 1970.
void machine_begin(int64_t monotonic, int64_t wall);

// Gives the thread its own machine back.
void machine_end(void);

void machine_set_clocks(int64_t monotonic, int64_t wall);

// Lets random numbers follow from another state from now on, and returns the present one.
uint64_t machine_swap_randomness(uint64_t state);

// The jobs that went to Swift's global executor since the beginning. Its threads run them in an order that no seed repeats.
uint64_t machine_escaped_jobs(void);

// Decides about a connection that the thread opens to an IPv4 address. Returns the descriptor that takes the place of the
// socket, or a negative error number.
typedef int32_t (*machine_connector)(void *context, uint32_t host, uint16_t port);

// Asks the connector about each connection from now on. Without one the kernel connects.
void machine_set_connector(machine_connector connector, void *context);
