#pragma once
#include <microhttpd.h>
#include <string.h>

// MHD's own functions for what follows are variadic, which Swift cannot call.

// The target of a request is decoded in Swift, where "%2F" inside a segment can be told from "/".
static inline size_t mhd_leave_escaped(void *cls, struct MHD_Connection *connection, char *text) {
  (void)cls;
  (void)connection;
  return strlen(text);
}

// Called when the target is announced, it ends the query that MHD will find behind the question mark. MHD would
// take it apart into the connection's memory, and when that is full it loses the request: it is neither
// answered nor closed (0.9.75). The text is const only to those who log it; it stands in MHD's read buffer.
static inline void mhd_hide_query(const char *target) {
  char *query = strchr((char *)target, '?');
  if (query) query[1] = '\0';
}

struct mhd_options {
  unsigned int connections;
  size_t connection_memory_bytes;
  void *context;
  MHD_AccessHandlerCallback access_handler;
  MHD_NotifyConnectionCallback connection_changed;
  MHD_RequestCompletedCallback request_completed;
  void *(*request_begun)(void *context, const char *target, struct MHD_Connection *connection);
};

// It is given the connections that were accepted elsewhere. TURBO is what makes a connection's takeover possible: without it, closing MHD's descriptor would also
// shut the connection down.
static inline struct MHD_Daemon *mhd_start(const struct mhd_options *options) {
  return MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0,
      NULL, NULL,
      options->access_handler, options->context,
      MHD_OPTION_CONNECTION_LIMIT, options->connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->connection_memory_bytes,
      MHD_OPTION_NOTIFY_CONNECTION, options->connection_changed, options->context,
      MHD_OPTION_NOTIFY_COMPLETED, options->request_completed, options->context,
      MHD_OPTION_URI_LOG_CALLBACK, options->request_begun, options->context,
      MHD_OPTION_UNESCAPE_CALLBACK, &mhd_leave_escaped, NULL,
      // What it would refuse in silence, or with words of its own, is refused with better ones in Swift.
      MHD_OPTION_STRICT_FOR_CLIENT, 0,
      MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
      MHD_OPTION_END);
}

static inline int mhd_epoll_descriptor(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

static inline int mhd_descriptor(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *mhd_client_address(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  return info ? info->client_addr : NULL;
}

static inline void *mhd_socket_context(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

static inline size_t mhd_header_size(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}
