/* A line is "START SIZE name", with hexadecimal numbers. Any user can write a file with that name
 * into /tmp, so it is used only if it is a regular file, not a link, and belongs to the process's
 * user. The memory of discarded code is reused, and lines have no time: the last line for an
 * address counts.
 */
#include "event/names/jit_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "event/names/made_names.h"

enum { LINE_BYTES = 4096 };

/* --- reading --- */

static struct argus_error *name_range(uint64_t start, uint64_t bytes, const char *text,
                                      struct argus_name_entry *names, size_t count,
                                      struct strtab *texts)
{
    struct argus_name_entry read;
    struct made_range range = made_names_within(names, count, start, bytes);
    if (range.first == range.end)
        return NULL;
    struct argus_error *error = made_name_read(text, texts, &read);
    for (size_t i = range.first; !error && i < range.end; i++)
        made_name_put(&read, start, &names[i]);
    return error;
}

static struct argus_error *take_line(char *line, struct argus_name_entry *names, size_t count,
                                     struct strtab *texts)
{
    char *end;
    line[strcspn(line, "\r\n")] = '\0';
    errno = 0;
    uint64_t start = strtoull(line, &end, 16);
    if (errno || end == line || *end != ' ')
        return NULL;
    char *second = end;
    uint64_t bytes = strtoull(second, &end, 16);
    if (errno || end == second || *end != ' ' || !end[1])
        return NULL;
    return name_range(start, bytes, end + 1, names, count, texts);
}

static void skip_line(FILE *map)
{
    int c;
    do
        c = getc(map);
    while (c != EOF && c != '\n');
}

struct argus_error *jit_map_read(FILE *map, struct argus_name_entry *names, size_t count,
                                 struct strtab *texts)
{
    char line[LINE_BYTES];
    uint64_t taken = 0;
    struct argus_error *error = NULL;
    while (!error && taken < JIT_MAP_MOST_BYTES && fgets(line, sizeof(line), map)) {
        size_t length = strlen(line);
        taken += length + 1;
        if (length && line[length - 1] != '\n')
            skip_line(map); /* longer than any name: its beginning suffices */
        error = take_line(line, names, count, texts);
    }
    return error;
}

/* --- finding --- */

/* The process's IDs in its own namespaces. */
struct identity {
    uint64_t inner_pid;
    uid_t uid;
    bool lives;
};

static struct identity identify(uint64_t pid)
{
    struct identity identity = {.inner_pid = pid, .uid = geteuid()};
    char path[64], line[512];
    snprintf(path, sizeof(path), "/proc/%" PRIu64 "/status", pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof(line), status)) {
        unsigned uid;
        const char *last = strrchr(line, '\t');
        if (sscanf(line, "Uid: %*u %u", &uid) == 1) {
            identity.uid = uid;
            identity.lives = true;
        } else if (strncmp(line, "NSpid:", 6) == 0 && last) {
            identity.inner_pid = strtoull(last, NULL, 10);
        }
    }
    if (status)
        fclose(status);
    return identity;
}

static FILE *open_own(const char *path, uid_t uid, uint64_t since_s)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == uid &&
                (uint64_t)status.st_mtime >= since_s;
    FILE *file = good ? fdopen(fd, "r") : NULL;
    if (!file)
        close(fd);
    return file;
}

FILE *jit_map_open(uint64_t pid, uint64_t since_s)
{
    char path[128];
    struct identity identity = identify(pid);
    FILE *map = NULL;
    if (identity.lives) {
        snprintf(path, sizeof(path), "/proc/%" PRIu64 "/root/tmp/perf-%" PRIu64 ".map", pid,
                 identity.inner_pid);
        map = open_own(path, identity.uid, since_s);
    }
    if (map)
        return map;
    snprintf(path, sizeof(path), "/tmp/perf-%" PRIu64 ".map", pid);
    return open_own(path, identity.uid, since_s);
}
