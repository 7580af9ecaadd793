#pragma once

#include <stdint.h>

// A machine for one thread: clocks that stand until they are set, and random numbers that follow from a seed. Other threads
// keep the machine that they have.
//
// The functions of the C library that ask for the time or for random numbers are defined here a second time. The
// executable's own symbols go before those of libraries, so Swift's runtime, libcurl and OpenSSL call these, too.

// Puts the calling thread on such a machine. All times are nanoseconds: since the machine was started, and since 1970.
void machine_begin(int64_t monotonic, int64_t wall);

// Gives the thread its own machine back.
void machine_end(void);

void machine_set_clocks(int64_t monotonic, int64_t wall);

// Lets random numbers follow from another state from now on, and returns the present one.
uint64_t machine_swap_randomness(uint64_t state);

// The jobs that went to Swift's global executor since the beginning. Its threads run them in an order that no seed repeats.
uint64_t machine_escaped_jobs(void);
