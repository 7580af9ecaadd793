#pragma once
#include <stddef.h>
#include <stdint.h>

// Makes a certificate on P-256 and its key, as PEM, for tests.
// - names: as "DNS:localhost,IP:127.0.0.1"; NULL: of an authority.
// - issuer, issuer_key: of the authority that signs it, as PEM; NULL: it signs itself.
// - begin, end: in seconds from now.
// Returns 1, or 0 where it does not fit or something is refused.
int make_test_certificate(
    const char *name, const char *names, const char *issuer, const char *issuer_key, long begin, long end,
    char *certificate, char *key, size_t room);

// Does things that no honest client does, over a blocking socket of its own; `outcome` gets the result in
// words.
enum { test_tls_renegotiates, test_tls_updates_keys };

// Shakes hands by TLS 1.2, asks to do so again, and sends the request behind it; or by TLS 1.3, and asks for new keys as
// often as this. Returns how many bytes of an answer came.
int test_tls_attack(int descriptor, int attack, int times, const char *request, char *answer, size_t room);

// One session by TLS 1.2 or 1.3 over a blocking socket, with one request: with the session of an earlier call, or none where
// `session` points to NULL; afterwards it points to the newer one. `protocols`: as ALPN has them on the wire, or NULL.
enum { test_tls_refused, test_tls_full, test_tls_resumed };
int test_tls_session(int descriptor, int is_1_3, const char *protocols, const char *request, void **session);
void test_tls_forget(void *session);
