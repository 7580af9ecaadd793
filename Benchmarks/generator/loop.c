#include "loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { EVENTS = 1024, INPUT_BYTES = 256 * 1024, CONNECTIONS_PER_SOURCE = 20000 };

uint64_t loop_received;

static int poller;
static char input[INPUT_BYTES];
static union {
  struct sockaddr any;
  struct sockaddr_in internet;
  struct sockaddr_un local;
} target;
static socklen_t target_length;

void loop_start(void) {
  poller = epoll_create1(EPOLL_CLOEXEC);
  if (poller < 0) fail("epoll_create1: %s", strerror(errno));
  const char *path = setting("path", "");
  if (*path) {
    target.local.sun_family = AF_UNIX;
    strncpy(target.local.sun_path, path, sizeof target.local.sun_path - 1);
    target_length = sizeof target.local;
  } else {
    target.internet.sin_family = AF_INET;
    target.internet.sin_port = htons((uint16_t)setting_number("port", 0));
    target.internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    target_length = sizeof target.internet;
  }
}

static void listen_for(struct connection *connection, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = connection};
  if (epoll_ctl(poller, operation, connection->descriptor, &event)) fail("epoll_ctl: %s", strerror(errno));
}

static void end(struct connection *connection, const char *why) {
  connection_close(connection);
  if (!connection->on_end) fail("connection %u: %s", connection->number, why);
  connection->on_end(connection, why);
}

static void bind_source(const struct connection *connection) {
  struct sockaddr_in source = {.sin_family = AF_INET};
  source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + connection->number / CONNECTIONS_PER_SOURCE);
  int one = 1;
  // The port is chosen at `connect`, when the target is known: otherwise ports in TIME_WAIT count as taken.
  setsockopt(connection->descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (bind(connection->descriptor, (struct sockaddr *)&source, sizeof source)) fail("bind: %s", strerror(errno));
}

void connection_open(struct connection *connection) {
  connection->descriptor = socket(target.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connection->descriptor < 0) fail("socket: %s", strerror(errno));
  if (target.any.sa_family == AF_INET) bind_source(connection);
  connection->is_connecting = true;
  connection->waits_for_room = true;
  connection->unsent_count = 0;
  if (connect(connection->descriptor, &target.any, target_length) && errno != EINPROGRESS)
    fail("connect: %s", strerror(errno));
  listen_for(connection, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

void connection_close(struct connection *connection) {
  if (connection->descriptor < 0) return;
  close(connection->descriptor);
  connection->descriptor = -1;
}

static void keep_unsent(struct connection *connection, const char *bytes, size_t count) {
  size_t needed = connection->unsent_count + count;
  if (needed > connection->unsent_room) {
    connection->unsent_room = needed * 2;
    connection->unsent = reserve(connection->unsent, connection->unsent_room);
  }
  memcpy(connection->unsent + connection->unsent_count, bytes, count);
  connection->unsent_count = needed;
  if (!connection->waits_for_room) {
    connection->waits_for_room = true;
    listen_for(connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
  }
}

void connection_send(struct connection *connection, const char *bytes, size_t count) {
  size_t sent = 0;
  if (!connection->waits_for_room) {
    ssize_t taken = send(connection->descriptor, bytes, count, MSG_NOSIGNAL);
    if (taken >= 0) sent = (size_t)taken;
    // Whatever else is wrong, the next event of the descriptor says it.
  }
  if (sent < count) keep_unsent(connection, bytes + sent, count - sent);
}

static void send_rest(struct connection *connection) {
  ssize_t taken = send(connection->descriptor, connection->unsent, connection->unsent_count, MSG_NOSIGNAL);
  if (taken < 0) return;
  connection->unsent_count -= (size_t)taken;
  memmove(connection->unsent, connection->unsent + taken, connection->unsent_count);
  if (connection->unsent_count) return;
  connection->waits_for_room = false;
  listen_for(connection, EPOLL_CTL_MOD, EPOLLIN);
}

static void finish_connecting(struct connection *connection) {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(connection->descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
  if (error) return end(connection, strerror(error));
  connection->is_connecting = false;
  if (connection->on_connected) connection->on_connected(connection);
}

static void receive(struct connection *connection) {
  ssize_t count = recv(connection->descriptor, input, sizeof input, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count < 0) return end(connection, strerror(errno));
  if (count == 0) return end(connection, "closed by the server");
  loop_received += (uint64_t)count;
  connection->on_input(connection, input, (size_t)count);
}

bool loop_turn(uint64_t deadline) {
  static struct epoll_event events[EVENTS];
  uint64_t time = now();
  int wait = deadline > time ? (int)((deadline - time + 999999) / 1000000) : 0;
  int count = epoll_wait(poller, events, EVENTS, wait);
  for (int i = 0; i < count; i++) {
    struct connection *connection = events[i].data.ptr;
    // A handler before this one in the same turn may have closed it.
    if (connection->descriptor < 0) continue;
    if (connection->is_connecting) finish_connecting(connection);
    if (connection->descriptor >= 0 && events[i].events & EPOLLOUT) send_rest(connection);
    if (connection->descriptor >= 0 && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(connection);
  }
  return count > 0;
}
