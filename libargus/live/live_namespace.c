/* Thread IDs inside a PID namespace (of a container, or a sandbox): a process sees its own ones,
 * and writes them into its locks, but /proc shows those of the namespace in which it was mounted.
 * `NSpid:` in the status of a thread lists both, the innermost last (proc(5)). */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/live_data.h"

enum { STATUS_BYTES = 4096 };

/* The thread's ID in its own namespace, and how many namespaces it is in. False: it has ended, or
 * the kernel does not tell. `name` is below /proc/PID/. */
static bool read_own_id(uint32_t pid, const char *name, uint32_t *ret, size_t *ret_depth)
{
    char text[STATUS_BYTES], *end;
    *ret_depth = 0;
    if (live_read(pid, name, text, sizeof(text)) <= 0)
        return false;
    char *at = strstr(text, "\nNSpid:");
    if (!at)
        return false;
    at += strlen("\nNSpid:");
    at[strcspn(at, "\n")] = '\0';
    for (unsigned long number; number = strtoul(at, &end, 10), end != at; at = end) {
        *ret = (uint32_t)number;
        ++*ret_depth;
    }
    return *ret_depth > 0;
}

static enum live_presence search(uint32_t pid, uint32_t own_id, uint32_t *ret_tid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    DIR *folder = opendir(path);
    enum live_presence presence = folder ? LIVE_ABSENT : LIVE_NOT_KNOWN;
    struct dirent *entry;
    while (folder && presence != LIVE_PRESENT && (entry = readdir(folder))) {
        uint32_t found;
        size_t depth;
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "task/%.16s/status", entry->d_name);
        if (!read_own_id(pid, path, &found, &depth)) {
            presence = LIVE_NOT_KNOWN;
        } else if (found == own_id) {
            *ret_tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
            presence = LIVE_PRESENT;
        }
    }
    if (folder)
        closedir(folder);
    return presence;
}

bool live_has_own_ids(uint32_t pid)
{
    uint32_t own;
    size_t depth;
    return read_own_id(pid, "status", &own, &depth) && depth > 1;
}

uint32_t live_own_id(uint32_t pid, uint32_t tid)
{
    char name[48];
    uint32_t own;
    size_t depth;
    snprintf(name, sizeof(name), "task/%u/status", tid);
    return read_own_id(pid, name, &own, &depth) ? own : tid;
}

bool live_has_same_paths(uint32_t pid, uint32_t other)
{
    char path[48], root[8], space[48], other_space[48];
    snprintf(path, sizeof(path), "/proc/%u/root", pid);
    if (!live_link(path, root, sizeof(root)) || strcmp(root, "/") != 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
    if (!live_link(path, space, sizeof(space)))
        return false;
    snprintf(path, sizeof(path), "/proc/%u/ns/mnt", other);
    return live_link(path, other_space, sizeof(other_space)) && strcmp(space, other_space) == 0;
}

enum live_presence live_find_own_id(uint32_t pid, uint32_t own_id, uint32_t *ret_tid)
{
    char name[48], text[STATUS_BYTES];
    if (live_has_own_ids(pid))
        return search(pid, own_id, ret_tid);
    *ret_tid = own_id;
    snprintf(name, sizeof(name), "task/%u/stat", own_id);
    if (live_read(pid, name, text, sizeof(text)) > 0)
        return LIVE_PRESENT;
    return live_read(pid, "stat", text, sizeof(text)) > 0 ? LIVE_ABSENT : LIVE_NOT_KNOWN;
}

uint32_t live_thread_of_own_id(struct argus_live *live, uint32_t process, uint32_t own_id)
{
    uint32_t tid;
    if (!own_id ||
        live_find_own_id(live->processes.data[process].pid, own_id, &tid) != LIVE_PRESENT)
        return ARGUS_LIVE_NONE;
    return live_thread_in(live, process, tid);
}
