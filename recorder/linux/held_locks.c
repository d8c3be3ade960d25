#include "linux/held_locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linux/pid_namespace.h"

#define MOST_LOCKS  4096
#define MOST_MAJOR  0xfffu /* include/linux/kdev_t.h */
#define MOST_MINOR  0xfffffu
#define MINOR_BITS  20
#define TO_ITS_END  "EOF"
#define WAITER_MARK "->"
#define NO_FILE     "<none>:0"

/* To add a kind of lock: a row. */
static const struct {
    const char *name;
    enum argus_file_lock_kind kind;
} kinds[] = {
    {"FLOCK", ARGUS_FILE_LOCK_FLOCK},
    {"POSIX", ARGUS_FILE_LOCK_PROCESS},
    {"OFDLCK", ARGUS_FILE_LOCK_OPEN},
    {"LEASE", ARGUS_FILE_LOCK_LEASE},
};

/* 0: another kind. */
static uint32_t kind_of(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    }
    return 0;
}

/* Parses an end of the range, in decimal; false: not a number. */
static bool parse_offset(const char *text, uint64_t *ret)
{
    char *end;
    *ret = strcmp(text, TO_ITS_END) == 0 ? UINT64_MAX : strtoull(text, &end, 10);
    return *ret == UINT64_MAX || (end != text && *end == '\0');
}

/* Skips the number of the line, and the mark of a waiting lock (which is indented). */
static const char *skip_number(const char *line, bool *ret_waits)
{
    const char *at = strchr(line, ':');
    if (!at)
        return NULL;
    at += 1 + strspn(at + 1, " ");
    *ret_waits = strncmp(at, WAITER_MARK, strlen(WAITER_MARK)) == 0;
    return *ret_waits ? at + strlen(WAITER_MARK) : at;
}

/* Parses "08:01:5678", or what a waiter for a lease has instead, for it has no file yet. */
static bool parse_file(const char *text, bool may_lack, uint64_t *ret_inode, uint32_t *ret_device)
{
    uint32_t major, minor;
    *ret_inode = *ret_device = 0;
    if (strcmp(text, NO_FILE) == 0)
        return may_lack;
    if (sscanf(text, "%" SCNx32 ":%" SCNx32 ":%" SCNu64, &major, &minor, ret_inode) != 3 ||
        major > MOST_MAJOR || minor > MOST_MINOR)
        return false;
    *ret_device = major << MINOR_BITS | minor;
    return true;
}

/* A lease keeps everybody out of what it is for. Its line has the kind that it is to become. */
static bool parse_access(const char *text, bool is_lease, bool *ret_exclusive)
{
    *ret_exclusive = is_lease || strcmp(text, "WRITE") == 0;
    return *ret_exclusive || strcmp(text, "READ") == 0;
}

bool held_locks_parse(const char *line, struct argus_record *ret)
{
    char name[8], access[8], file[40], first[24], last[24];
    long long pid;
    uint32_t device;
    bool waits = false, exclusive;
    *ret = (struct argus_record){.debugid = ARGUS_ID_FILE_LOCK};
    const char *at = skip_number(line, &waits);
    if (!at ||
        sscanf(at, " %7s %*s %7s %lld %39s %23s %23s", name, access, &pid, file, first, last) != 6)
        return false;
    uint32_t kind = kind_of(name);
    bool is_lease = kind == ARGUS_FILE_LOCK_LEASE;
    if (!kind || !parse_access(access, is_lease, &exclusive) ||
        !parse_file(file, is_lease && waits, &ret->arg[0], &device) ||
        !parse_offset(first, &ret->arg[2]) || !parse_offset(last, &ret->arg[3]))
        return false;
    ret->tid = pid > 0 && pid <= INT32_MAX ? (uint64_t)pid : 0;
    ret->arg[1] =
        ARGUS_FILE_LOCK(device, waits ? ARGUS_FILE_LOCK_WAITS : ARGUS_FILE_LOCK_GOT, kind,
                        ARGUS_FILE_LOCK_HELD | (exclusive ? ARGUS_FILE_LOCK_EXCLUSIVE : 0));
    return true;
}

/* The line of one that waits for a lease does not name the file; that of the lease, before it,
 * does. */
static void complete_waiter(struct argus_record *record, struct argus_record *holder)
{
    if (ARGUS_FILE_LOCK_WHAT(record->arg[1]) == ARGUS_FILE_LOCK_GOT)
        *holder = *record;
    if (record->arg[0] ||
        ARGUS_FILE_LOCK_KIND(holder->arg[1]) != ARGUS_FILE_LOCK_KIND(record->arg[1]))
        return;
    record->arg[0] = holder->arg[0];
    record->arg[1] |= ARGUS_FILE_LOCK_DEVICE(holder->arg[1]);
}

bool held_locks_read(uint64_t time_ns, record_list *ret)
{
    FILE *file = fopen("/proc/locks", "re");
    if (!file)
        return true; /* a kernel without file locks */
    bool good = true;
    char *line = NULL;
    size_t room = 0;
    struct argus_record holder = {0};
    uint64_t own = (uint64_t)getpid();
    for (size_t i = 0; good && i < MOST_LOCKS && getline(&line, &room, file) > 0; i++) {
        struct argus_record record;
        if (!held_locks_parse(line, &record)) {
            holder.arg[1] = 0; /* what follows may wait for this one, and not for the last lease */
            continue;
        }
        complete_waiter(&record, &holder);
        if (record.tid == own || !record.arg[0])
            continue;
        record.timestamp = time_ns;
        if (!pid_namespace_fits_proc()) /* /proc has process IDs of another namespace */
            record.tid = 0;
        good = vec_push(ret, record);
    }
    free(line);
    fclose(file);
    return good;
}
