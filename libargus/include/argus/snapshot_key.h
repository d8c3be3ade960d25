/* The key by which the copied stacks of one trace file are encrypted (argus-trace(5), ENCRYPTED
 * STACK SNAPSHOTS).
 *
 * Copied stacks are memory of the recorded programs. If the recorder is killed, they stay in the
 * file. So the front end makes a key for each file and hands it to the recorder, and the file never
 * has the key. That the file's owner can read it nevertheless, as long as the machine runs, the key
 * is kept in the key ring that the kernel has for this user (keyrings(7)), for some days at most.
 *
 * Builds for macOS have no cipher: their recorder copies no stacks.
 */
#ifndef ARGUS_SNAPSHOT_KEY_H
#define ARGUS_SNAPSHOT_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ARGUS_SNAPSHOT_KEY_BYTES    32
#define ARGUS_SNAPSHOT_KEY_ID_BYTES 16
#define ARGUS_SNAPSHOT_KEY_DAYS     7 /* for which it is kept */

struct argus_snapshot_key {
    uint8_t bytes[ARGUS_SNAPSHOT_KEY_BYTES]; /* all 0: no key */
};

static inline bool argus_snapshot_key_is_set(const struct argus_snapshot_key *key)
{
    uint8_t any = 0;
    for (int i = 0; i < ARGUS_SNAPSHOT_KEY_BYTES; i++)
        any |= key->bytes[i];
    return any != 0;
}

/* Whether this build can encrypt. */
bool argus_snapshot_key_is_built(void);
/* A new one from the kernel's random numbers; no key where the build cannot encrypt. */
struct argus_error *argus_snapshot_key_make(struct argus_snapshot_key *ret);

/* Puts the key into the key ring of the user whose file it is: under sudo that is the user who
 * called it. False: the kernel refuses (containers, a full quota), so whoever needs the key must
 * have it from elsewhere. */
bool argus_snapshot_key_keep(const struct argus_snapshot_key *key);
/* Removes it from there, if it is there. */
void argus_snapshot_key_forget(const struct argus_snapshot_key *key);
/* The key with this ID, from the key ring of the same user. False: it is not there. */
bool argus_snapshot_key_find(const uint8_t id[ARGUS_SNAPSHOT_KEY_ID_BYTES],
                             struct argus_snapshot_key *ret);

#ifdef __cplusplus
}
#endif
#endif
