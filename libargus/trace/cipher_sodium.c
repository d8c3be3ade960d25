#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/random.h>

#include "trace/cipher.h"

static_assert(CIPHER_NONCE_BYTES == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "nonce");
static_assert(CIPHER_TAG_BYTES == crypto_aead_xchacha20poly1305_ietf_ABYTES, "tag");
static_assert(ARGUS_SNAPSHOT_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key");

/* sodium_init() chooses the fastest code for this processor; without it the slow one is used. It
 * may be called by several threads, and again. */
static bool is_ready(void)
{
    return sodium_init() >= 0;
}

static bool fill_randomly(void *to, size_t bytes)
{
    ssize_t got;
    do
        got = getrandom(to, bytes, 0);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)bytes; /* up to 256 bytes come at once */
}

bool argus_snapshot_key_is_built(void)
{
    return true;
}

struct argus_error *argus_snapshot_key_make(struct argus_snapshot_key *ret)
{
    return fill_randomly(ret->bytes, sizeof(ret->bytes))
               ? NULL
               : argus_error_os(errno, "cannot make a key for copied stacks");
}

bool cipher_nonces_init(struct cipher_nonces *ret)
{
    *ret = (struct cipher_nonces){0};
    return is_ready() && fill_randomly(ret->bytes, sizeof(ret->bytes));
}

bool cipher_key_id(const struct argus_snapshot_key *key, uint8_t ret[ARGUS_SNAPSHOT_KEY_ID_BYTES])
{
    return is_ready() && crypto_generichash(ret, ARGUS_SNAPSHOT_KEY_ID_BYTES, key->bytes,
                                            sizeof(key->bytes), NULL, 0) == 0;
}

bool cipher_encrypt(const struct argus_snapshot_key *key, struct cipher_nonces *nonces,
                    struct cipher_head *head, uint8_t *data, size_t length)
{
    uint64_t number = nonces->count++;
    memcpy(head->nonce, nonces->bytes, sizeof(head->nonce));
    memcpy(head->nonce + sizeof(head->nonce) - sizeof(number), &number, sizeof(number));
    return cipher_key_id(key, head->key_id) &&
           crypto_aead_xchacha20poly1305_ietf_encrypt(data, NULL, data, length, (void *)head,
                                                      sizeof(*head), NULL, head->nonce,
                                                      key->bytes) == 0;
}

bool cipher_decrypt(const struct argus_snapshot_key *key, const struct cipher_head *head,
                    uint8_t *data, size_t length)
{
    return is_ready() && crypto_aead_xchacha20poly1305_ietf_decrypt(
                             data, NULL, NULL, data, length + CIPHER_TAG_BYTES, (const void *)head,
                             sizeof(*head), head->nonce, key->bytes) == 0;
}

void cipher_wipe(void *memory, size_t bytes)
{
    sodium_memzero(memory, bytes);
}
