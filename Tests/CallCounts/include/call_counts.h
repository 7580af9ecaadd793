#pragma once

#include <stdbool.h>
#include <stdint.h>

// How often the calling thread has called what costs: for tests that say how often something may.

// Requests for memory.
uint64_t count_of_allocations(void);

// How many bytes they asked for.
uint64_t count_of_allocated_bytes(void);

// Writes to sockets.
uint64_t count_of_sends(void);

// False under a sanitizer, which has an allocator of its own.
bool allocations_are_counted(void);
