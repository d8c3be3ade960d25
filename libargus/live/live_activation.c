/* A call of a name without an owner waits in the daemon, which starts a process for the name, and
 * delivers the call when that process has taken the name. The daemon does not say which process it
 * has started. dbus-daemon starts a copy of itself ("babysitter"), whose child executes the program.
 * So the process is a child of such a copy and, unlike all services before it, owns no name.
 *
 * Where systemd starts services for the daemon, the daemon is such a service itself, and the process
 * is a child of the same systemd, in a control group of its own. /proc does not tell which service
 * systemd has started for the call: those count that began when the call was made, and own no
 * name. */
#include "live/live_activation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FILE_BYTES = 4096,
    NS_OF_S = 1000000000,
    BEFORE_NS = 100000000, /* clocks that tick every 10 ms, and what the caller did meanwhile */
};

/* How long systemd may need to begin a service, also on a busy machine. */
static const uint64_t begin_ns = 5000000000;

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

/* The control group of a service of systemd: the line's end. False: the process is in none. */
static bool read_service(uint32_t pid, char ret[FILE_BYTES])
{
    static const char ending[] = ".service";
    char text[FILE_BYTES];
    if (live_read(pid, "cgroup", text, sizeof(text)) <= 0)
        return false;
    const char *line = strstr(text, ":name=systemd:");
    line = line ? line : strstr(text, "0::");
    size_t length = line ? strcspn(line, "\n") : 0;
    if (length < sizeof(ending) ||
        strncmp(line + length - strlen(ending), ending, strlen(ending)) != 0)
        return false;
    snprintf(ret, FILE_BYTES, "%.*s", (int)length, line);
    return true;
}

/* When the process began, by the monotonic clock; 0: not known. Field 22 of /proc/PID/stat, in
 * ticks since the machine began (proc(5)). */
static uint64_t began_ns(uint32_t pid)
{
    enum { FIELD = 22 };
    char text[FILE_BYTES];
    struct timespec now;
    long ticks = sysconf(_SC_CLK_TCK);
    const char *at = live_stat_field(pid, 0, FIELD, text, sizeof(text));
    if (!at || ticks <= 0 || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return 0;
    uint64_t began = strtoull(at, NULL, 10) * (NS_OF_S / (uint64_t)ticks);
    uint64_t since = (uint64_t)now.tv_sec * NS_OF_S + (uint64_t)now.tv_nsec;
    return began < since && since - began < live_now_ns() ? live_now_ns() - (since - began) : 0;
}

/* Processes that systemd began as services of their own when the caller began to wait. */
static void add_services(struct argus_live *live, uint32_t caller, uint32_t daemon,
                         const live_bus_names *names, struct live_candidates *ret)
{
    char of_daemon[FILE_BYTES], group[FILE_BYTES];
    uint32_t manager = live_parent_of(live, daemon);
    uint64_t asked_ns = live_last_ran_ns(live, caller);
    if (!asked_ns || !manager || !read_service(live->processes.data[daemon].pid, of_daemon))
        return;
    for (uint32_t i = 0; i < live->processes.length; i++) {
        uint32_t pid = live->processes.data[i].pid;
        if (i == daemon || live_parent_of(live, i) != manager || !read_service(pid, group) ||
            strcmp(group, of_daemon) == 0)
            continue;
        uint64_t began = began_ns(pid);
        if (began + BEFORE_NS >= asked_ns && began <= asked_ns + begin_ns &&
            !has_name(live, i, names) && live_load(live, i))
            live_candidate(ret, i, ARGUS_LIVE_NONE);
    }
}

void live_add_activated(struct argus_live *live, uint32_t caller, uint32_t daemon,
                        const live_bus_names *names, struct live_candidates *ret)
{
    for (uint32_t i = 0; i < live->processes.length; i++)
        if (is_started_by(live, i, daemon) && !has_name(live, i, names) && live_load(live, i))
            live_candidate(ret, i, ARGUS_LIVE_NONE);
    if (!ret->count)
        add_services(live, caller, daemon, names, ret);
}
