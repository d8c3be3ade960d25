/* A call of a name without an owner waits in the daemon, which starts a process for the name and
 * delivers the call when that process has taken it. The daemon does not say which process that is.
 * dbus-daemon starts a copy of itself ("babysitter"), whose child executes the program; so the
 * process is a child of such a copy and, unlike all services before it, owns no name.
 *
 * Where systemd starts services for the daemon, the process is systemd's child, and not found. */
#include "live/live_activation.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_PARENTS = 32 };

static bool has_same_program(uint32_t pid, uint32_t other)
{
    char path[48], other_path[48];
    struct stat of, of_other;
    snprintf(path, sizeof(path), "/proc/%u/exe", pid);
    snprintf(other_path, sizeof(other_path), "/proc/%u/exe", other);
    return stat(path, &of) == 0 && stat(other_path, &of_other) == 0 &&
           of.st_ino == of_other.st_ino && of.st_dev == of_other.st_dev;
}

static uint32_t parent_of(struct argus_live *live, uint32_t pid)
{
    uint32_t index = idmap_get(&live->by_pid, pid);
    return index == IDMAP_NONE ? 0 : live_parent_of(live, index);
}

static bool is_started_by(struct argus_live *live, uint32_t pid, uint32_t daemon)
{
    uint32_t parent = parent_of(live, pid);
    if (!parent || has_same_program(pid, daemon))
        return false;
    return parent == daemon ||
           (parent_of(live, parent) == daemon && has_same_program(parent, daemon));
}

static bool is_or_descends_from(struct argus_live *live, uint32_t pid, uint32_t ancestor)
{
    for (int i = 0; pid && i < MOST_PARENTS; i++) {
        if (pid == ancestor)
            return true;
        pid = parent_of(live, pid);
    }
    return false;
}

/* Names that begin with ':' are those of connections, which every client has. */
static bool has_name(struct argus_live *live, uint32_t pid, const live_bus_names *names)
{
    for (size_t i = 0; i < names->length; i++)
        if (names->data[i].name[0] != ':' && names->data[i].pid &&
            is_or_descends_from(live, names->data[i].pid, pid))
            return true;
    return false;
}

void live_add_activated(struct argus_live *live, uint32_t daemon, const live_bus_names *names,
                        struct live_candidates *ret)
{
    for (uint32_t i = 0; i < live->processes.length; i++) {
        uint32_t pid = live->processes.data[i].pid;
        if (is_started_by(live, pid, live->processes.data[daemon].pid) &&
            !has_name(live, pid, names) && live_load(live, i))
            live_candidate(ret, i, ARGUS_LIVE_NONE);
    }
}
