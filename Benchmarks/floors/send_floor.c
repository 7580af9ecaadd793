// The floor for fan-out: sends the same bytes to every socket, and does nothing else.
//
//   send_floor PORT
//
// A connection that says `C` is a consumer, one that says `P` publishes: what it sends from then on goes to
// every consumer as it is. What a full socket does not take is lost, which a generator that counts notices.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 65536, INPUT_BYTES = 64 * 1024 };

static int poller, consumers[CONNECTIONS_MAX], consumer_count;
static enum role { UNKNOWN, CONSUMER, PUBLISHER } roles[CONNECTIONS_MAX];

static void watch(int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
  epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

static void take_connection(int listener) {
  int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK), one = 1;
  if (descriptor < 0 || descriptor >= CONNECTIONS_MAX) abort();
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  roles[descriptor] = UNKNOWN;
  watch(descriptor);
}

static void drop(int descriptor) {
  for (int i = 0; i < consumer_count; i++)
    if (consumers[i] == descriptor) consumers[i--] = consumers[--consumer_count];
  close(descriptor);
}

static void take_role(int descriptor, char letter) {
  roles[descriptor] = letter == 'P' ? PUBLISHER : CONSUMER;
  if (roles[descriptor] == CONSUMER) consumers[consumer_count++] = descriptor;
  send(descriptor, "ready\n", 6, 0);
}

static void take_input(int descriptor) {
  static char bytes[INPUT_BYTES];
  ssize_t count = recv(descriptor, bytes, sizeof bytes, 0);
  if (count <= 0) return drop(descriptor);
  if (roles[descriptor] == UNKNOWN) return take_role(descriptor, bytes[0]);
  if (roles[descriptor] != PUBLISHER) return;
  for (int i = 0; i < consumer_count; i++) send(consumers[i], bytes, (size_t)count, 0);
}

int main(int count, char **words) {
  if (count != 2) return 2;
  signal(SIGPIPE, SIG_IGN);
  poller = epoll_create1(0);
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(words[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) {
    perror("send_floor");
    return 1;
  }
  watch(listener);
  for (struct epoll_event events[256];;) {
    int ready = epoll_wait(poller, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      if (events[i].data.fd == listener) take_connection(listener);
      else take_input(events[i].data.fd);
    }
  }
}
