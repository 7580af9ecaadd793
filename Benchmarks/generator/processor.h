// The processor time that the measured servers, all of them together, have spent.
#pragma once

#include <stdint.h>

// `processes`: ids separated by commas.
void processor_watch(const char *processes);

// Nanoseconds, of all threads and of children that have ended.
uint64_t processor_spent(void);

// Nanoseconds that this program itself has spent: near the elapsed time, it is the generator that is measured.
uint64_t processor_spent_here(void);
