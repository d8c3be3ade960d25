/* Keys in the kernel's key ring of a user (keyrings(7), user-keyring(7)), by system calls: the C
 * library has no functions for them, and libkeyutils would be one more dependency.
 *
 * The file of `sudo argus` belongs to the user who called sudo (base/invoker.h), and so must its
 * key. It is put there by a child with the rights of that user, since a key ring belongs to the
 * real user ID of the caller.
 *
 * A key is made in the key ring of the thread and linked into that of the user: the creator may set
 * the permissions of a key only while it possesses it, and a process whose session has no link to
 * the user's key ring (a service, `su`) does not possess what is only there.
 */
#include "argus/snapshot_key.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/invoker.h"
#include "trace/cipher.h"

#define KEY_TYPE  "user"
#define NAME_ROOM (sizeof("argus:") + 2 * ARGUS_SNAPSHOT_KEY_ID_BYTES)
#define LIFE_S    (ARGUS_SNAPSHOT_KEY_DAYS * 24u * 3600u)

/* All for the possessor; for other processes of the user: to see, to find, to read. */
#define PERMISSIONS 0x3f0b0000u

struct place {
    char name[NAME_ROOM];
    struct argus_snapshot_key key;
};

static void place_of(const uint8_t id[ARGUS_SNAPSHOT_KEY_ID_BYTES], struct place *ret)
{
    int at = snprintf(ret->name, sizeof(ret->name), "argus:");
    for (size_t i = 0; i < ARGUS_SNAPSHOT_KEY_ID_BYTES; i++)
        at += snprintf(ret->name + at, sizeof(ret->name) - (size_t)at, "%02x", id[i]);
}

static long find(const struct place *place)
{
    return syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, KEY_TYPE, place->name, 0);
}

/* The operations; they run with the rights of the user, maybe in a child of a process with several
 * threads, so they only make system calls. */

static bool keep(struct place *place)
{
    long key = syscall(SYS_add_key, KEY_TYPE, place->name, place->key.bytes,
                       sizeof(place->key.bytes), KEY_SPEC_THREAD_KEYRING);
    if (key < 0)
        return false;
    bool done = syscall(SYS_keyctl, KEYCTL_SETPERM, key, PERMISSIONS) == 0 &&
                syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, LIFE_S) == 0 &&
                syscall(SYS_keyctl, KEYCTL_LINK, key, KEY_SPEC_USER_KEYRING) == 0;
    syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_THREAD_KEYRING);
    return done;
}

static bool forget(struct place *place)
{
    long key = find(place);
    return key >= 0 && syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_USER_KEYRING) == 0;
}

static bool read_key(struct place *place)
{
    long key = find(place);
    return key >= 0 && syscall(SYS_keyctl, KEYCTL_READ, key, place->key.bytes,
                               sizeof(place->key.bytes)) == (long)sizeof(place->key.bytes);
}

static _Noreturn void run_as(uid_t uid, gid_t gid, bool (*operation)(struct place *),
                             struct place *place, int result)
{
    bool done = syscall(SYS_setgroups, 0, NULL) == 0 &&
                syscall(SYS_setresgid, gid, gid, gid) == 0 &&
                syscall(SYS_setresuid, uid, uid, uid) == 0 && operation(place);
    _exit(done && write(result, &place->key, sizeof(place->key)) == sizeof(place->key) ? 0 : 1);
}

static bool run_in_child(uid_t uid, gid_t gid, bool (*operation)(struct place *),
                         struct place *place)
{
    int result[2];
    ssize_t got;
    if (pipe2(result, O_CLOEXEC) < 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        run_as(uid, gid, operation, place, result[1]);
    close(result[1]);
    do
        got = child > 0 ? read(result[0], &place->key, sizeof(place->key)) : 0;
    while (got < 0 && errno == EINTR);
    close(result[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    return got == (ssize_t)sizeof(place->key);
}

static bool run(bool (*operation)(struct place *), struct place *place)
{
    uid_t uid;
    gid_t gid;
    return invoker_get(&uid, &gid) && uid != 0 ? run_in_child(uid, gid, operation, place)
                                               : operation(place);
}

static bool run_for(bool (*operation)(struct place *), const struct argus_snapshot_key *key)
{
    uint8_t id[ARGUS_SNAPSHOT_KEY_ID_BYTES];
    struct place place = {.key = *key};
    if (!argus_snapshot_key_is_set(key) || !cipher_key_id(key, id))
        return false;
    place_of(id, &place);
    bool done = run(operation, &place);
    cipher_wipe(&place, sizeof(place));
    return done;
}

bool argus_snapshot_key_keep(const struct argus_snapshot_key *key)
{
    return run_for(keep, key);
}

void argus_snapshot_key_forget(const struct argus_snapshot_key *key)
{
    run_for(forget, key);
}

/* Whoever can make keys for this user could store another one under that name. */
static bool has_id(const struct argus_snapshot_key *key,
                   const uint8_t id[ARGUS_SNAPSHOT_KEY_ID_BYTES])
{
    uint8_t real[ARGUS_SNAPSHOT_KEY_ID_BYTES];
    return cipher_key_id(key, real) && memcmp(real, id, sizeof(real)) == 0;
}

bool argus_snapshot_key_find(const uint8_t id[ARGUS_SNAPSHOT_KEY_ID_BYTES],
                             struct argus_snapshot_key *ret)
{
    struct place place = {0};
    place_of(id, &place);
    /* under sudo, the file can also be one of root's own */
    bool found = (run(read_key, &place) || read_key(&place)) && has_id(&place.key, id);
    if (found)
        *ret = place.key;
    cipher_wipe(&place, sizeof(place));
    return found;
}
