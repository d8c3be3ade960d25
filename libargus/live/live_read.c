#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "live/live_data.h"

ssize_t live_read(uint32_t pid, const char *name, char *buffer, size_t bytes)
{
    char path[96];
    snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    buffer[0] = '\0';
    if (fd < 0)
        return -1;
    size_t length = 0;
    ssize_t got;
    while (length + 1 < bytes && (got = read(fd, buffer + length, bytes - 1 - length)) != 0) {
        if (got < 0) {
            int saved = errno;
            buffer[0] = '\0';
            close(fd);
            errno = saved;
            return -1;
        }
        length += (size_t)got;
    }
    buffer[length] = '\0';
    close(fd);
    return (ssize_t)length;
}

/* The name, which is field 2, is in parentheses and may contain any character. */
const char *live_stat_field(uint32_t pid, uint32_t tid, unsigned number, char *buffer, size_t bytes)
{
    enum { NAME = 2 };
    char name[48] = "stat";
    if (tid)
        snprintf(name, sizeof(name), "task/%u/stat", tid);
    const char *at = live_read(pid, name, buffer, bytes) > 0 ? strrchr(buffer, ')') : NULL;
    for (unsigned i = NAME; at && i < number; i++)
        at = strchr(at + 1, ' ');
    return at ? at + 1 : NULL;
}

bool live_link(const char *path, char *ret, size_t bytes)
{
    ssize_t length = readlink(path, ret, bytes - 1);
    ret[length > 0 ? length : 0] = '\0';
    return length > 0;
}

bool live_field(const char *text, const char *field, int base, uint64_t *ret)
{
    size_t length = strlen(field);
    for (const char *line = text; line && *line;) {
        if (strncmp(line, field, length) == 0) {
            *ret = strtoull(line + length, NULL, base);
            return true;
        }
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return false;
}

bool live_memory(uint32_t pid, uint64_t address, void *ret, size_t bytes)
{
    struct iovec here = {ret, bytes}, there = {(void *)(uintptr_t)address, bytes};
    return process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

size_t live_words(uint32_t pid, uint64_t address, uint64_t *ret, size_t count)
{
    size_t bytes = count * sizeof(*ret);
    struct iovec here = {ret, bytes}, there = {(void *)(uintptr_t)address, bytes};
    ssize_t got = process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);
    return got > 0 ? (size_t)got / sizeof(*ret) : 0;
}

/* A string may end just before memory that is not readable. */
bool live_memory_text(uint32_t pid, uint64_t address, char *ret, size_t bytes)
{
    enum { STEP = 64 };
    for (size_t at = 0; at + STEP < bytes; at += STEP) {
        struct iovec here = {ret + at, STEP}, there = {(void *)(uintptr_t)(address + at), STEP};
        ssize_t got = process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0);
        if (got <= 0)
            break;
        if (memchr(ret + at, '\0', (size_t)got))
            return true;
        if (got < STEP)
            break;
    }
    ret[0] = '\0';
    return false;
}

struct mapping {
    uint64_t start, end;
    bool is_shared, is_writable;
    struct live_memory_id id;
};

/* Calls `fits` for each mapping until it returns true, which is returned. */
static bool search_mappings(uint32_t pid,
                            bool (*fits)(const struct mapping *mapping, const void *wanted),
                            const void *wanted, struct mapping *ret)
{
    char path[48], *line = NULL, permissions[5];
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%u/maps", pid);
    FILE *file = fopen(path, "re");
    while (file && !found && getline(&line, &room, file) > 0) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %15s %" SCNu64, &ret->start, &ret->end,
                   permissions, ret->id.device, &ret->id.inode) != 5)
            continue;
        ret->is_shared = permissions[3] == 's';
        ret->is_writable = permissions[1] == 'w';
        found = fits(ret, wanted);
    }
    if (file)
        fclose(file);
    free(line);
    return found;
}

static bool has_address(const struct mapping *mapping, const void *wanted)
{
    const uint64_t *address = wanted;
    return mapping->is_shared && *address >= mapping->start && *address < mapping->end;
}

static bool has_id(const struct mapping *mapping, const void *wanted)
{
    const struct live_memory_id *id = wanted;
    return mapping->is_shared && mapping->id.inode == id->inode &&
           strcmp(mapping->id.device, id->device) == 0;
}

bool live_shared_memory(uint32_t pid, uint64_t address, struct live_memory_id *ret)
{
    struct mapping mapping;
    bool found = search_mappings(pid, has_address, &address, &mapping);
    if (found)
        *ret = mapping.id;
    return found;
}

static bool is_written(const struct mapping *mapping, const void *wanted)
{
    (void)wanted;
    return mapping->is_shared && mapping->is_writable && mapping->id.inode;
}

bool live_written_memory(uint32_t pid, struct live_memory_id *ret)
{
    struct mapping mapping;
    bool found = search_mappings(pid, is_written, NULL, &mapping);
    if (found)
        *ret = mapping.id;
    return found;
}

bool live_maps(uint32_t pid, const struct live_memory_id *id)
{
    struct mapping mapping;
    return search_mappings(pid, has_id, id, &mapping);
}
