/* Builds without a cipher: no trace of theirs has copied stacks, and those of other machines have
 * their keys there. */
#include <string.h>

#include "trace/cipher.h"

bool argus_snapshot_key_is_built(void)
{
    return false;
}

struct argus_error *argus_snapshot_key_make(struct argus_snapshot_key *ret)
{
    memset(ret, 0, sizeof(*ret));
    return NULL;
}

bool argus_snapshot_key_keep(const struct argus_snapshot_key *key)
{
    (void)key;
    return false;
}

void argus_snapshot_key_forget(const struct argus_snapshot_key *key)
{
    (void)key;
}

bool argus_snapshot_key_find(const uint8_t id[ARGUS_SNAPSHOT_KEY_ID_BYTES],
                             struct argus_snapshot_key *ret)
{
    (void)id, (void)ret;
    return false;
}

bool cipher_nonces_init(struct cipher_nonces *ret)
{
    (void)ret;
    return false;
}

bool cipher_key_id(const struct argus_snapshot_key *key, uint8_t ret[ARGUS_SNAPSHOT_KEY_ID_BYTES])
{
    (void)key, (void)ret;
    return false;
}

bool cipher_encrypt(const struct argus_snapshot_key *key, struct cipher_nonces *nonces,
                    struct cipher_head *head, uint8_t *data, size_t length)
{
    (void)key, (void)nonces, (void)head, (void)data, (void)length;
    return false;
}

bool cipher_decrypt(const struct argus_snapshot_key *key, const struct cipher_head *head,
                    uint8_t *data, size_t length)
{
    (void)key, (void)head, (void)data, (void)length;
    return false;
}

void cipher_wipe(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
}
