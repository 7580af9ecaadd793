#pragma once

#include <stdbool.h>
#include <stdint.h>

// How often the calling thread has called what costs, and what the process holds: for tests that say how much may be.

// Requests for memory.
uint64_t count_of_allocations(void);

// How many bytes they asked for.
uint64_t count_of_allocated_bytes(void);

// Writes to sockets.
uint64_t count_of_sends(void);

// The bytes that all threads have been given and have not freed. Resident memory would include the memory
// that the allocator keeps back.
uint64_t count_of_bytes_in_use(void);

// False under a sanitizer, which has an allocator of its own.
bool allocations_are_counted(void);
