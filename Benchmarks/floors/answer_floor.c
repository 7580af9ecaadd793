// The floor for posting: an HTTP daemon that reads each request and answers 201, and does nothing else. The
// same library as Belfry's (GNU libmicrohttpd), driven the same way: by an epoll of our own.
//
//   answer_floor PORT
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

static enum MHD_Result answer(
  void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
  const char *body, size_t *body_count, void **request) {
  static char begun;
  (void)url, (void)method, (void)version, (void)body;
  // Called first without a body, then with each part of it, then once more.
  if (!*request) {
    *request = &begun;
    return MHD_YES;
  }
  if (*body_count) {
    *body_count = 0;
    return MHD_YES;
  }
  return MHD_queue_response(connection, 201, context);
}

int main(int count, char **words) {
  if (count != 2) return 2;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  struct MHD_Response *nothing = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
  struct MHD_Daemon *daemon = MHD_start_daemon(
    MHD_USE_EPOLL | MHD_USE_TURBO, 0, NULL, NULL, answer, nothing, MHD_OPTION_SOCK_ADDR, &address,
    MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_END);
  if (!daemon) {
    fputs("answer_floor: cannot listen\n", stderr);
    return 1;
  }
  int poller = epoll_create1(0);
  int inner = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(poller, EPOLL_CTL_ADD, inner, &event);
  for (;;) {
    MHD_UNSIGNED_LONG_LONG timeout;
    int wait = MHD_get_timeout(daemon, &timeout) == MHD_YES ? (int)timeout : -1;
    epoll_wait(poller, &event, 1, wait);
    MHD_run(daemon);
  }
}
