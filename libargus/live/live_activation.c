/* A call of a name without an owner waits in the daemon, which starts a process for the name, and
 * delivers the call when that process has taken the name. The daemon does not say which process that is.
 * dbus-daemon starts a copy of itself ("babysitter"), whose child executes the program; so the
 * process is a child of such a copy and, unlike all services before it, owns no name.
 *
 * Where systemd starts services for the daemon, the process is systemd's child, and not found. */
#include "live/live_activation.h"

static uint32_t parent_of(struct argus_live *live, uint32_t process)
{
    return idmap_get(&live->by_pid, live_parent_of(live, process));
}

static bool is_started_by(struct argus_live *live, uint32_t process, uint32_t daemon)
{
    uint32_t parent = parent_of(live, process);
    if (parent == IDMAP_NONE)
        return false;
    bool is_child = parent == daemon || (parent_of(live, parent) == daemon &&
                                         live_has_same_program(live, parent, daemon));
    return is_child && !live_has_same_program(live, process, daemon);
}

/* Names that begin with ':' are those of connections, which every client has. */
static bool has_name(struct argus_live *live, uint32_t process, const live_bus_names *names)
{
    for (size_t i = 0; i < names->length; i++) {
        if (names->data[i].name[0] == ':' || !names->data[i].pid)
            continue;
        uint32_t owner = idmap_get(&live->by_pid, names->data[i].pid);
        if (owner == process || (owner != IDMAP_NONE && live_descends_from(live, owner, process)))
            return true;
    }
    return false;
}

void live_add_activated(struct argus_live *live, uint32_t daemon, const live_bus_names *names,
                        struct live_candidates *ret)
{
    for (uint32_t i = 0; i < live->processes.length; i++)
        if (is_started_by(live, i, daemon) && !has_name(live, i, names) && live_load(live, i))
            live_candidate(ret, i, ARGUS_LIVE_NONE);
}
