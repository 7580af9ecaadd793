#include "call_counts.h"

#include <malloc.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// The test executable's own symbols go before those of the libraries, for calls from other libraries as well.

static _Thread_local uint64_t sends;

uint64_t count_of_sends(void) { return sends; }

ssize_t send(int socket, const void *bytes, size_t count, int flags) {
  sends++;
  return syscall(SYS_sendto, socket, bytes, count, flags, NULL, 0);
}

static _Thread_local uint64_t allocations;
static _Thread_local uint64_t allocated;

uint64_t count_of_allocations(void) { return allocations; }

uint64_t count_of_allocated_bytes(void) { return allocated; }

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif

#ifdef HAS_SANITIZER

bool allocations_are_counted(void) { return false; }

// A sanitizer keeps freed memory back for a while, which this leaves out.
size_t __sanitizer_get_current_allocated_bytes(void);

uint64_t count_of_bytes_in_use(void) { return __sanitizer_get_current_allocated_bytes(); }

#else

bool allocations_are_counted(void) { return true; }

uint64_t count_of_bytes_in_use(void) {
  struct mallinfo2 heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// The memory is allocated by glibc, so its `free` is left alone.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
  allocations++;
  allocated += size;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  allocations++;
  allocated += number * size;
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  allocations++;
  allocated += size;
  return __libc_realloc(memory, size);
}

#endif
