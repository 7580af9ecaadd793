#pragma once
#include <curl/curl.h>

// curl_easy_setopt and its like are variadic, which Swift cannot call.

static inline CURLcode easy_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode easy_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode easy_set_headers(CURL *easy, struct curl_slist *headers) {
  return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
}

// Copies the bytes. The size goes first: without it the copy would end at the first NUL.
static inline CURLcode easy_set_body(CURL *easy, const void *bytes, long long count) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
  return code ? code : curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes);
}

// The context is what both are given, and what multi_next_finished returns.
static inline void easy_set_receivers(
    CURL *easy, curl_write_callback header, curl_write_callback body, void *context) {
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, context);
}

static inline void easy_set_sender(CURL *easy, curl_read_callback send, void *context) {
  curl_easy_setopt(easy, CURLOPT_READFUNCTION, send);
  curl_easy_setopt(easy, CURLOPT_READDATA, context);
}

// Tells of each socket that is made, before it is connected.
static inline CURLcode easy_set_socket_observer(CURL *easy, curl_sockopt_callback observe, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, observe);
  return code ? code : curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, context);
}

static inline long easy_status(CURL *easy) {
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  return status;
}

// The verdict of OpenSSL on the peer's certificate, an X509_V_ERR_… of openssl/x509_vfy.h.
static inline long easy_certificate_verdict(CURL *easy) {
  long verdict = 0;
  curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &verdict);
  return verdict;
}

static inline long long easy_uploaded_bytes(CURL *easy) {
  curl_off_t count = 0;
  curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &count);
  return count;
}

// How many bytes of requests have been sent, over all connections of the transfer. Bytes for a proxy count, too.
static inline long easy_request_bytes(CURL *easy) {
  long count = 0;
  curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &count);
  return count;
}

static inline void multi_set_long(CURLM *multi, CURLMoption option, long value) {
  curl_multi_setopt(multi, option, value);
}

// NULL when no other transfer has finished.
static inline void *multi_next_finished(CURLM *multi, CURLcode *result) {
  void *context = NULL;
  int left;
  for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
    if (message->msg != CURLMSG_DONE) continue;
    *result = message->data.result;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &context);
    return context;
  }
  return NULL;
}

static inline void multi_set_callbacks(
    CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context) {
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
}

// Sets the function that makes the sockets, and so decides which addresses are connected to.
static inline CURLcode easy_set_socket_maker(CURL *easy, curl_opensocket_callback make, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, make);
  return code ? code : curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
}

// Lines of the form host:port:address,address.
static inline CURLcode easy_set_addresses(CURL *easy, struct curl_slist *lines) {
  return curl_easy_setopt(easy, CURLOPT_RESOLVE, lines);
}

static const curl_socket_t socket_refused = CURL_SOCKET_BAD;
static const curl_socket_t socket_timeout = CURL_SOCKET_TIMEOUT;

// Several transfers of one thread share TLS sessions, so that a new connection to the same server resumes one.
static inline CURLSH *share_sessions(void) {
  CURLSH *share = curl_share_init();
  if (share) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return share;
}

static inline CURLcode easy_set_share(CURL *easy, CURLSH *share) {
  return curl_easy_setopt(easy, CURLOPT_SHARE, share);
}
