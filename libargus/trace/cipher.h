/* Encrypts the contents of chunks: XChaCha20-Poly1305 of libsodium. Its nonce is long enough to be
 * chosen at random, so that no two chunks share one even if a client hands out a key twice. */
#ifndef ARGUS_TRACE_CIPHER_H
#define ARGUS_TRACE_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/snapshot_key.h"

#define CIPHER_NONCE_BYTES 24u
#define CIPHER_TAG_BYTES   16u

/* What is before the encrypted bytes of a chunk, and is authenticated with them. */
struct cipher_head {
    uint8_t key_id[ARGUS_SNAPSHOT_KEY_ID_BYTES];
    uint8_t nonce[CIPHER_NONCE_BYTES];
    uint32_t codec;          /* enum argus_codec of the encrypted bytes */
    uint32_t unpacked_bytes; /* of their content */
};

/* The nonces of one file: random bytes, and a counter behind them. */
struct cipher_nonces {
    uint8_t bytes[CIPHER_NONCE_BYTES];
    uint64_t count;
};

/* False: this build has no cipher, or there are no random numbers. */
bool cipher_nonces_init(struct cipher_nonces *ret);

/* A number that names the key and does not tell it. False: this build has no cipher. */
bool cipher_key_id(const struct argus_snapshot_key *key, uint8_t ret[ARGUS_SNAPSHOT_KEY_ID_BYTES]);

/* Fills key_id and nonce of `head`, and replaces the `length` bytes at `data` by as many encrypted
 * ones and a tag of CIPHER_TAG_BYTES behind them. */
bool cipher_encrypt(const struct argus_snapshot_key *key, struct cipher_nonces *nonces,
                    struct cipher_head *head, uint8_t *data, size_t length);
/* The reverse; `length` is that of the plain bytes. False: they, `head` or the key are not those
 * of cipher_encrypt(). */
bool cipher_decrypt(const struct argus_snapshot_key *key, const struct cipher_head *head,
                    uint8_t *data, size_t length);

/* Overwrites memory that is not needed any more; the compiler does not leave it out. */
void cipher_wipe(void *memory, size_t bytes);

#endif
