#include "test_certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <string.h>

static X509 *read_certificate(const char *pem) {
  BIO *input = BIO_new_mem_buf(pem, -1);
  X509 *certificate = PEM_read_bio_X509(input, NULL, NULL, NULL);
  BIO_free(input);
  return certificate;
}

static EVP_PKEY *read_key(const char *pem) {
  BIO *input = BIO_new_mem_buf(pem, -1);
  EVP_PKEY *key = PEM_read_bio_PrivateKey(input, NULL, NULL, NULL);
  BIO_free(input);
  return key;
}

static int add_extension(X509 *certificate, X509 *issuer, int kind, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
  int done = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return done;
}

static int copy_pem(BIO *output, char *text, size_t room) {
  int length = BIO_read(output, text, (int)room - 1);
  if (length <= 0 || BIO_pending(output) > 0) return 0;
  text[length] = 0;
  return 1;
}

int make_test_certificate(
    const char *name, const char *names, const char *issuer, const char *issuer_key, long begin, long end,
    char *certificate, char *key, size_t room) {
  EVP_PKEY *own_key = EVP_EC_gen("P-256");
  EVP_PKEY *signing_key = issuer_key ? read_key(issuer_key) : own_key;
  X509 *made = X509_new();
  X509 *signer = issuer ? read_certificate(issuer) : made;
  uint64_t serial = 0;
  RAND_bytes((unsigned char *)&serial, sizeof serial);
  X509_set_version(made, X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(made), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(made), begin);
  X509_gmtime_adj(X509_getm_notAfter(made), end);
  X509_set_pubkey(made, own_key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_UTF8, (const unsigned char *)name, -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(signer));
  int done = add_extension(made, signer, NID_basic_constraints, names ? "critical,CA:FALSE" : "critical,CA:TRUE") &&
      add_extension(made, signer, NID_subject_key_identifier, "hash");
  if (names) done = done && add_extension(made, signer, NID_subject_alt_name, names);
  if (!names) done = done && add_extension(made, signer, NID_key_usage, "critical,keyCertSign,cRLSign");
  done = done && X509_sign(made, signing_key, EVP_sha256()) > 0;
  BIO *output = BIO_new(BIO_s_mem());
  done = done && PEM_write_bio_X509(output, made) == 1 && copy_pem(output, certificate, room);
  done = done && PEM_write_bio_PrivateKey(output, own_key, NULL, NULL, 0, NULL, NULL) == 1 && copy_pem(output, key, room);
  BIO_free(output);
  if (issuer) X509_free(signer);
  if (issuer_key) EVP_PKEY_free(signing_key);
  X509_free(made);
  EVP_PKEY_free(own_key);
  return done;
}

int test_tls_attack(int descriptor, int attack, int times, const char *request, char *answer, size_t room) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(context, attack == test_tls_renegotiates ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL *session = SSL_new(context);
  SSL_set_fd(session, descriptor);
  int count = 0;
  if (SSL_connect(session) == 1) {
    for (int index = 0; index < times; index++) {
      if (attack == test_tls_renegotiates) {
        SSL_renegotiate(session);
        SSL_do_handshake(session);
      } else if (SSL_key_update(session, SSL_KEY_UPDATE_REQUESTED) != 1 || SSL_do_handshake(session) != 1) {
        break;
      }
    }
    SSL_write(session, request, (int)strlen(request));
    count = SSL_read(session, answer, (int)room);
  }
  SSL_free(session);
  SSL_CTX_free(context);
  return count > 0 ? count : 0;
}

int test_tls_session(int descriptor, int is_1_3, const char *protocols, const char *request, void **session) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  int version = is_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
  SSL_CTX_set_min_proto_version(context, version);
  SSL_CTX_set_max_proto_version(context, version);
  SSL *connection = SSL_new(context);
  SSL_set_fd(connection, descriptor);
  if (protocols) SSL_set_alpn_protos(connection, (const unsigned char *)protocols, (unsigned)strlen(protocols));
  if (*session) SSL_set_session(connection, *session);
  int result = test_tls_refused;
  char answer[4096];
  if (SSL_connect(connection) == 1 && SSL_write(connection, request, (int)strlen(request)) > 0 &&
      SSL_read(connection, answer, sizeof answer) > 0) {
    result = SSL_session_reused(connection) ? test_tls_resumed : test_tls_full;
    SSL_SESSION_free(*session);
    // With TLS 1.3 the session comes after the handshake, and so with the answer.
    *session = SSL_get1_session(connection);
  }
  SSL_shutdown(connection);
  SSL_free(connection);
  SSL_CTX_free(context);
  return result;
}

void test_tls_forget(void *session) { SSL_SESSION_free(session); }
