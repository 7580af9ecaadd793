// What the toolchain's Glibc module leaves out of Linux: epoll, eventfd, signalfd, and a thread's name.
#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

// prctl is variadic, which Swift cannot call. The kernel cuts the name at 15 bytes.
static inline void linux_name_this_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}
