// The part of OpenSSL 3's libcrypto that Belfry uses. Hashes and signatures by public keys check tokens and recognise repeated
// sends. P-256 and AES-128-GCM sign and encrypt Web Push. The interface of libcrypto is macros and out-parameters, which Swift
// cannot call well; here it is plain functions.
#pragma once
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <string.h>

typedef EVP_PKEY crypto_key;

enum { crypto_sha1_bytes = 20 };
enum { crypto_hash_bytes = 32, crypto_ed25519_bytes = 32 };
enum { crypto_kind_other = 0, crypto_kind_rsa = 1, crypto_kind_ed25519 = 2 };

// All return 1, or 0 where libcrypto cannot. No error is left behind for the next call on the thread.

static inline int crypto_hmac_sha256(
    const unsigned char *key, int key_bytes, const unsigned char *data, size_t bytes, unsigned char *hash) {
  unsigned int length = 0;
  int done = HMAC(EVP_sha256(), key, key_bytes, data, bytes, hash, &length) != NULL && length == crypto_hash_bytes;
  ERR_clear_error();
  return done;
}

static inline int crypto_sha256(const unsigned char *data, size_t bytes, unsigned char *hash) {
  unsigned int length = 0;
  int done = EVP_Digest(data, bytes, hash, &length, EVP_sha256(), NULL) == 1 && length == crypto_hash_bytes;
  ERR_clear_error();
  return done;
}

static inline int crypto_sha1(const unsigned char *data, size_t bytes, unsigned char *hash) {
  unsigned int length = 0;
  int done = EVP_Digest(data, bytes, hash, &length, EVP_sha1(), NULL) == 1 && length == crypto_sha1_bytes;
  ERR_clear_error();
  return done;
}

// SHA-256 of a few bytes; each send hashes some. Looking up the implementation in libcrypto each time would take longer than
// hashing them.
static inline void crypto_sha256_of_few(const unsigned char *data, size_t bytes, unsigned char *hash) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, data, bytes);
  SHA256_Final(hash, &context);
}

// In a time that does not tell where the first difference is.
static inline int crypto_is_same(const unsigned char *left, const unsigned char *right, size_t bytes) {
  return CRYPTO_memcmp(left, right, bytes) == 0;
}

// A password would be asked for at the terminal: a public key has none.
static inline int crypto_no_password(char *buffer, int size, int writing, void *context) {
  (void)buffer, (void)size, (void)writing, (void)context;
  return -1;
}

// The public key in a text that begins with -----BEGIN PUBLIC KEY-----; NULL if there is none.
static inline crypto_key *crypto_public_key(const unsigned char *pem, int bytes) {
  BIO *input = BIO_new_mem_buf(pem, bytes);
  crypto_key *key = input == NULL ? NULL : PEM_read_bio_PUBKEY(input, NULL, crypto_no_password, NULL);
  BIO_free(input);
  ERR_clear_error();
  return key;
}

static inline crypto_key *crypto_ed25519_key(const unsigned char *raw) {
  crypto_key *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, crypto_ed25519_bytes);
  ERR_clear_error();
  return key;
}

// Makes a public key from its modulus and its exponent, both big-endian.
static inline crypto_key *crypto_rsa_key(
    const unsigned char *modulus, int modulus_bytes, const unsigned char *exponent, int exponent_bytes) {
  crypto_key *key = NULL;
  OSSL_PARAM *params = NULL;
  BIGNUM *n = BN_bin2bn(modulus, modulus_bytes, NULL);
  BIGNUM *e = BN_bin2bn(exponent, exponent_bytes, NULL);
  OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
  if (n != NULL && e != NULL && build != NULL && context != NULL &&
      OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) &&
      OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e) &&
      (params = OSSL_PARAM_BLD_to_param(build)) != NULL && EVP_PKEY_fromdata_init(context) == 1)
    EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params);
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(params);
  OSSL_PARAM_BLD_free(build);
  BN_free(e);
  BN_free(n);
  ERR_clear_error();
  return key;
}

static inline void crypto_free_key(crypto_key *key) { EVP_PKEY_free(key); }

static inline int crypto_kind(const crypto_key *key) {
  switch (EVP_PKEY_get_base_id(key)) {
    case EVP_PKEY_RSA: return crypto_kind_rsa;
    case EVP_PKEY_ED25519: return crypto_kind_ed25519;
    default: return crypto_kind_other;
  }
}

static inline int crypto_bits(const crypto_key *key) { return EVP_PKEY_get_bits(key); }

// The key in its standard form (SubjectPublicKeyInfo, DER), by which keys are told apart. Returns its length, and
// writes nothing where there is not so much room.
static inline int crypto_key_bytes(const crypto_key *key, unsigned char *bytes, int room) {
  int length = i2d_PUBKEY(key, NULL);
  if (length > 0 && length <= room) i2d_PUBKEY(key, &bytes);
  ERR_clear_error();
  return length;
}

// RSASSA-PKCS1-v1_5 with SHA-256 (RS256) by an RSA key, Ed25519 by an Ed25519 key.
static inline int crypto_verify(
    crypto_key *key, const unsigned char *signature, size_t signature_bytes, const unsigned char *data, size_t bytes) {
  int kind = crypto_kind(key);
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int is_good = context != NULL && kind != crypto_kind_other &&
      EVP_DigestVerifyInit(context, NULL, kind == crypto_kind_rsa ? EVP_sha256() : NULL, NULL, key) == 1 &&
      EVP_DigestVerify(context, signature, signature_bytes, data, bytes) == 1;
  EVP_MD_CTX_free(context);
  ERR_clear_error();
  return is_good;
}

// MARK: P-256

enum { crypto_point_bytes = 65, crypto_scalar_bytes = 32, crypto_tag_bytes = 16, crypto_aes_key_bytes = 16, crypto_nonce_bytes = 12 };

// The private key in a text that begins with -----BEGIN PRIVATE KEY----- or -----BEGIN EC PRIVATE KEY-----, without a
// password; NULL if there is none, or on another curve.
static inline crypto_key *crypto_p256_private_key(const unsigned char *pem, int bytes) {
  char group[16] = "";
  size_t length = 0;
  BIO *input = BIO_new_mem_buf(pem, bytes);
  crypto_key *key = input == NULL ? NULL : PEM_read_bio_PrivateKey(input, NULL, crypto_no_password, NULL);
  BIO_free(input);
  if (key != NULL && (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC ||
                      EVP_PKEY_get_group_name(key, group, sizeof group, &length) != 1 ||
                      strcmp(group, "prime256v1") != 0)) {
    EVP_PKEY_free(key);
    key = NULL;
  }
  ERR_clear_error();
  return key;
}

static inline crypto_key *crypto_p256_generate(void) {
  crypto_key *key = EVP_EC_gen("P-256");
  ERR_clear_error();
  return key;
}

// Writes the key as PEM. Returns its length; 0 where it does not fit.
static inline int crypto_private_pem(crypto_key *key, unsigned char *pem, int room) {
  BIO *output = BIO_new(BIO_s_mem());
  int length = 0;
  if (output != NULL && PEM_write_bio_PrivateKey(output, key, NULL, NULL, 0, NULL, NULL) == 1) {
    length = BIO_read(output, pem, room);
    if (length < 0 || BIO_pending(output) > 0) length = 0;
  }
  BIO_free(output);
  ERR_clear_error();
  return length;
}

// The public key as a point of 65 bytes, uncompressed.
static inline int crypto_p256_point(crypto_key *key, unsigned char *point) {
  size_t length = 0;
  int done = EVP_PKEY_get_octet_string_param(
                 key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, point, crypto_point_bytes, &length) == 1 &&
      length == crypto_point_bytes;
  ERR_clear_error();
  return done;
}

// The public key with this point of 65 bytes; NULL if it is not on the curve.
static inline crypto_key *crypto_p256_public_key(const unsigned char *point) {
  crypto_key *key = NULL;
  char group[] = "prime256v1";
  OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
      OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, (void *)point, crypto_point_bytes),
      OSSL_PARAM_construct_end()};
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
  if (context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
    key = NULL;
  EVP_PKEY_CTX_free(context);
  ERR_clear_error();
  return key;
}

// ECDH: the secret that both sides come to, 32 bytes.
static inline int crypto_p256_agree(crypto_key *own, crypto_key *other, unsigned char *secret) {
  size_t length = crypto_scalar_bytes;
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(own, NULL);
  int done = context != NULL && EVP_PKEY_derive_init(context) == 1 && EVP_PKEY_derive_set_peer(context, other) == 1 &&
      EVP_PKEY_derive(context, secret, &length) == 1 && length == crypto_scalar_bytes;
  EVP_PKEY_CTX_free(context);
  ERR_clear_error();
  return done;
}

// ECDSA with SHA-256 (ES256): r and s, 32 bytes each.
static inline int crypto_p256_sign(crypto_key *key, const unsigned char *data, size_t bytes, unsigned char *signature) {
  unsigned char der[80];
  size_t length = sizeof der;
  const unsigned char *at = der;
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int done = context != NULL && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
      EVP_DigestSign(context, der, &length, data, bytes) == 1;
  ECDSA_SIG *pair = done ? d2i_ECDSA_SIG(NULL, &at, (long)length) : NULL;
  done = pair != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, crypto_scalar_bytes) == crypto_scalar_bytes &&
      BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + crypto_scalar_bytes, crypto_scalar_bytes) == crypto_scalar_bytes;
  ECDSA_SIG_free(pair);
  EVP_MD_CTX_free(context);
  ERR_clear_error();
  return done;
}

// AES-128-GCM: writes as many bytes as the text has, and the tag of 16 behind them.
static inline int crypto_aes128_gcm(
    const unsigned char *key, const unsigned char *nonce, const unsigned char *text, int bytes, unsigned char *sealed) {
  int written = 0, rest = 0;
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  int done = context != NULL && EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, nonce) == 1 &&
      EVP_EncryptUpdate(context, sealed, &written, text, bytes) == 1 && written == bytes &&
      EVP_EncryptFinal_ex(context, sealed + written, &rest) == 1 && rest == 0 &&
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, crypto_tag_bytes, sealed + written) == 1;
  EVP_CIPHER_CTX_free(context);
  ERR_clear_error();
  return done;
}
