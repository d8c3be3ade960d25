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

/* To add a kind of lock: a row. */
static const struct {
    const char *name;
    enum argus_file_lock_kind kind;
} kinds[] = {
    {"FLOCK", ARGUS_FILE_LOCK_FLOCK},
    {"POSIX", ARGUS_FILE_LOCK_PROCESS},
    {"OFDLCK", ARGUS_FILE_LOCK_OPEN},
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

bool held_locks_parse(const char *line, struct argus_record *ret)
{
    char kind[8], access[8], first[24], last[24];
    long long pid;
    uint32_t major, minor;
    bool waits = false;
    *ret = (struct argus_record){.debugid = ARGUS_ID_FILE_LOCK};
    const char *at = skip_number(line, &waits);
    if (!at || sscanf(at, " %7s %*s %7s %lld %" SCNx32 ":%" SCNx32 ":%" SCNu64 " %23s %23s", kind,
                      access, &pid, &major, &minor, &ret->arg[0], first, last) != 8)
        return false;
    bool exclusive = strcmp(access, "WRITE") == 0;
    if (!kind_of(kind) || (!exclusive && strcmp(access, "READ") != 0) || major > MOST_MAJOR ||
        minor > MOST_MINOR || !parse_offset(first, &ret->arg[2]) ||
        !parse_offset(last, &ret->arg[3]))
        return false;
    ret->tid = pid > 0 && pid <= INT32_MAX ? (uint64_t)pid : 0;
    ret->arg[1] = ARGUS_FILE_LOCK(
        major << MINOR_BITS | minor, waits ? ARGUS_FILE_LOCK_WAITS : ARGUS_FILE_LOCK_GOT,
        kind_of(kind), ARGUS_FILE_LOCK_HELD | (exclusive ? ARGUS_FILE_LOCK_EXCLUSIVE : 0));
    return true;
}

bool held_locks_read(uint64_t time_ns, record_list *ret)
{
    FILE *file = fopen("/proc/locks", "re");
    if (!file)
        return true; /* a kernel without file locks */
    bool good = true;
    char *line = NULL;
    size_t room = 0;
    uint64_t own = (uint64_t)getpid();
    for (size_t i = 0; good && i < MOST_LOCKS && getline(&line, &room, file) > 0; i++) {
        struct argus_record record;
        if (!held_locks_parse(line, &record) || record.tid == own)
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
