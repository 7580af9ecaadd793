// The calls of Linux that the toolchain's Glibc module leaves out: epoll, eventfd, signalfd, pidfd, accept4, the name of a
// thread, and a child process that ends with the thread that started it.
#pragma once
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

// The C library declares accept4 for those only who ask for all of GNU. Its own header would bring sockets into this
// module, and with them a second set of names.
static inline int linux_accept(int listener, void *address, unsigned int *length) {
  struct sockaddr;
  extern int accept4(int, struct sockaddr *, unsigned int *, int);
  return accept4(listener, (struct sockaddr *)address, length, O_NONBLOCK | O_CLOEXEC);
}

// prctl is variadic, which Swift cannot call. The kernel cuts the name at 15 bytes.
static inline void linux_name_this_thread(const char *name) {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

// The number under which a program started below finds the descriptor it was left.
enum { linux_kept_descriptor = 3 };

// Starts a program that is sent a signal when the calling thread ends, also where the whole process was killed;
// posix_spawn cannot ask for that. Returns the child's process id, or -1 with errno set. A program that cannot
// be executed shows as a child that exits with 127.
//
// The child has no other descriptors than `output` as its standard output and error, and `kept`; its own
// process group, so that a Ctrl-C at the terminal is not for it; and no blocked or ignored signals. Between
// fork and exec of a process with threads only async-signal-safe functions may be called: these are.
static inline pid_t linux_spawn_bound_to_this_thread(
    const char *path, char *const arguments[], int output, int kept, int death_signal) {
  pid_t parent = getpid();
  pid_t child = fork();
  if (child != 0) return child;

  prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0);
  if (getppid() != parent) _exit(127);  // it ended before it could be asked about
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);

  // First out of the way of the numbers that are about to be replaced.
  output = fcntl(output, F_DUPFD, 16);
  kept = fcntl(kept, F_DUPFD, 16);
  int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  dup2(kept, linux_kept_descriptor);
  close_range(linux_kept_descriptor + 1, ~0U, 0);
  execv(path, arguments);
  _exit(127);
}
