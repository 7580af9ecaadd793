// TLS by OpenSSL 3's libssl: contexts, and sessions over a socket that does not block. Its interface is macros, callbacks
// and a queue of errors for each thread, which Swift cannot call well; here it is plain functions.
#pragma once
#include <errno.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

typedef SSL_CTX tls_context;
typedef SSL tls_session;

enum { tls_1_2 = TLS1_2_VERSION, tls_1_3 = TLS1_3_VERSION };
// The results of a call that are no number of bytes.
enum { tls_done = 0, tls_wants_read = -1, tls_wants_write = -2, tls_ended = -3, tls_failed = -4 };
// A record holds no more than this (RFC 8446 section 5.1).
enum { tls_record_bytes = 16384 };

// MARK: Errors

// The first error of the thread's queue in words, and the queue empty.
static inline void tls_take_error(char *text, size_t room) {
  unsigned long code = ERR_peek_error();
  const char *reason = code ? ERR_reason_error_string(code) : NULL;
  if (reason == NULL && code && ERR_SYSTEM_ERROR(code)) reason = strerror(ERR_GET_REASON(code));
  strncpy(text, reason ? reason : "unknown cause", room - 1);
  text[room - 1] = 0;
  ERR_clear_error();
}

// A password would be asked for at the terminal.
static inline int tls_no_password(char *buffer, int size, int writing, void *context) {
  (void)buffer, (void)size, (void)writing, (void)context;
  return -1;
}

// MARK: The socket

// OpenSSL's own way to a socket raises SIGPIPE where the other side has gone.
static inline int tls_socket_write(BIO *bio, const char *bytes, int count) {
  int sent = (int)send((int)(intptr_t)BIO_get_data(bio), bytes, (size_t)count, MSG_NOSIGNAL);
  BIO_clear_retry_flags(bio);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
  return sent;
}

static inline int tls_socket_read(BIO *bio, char *bytes, int room) {
  int count = (int)recv((int)(intptr_t)BIO_get_data(bio), bytes, (size_t)room, 0);
  BIO_clear_retry_flags(bio);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
  return count;
}

static inline long tls_socket_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio, (void)number, (void)pointer;
  return command == BIO_CTRL_FLUSH;
}

// Several threads may ask at the same time. The first one makes it.
static inline BIO_METHOD *tls_socket_method(void) {
  static BIO_METHOD *made = NULL;
  BIO_METHOD *method = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
  if (method != NULL) return method;
  method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
  if (method == NULL) return NULL;
  BIO_meth_set_write(method, tls_socket_write);
  BIO_meth_set_read(method, tls_socket_read);
  BIO_meth_set_ctrl(method, tls_socket_control);
  BIO_METHOD *expected = NULL;
  if (__atomic_compare_exchange_n(&made, &expected, method, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return method;
  BIO_meth_free(method);
  return expected;
}

// MARK: Contexts

static inline tls_context *tls_new_context(int is_server, int minimum) {
  SSL_CTX *context = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
  if (context == NULL) return NULL;
  SSL_CTX_set_min_proto_version(context, minimum);
  // TLS 1.2 with forward secrecy and authenticated encryption only; all of TLS 1.3 has both.
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_options(
      context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  // No buffers for a session that is silent. Without retries a read returns after each record that is no data, so nobody
  // keeps a loop busy with such records.
  SSL_CTX_set_mode(
      context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_default_passwd_cb(context, tls_no_password);
  return context;
}

static inline void tls_free_context(tls_context *context) { SSL_CTX_free(context); }

// The certificate, and behind it those that lead to a root, as PEM. Returns 1, or 0 and why.
static inline int tls_use_chain(tls_context *context, const unsigned char *pem, int bytes, char *why, size_t room) {
  BIO *input = BIO_new_mem_buf(pem, bytes);
  X509 *leaf = input == NULL ? NULL : PEM_read_bio_X509_AUX(input, NULL, tls_no_password, NULL);
  int done = leaf != NULL && SSL_CTX_use_certificate(context, leaf) == 1;
  X509_free(leaf);
  SSL_CTX_clear_chain_certs(context);
  while (done) {
    X509 *next = PEM_read_bio_X509(input, NULL, tls_no_password, NULL);
    if (next == NULL) {
      // Nothing but the end is good.
      done = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
      break;
    }
    if (SSL_CTX_add0_chain_cert(context, next) != 1) {
      X509_free(next);
      done = 0;
    }
  }
  BIO_free(input);
  if (done) ERR_clear_error(); else tls_take_error(why, room);
  return done;
}

enum { tls_key_used = 1, tls_key_unreadable = 0, tls_key_of_another = -1 };

// The private key of the certificate that was given before, as PEM without a password.
static inline int tls_use_key(tls_context *context, const unsigned char *pem, int bytes, char *why, size_t room) {
  BIO *input = BIO_new_mem_buf(pem, bytes);
  EVP_PKEY *key = input == NULL ? NULL : PEM_read_bio_PrivateKey(input, NULL, tls_no_password, NULL);
  X509 *certificate = SSL_CTX_get0_certificate(context);
  BIO_free(input);
  int result = tls_key_unreadable;
  if (key != NULL) {
    result = certificate != NULL && X509_check_private_key(certificate, key) == 1 ? tls_key_used : tls_key_of_another;
    if (result == tls_key_used && SSL_CTX_use_PrivateKey(context, key) != 1) result = tls_key_unreadable;
  }
  EVP_PKEY_free(key);
  if (result == tls_key_used) ERR_clear_error(); else tls_take_error(why, room);
  return result;
}

static inline int64_t tls_seconds(const ASN1_TIME *time) {
  struct tm parts;
  return time != NULL && ASN1_TIME_to_tm(time, &parts) == 1 ? (int64_t)timegm(&parts) : 0;
}

// Between when and when the certificate is good, in seconds since 1970.
static inline void tls_certificate_times(tls_context *context, int64_t *begin, int64_t *end) {
  X509 *certificate = SSL_CTX_get0_certificate(context);
  *begin = certificate == NULL ? 0 : tls_seconds(X509_get0_notBefore(certificate));
  *end = certificate == NULL ? 0 : tls_seconds(X509_get0_notAfter(certificate));
}

// MARK: Servers

// A set of keys for tickets has a name, a key that encrypts and a key that authenticates. The set in use comes first, then the
// one before it.
enum { tls_ticket_name_bytes = 16, tls_ticket_key_bytes = 16 + 32 + 32 };

static inline int tls_random(unsigned char *bytes, int count) { return RAND_bytes(bytes, count) == 1; }

static inline int tls_context_slot(void) {
  static int slot = -1;
  int known = __atomic_load_n(&slot, __ATOMIC_ACQUIRE);
  if (known >= 0) return known;
  known = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  int expected = -1;
  return __atomic_compare_exchange_n(&slot, &expected, known, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ? known : expected;
}

static inline int tls_ticket_keys(
    SSL *session, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int is_sealing) {
  const unsigned char *keys = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), tls_context_slot());
  int is_old = 0;
  if (keys == NULL) return -1;
  if (is_sealing) {
    if (RAND_bytes(iv, 16) != 1) return -1;
    memcpy(name, keys, tls_ticket_name_bytes);
  } else if (memcmp(name, keys, tls_ticket_name_bytes) != 0) {
    keys += tls_ticket_key_bytes;
    is_old = 1;
    if (memcmp(name, keys, tls_ticket_name_bytes) != 0) return 0;
  }
  char digest[] = "SHA256";
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, (void *)(keys + 16 + 32), 32),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
  if (EVP_MAC_CTX_set_params(mac, params) != 1) return -1;
  if (EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), NULL, keys + 16, iv, is_sealing) != 1) return -1;
  // 2: the session is resumed, and its ticket replaced by one of the newer keys. TLS 1.3 replaces each that was used.
  return is_old || (!is_sealing && SSL_version(session) == TLS1_3_VERSION) ? 2 : 1;
}

// A client that offers protocols and not this one speaks none of ours (RFC 7301 section 3.2).
static inline int tls_choose_protocol(
    SSL *session, const unsigned char **chosen, unsigned char *length, const unsigned char *offered, unsigned int bytes,
    void *context) {
  static const unsigned char ours[] = "\x08http/1.1";
  unsigned char *found = NULL;
  (void)session, (void)context;
  if (SSL_select_next_proto(&found, length, ours, sizeof ours - 1, offered, bytes) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

// - ticket_keys: two sets, which live as long as the context.
static inline void tls_serve_http(tls_context *context, unsigned char *ticket_keys, long session_seconds) {
  static const unsigned char name[] = "belfry";
  SSL_CTX_set_session_id_context(context, name, sizeof name - 1);
  SSL_CTX_set_timeout(context, session_seconds);
  SSL_CTX_set_ex_data(context, tls_context_slot(), ticket_keys);
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, tls_ticket_keys);
  SSL_CTX_set_alpn_select_cb(context, tls_choose_protocol, NULL);
}

// MARK: Clients

// Accepts servers whose certificate one of these authorities, as PEM, has signed. Returns how many there are; 0 and why.
static inline int tls_trust(tls_context *context, const unsigned char *pem, int bytes, char *why, size_t room) {
  X509_STORE *store = SSL_CTX_get_cert_store(context);
  BIO *input = BIO_new_mem_buf(pem, bytes);
  int count = 0;
  for (X509 *next; input != NULL && (next = PEM_read_bio_X509(input, NULL, tls_no_password, NULL)) != NULL;) {
    count += X509_STORE_add_cert(store, next) == 1;
    X509_free(next);
  }
  BIO_free(input);
  if (count > 0) ERR_clear_error(); else tls_take_error(why, room);
  return count;
}

// Those that the system trusts.
static inline int tls_trust_system(tls_context *context) {
  int done = SSL_CTX_set_default_verify_paths(context) == 1;
  ERR_clear_error();
  return done;
}

static inline void tls_verify_server(tls_context *context) {
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  // An authority in between may be trusted without the root.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context), X509_V_FLAG_PARTIAL_CHAIN);
}

// MARK: Sessions

// Over a connected socket, which stays the caller's.
static inline tls_session *tls_open(tls_context *context, int descriptor, int is_server) {
  BIO_METHOD *method = tls_socket_method();
  SSL *session = SSL_new(context);
  BIO *bio = method == NULL ? NULL : BIO_new(method);
  if (session == NULL || bio == NULL) {
    SSL_free(session);
    BIO_free(bio);
    ERR_clear_error();
    return NULL;
  }
  BIO_set_data(bio, (void *)(intptr_t)descriptor);
  BIO_set_init(bio, 1);
  SSL_set_bio(session, bio, bio);
  if (is_server) SSL_set_accept_state(session); else SSL_set_connect_state(session);
  return session;
}

// Sets the name or the address that the server's certificate must have.
static inline int tls_expect_host(tls_session *session, const char *host) {
  X509_VERIFY_PARAM *param = SSL_get0_param(session);
  int done = X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
  if (!done) done = SSL_set_tlsext_host_name(session, host) == 1 && SSL_set1_host(session, host) == 1;
  ERR_clear_error();
  return done;
}

static inline void tls_free(tls_session *session) {
  SSL_free(session);
  ERR_clear_error();
}

// Gives the result of a call that did not succeed, and writes the words of a failure.
static inline int tls_outcome(tls_session *session, int result, int number, char *why, size_t room) {
  switch (SSL_get_error(session, result)) {
    case SSL_ERROR_WANT_READ: return tls_wants_read;
    case SSL_ERROR_WANT_WRITE: return tls_wants_write;
    case SSL_ERROR_ZERO_RETURN: return tls_ended;
    case SSL_ERROR_SYSCALL:
      strncpy(why, number != 0 ? strerror(number) : "the other side hung up", room - 1);
      why[room - 1] = 0;
      ERR_clear_error();
      return tls_failed;
    default: break;
  }
  if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    strncpy(why, X509_verify_cert_error_string(SSL_get_verify_result(session)), room - 1);
    why[room - 1] = 0;
    ERR_clear_error();
  } else {
    tls_take_error(why, room);
  }
  return tls_failed;
}

// One step. The queue of errors is empty before each call: an older error would be taken for its own.
static inline int tls_handshake(tls_session *session, char *why, size_t room) {
  ERR_clear_error();
  errno = 0;
  int result = SSL_do_handshake(session);
  return result == 1 ? tls_done : tls_outcome(session, result, errno, why, room);
}

// Returns how many bytes, at least one; or what else it came to.
static inline int tls_read(tls_session *session, void *bytes, int room_for, char *why, size_t room) {
  ERR_clear_error();
  errno = 0;
  int result = SSL_read(session, bytes, room_for);
  return result > 0 ? result : tls_outcome(session, result, errno, why, room);
}

static inline int tls_write(tls_session *session, const void *bytes, int count, char *why, size_t room) {
  ERR_clear_error();
  errno = 0;
  int result = SSL_write(session, bytes, count);
  return result > 0 ? result : tls_outcome(session, result, errno, why, room);
}

// Says that nothing more will be written (close_notify), if there is room for it.
static inline void tls_finish(tls_session *session) {
  ERR_clear_error();
  if (!(SSL_get_shutdown(session) & SSL_SENT_SHUTDOWN)) SSL_shutdown(session);
  ERR_clear_error();
}

static inline int tls_is_resumed(tls_session *session) { return SSL_session_reused(session); }
static inline const char *tls_version_name(tls_session *session) { return SSL_get_version(session); }
