#include "simulated_machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local machine_connector connector;
static _Thread_local void *connector_context;

void machine_set_connector(machine_connector new_connector, void *context) {
  connector = new_connector;
  connector_context = context;
}

// The header of the C library gives these two types that only its own compiler settings explain. So they have other names
// here, and theirs for the linker.
int machine_connect(int socket, const struct sockaddr *address, socklen_t length) __asm__("connect");
int machine_set_option(int socket, int level, int option, const void *value, socklen_t length) __asm__("setsockopt");

int machine_connect(int socket, const struct sockaddr *address, socklen_t length) {
  if (connector == NULL || address->sa_family != AF_INET) return (int)syscall(SYS_connect, socket, address, length);
  const struct sockaddr_in *place = (const struct sockaddr_in *)address;
  int end = connector(connector_context, ntohl(place->sin_addr.s_addr), ntohs(place->sin_port));
  if (end < 0) {
    errno = -end;
    return -1;
  }
  // The caller keeps the number of its socket.
  int status = dup2(end, socket) < 0 ? -1 : 0;
  close(end);
  return status;
}

// The other end is a unix socket, which knows no options of TCP.
int machine_set_option(int socket, int level, int option, const void *value, socklen_t length) {
  if (connector != NULL && level == IPPROTO_TCP) return 0;
  return (int)syscall(SYS_setsockopt, socket, level, option, value, length);
}
