/* Who has to answer a D-Bus method call. Between caller and service is the daemon, which waits for
 * nobody, so the connection alone leads nowhere.
 *
 * That the thread waits for an answer, its stack tells. To whom it sent the call, the daemon knows,
 * but does not say. So the names of all connections, which the daemon does tell, are searched in
 * the thread's memory: the caller's functions have the destination as an argument, in their frames
 * or in an object to which these point. Of several owners, the one counts whose connection has
 * unread messages, or else the only one that is not idle. A name without an owner leads to the
 * process that the daemon starts for it. What is found this way is likely, not certain. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "live/live_activation.h"
#include "live/live_dbus.h"
#include "live/live_images.h"

enum {
    PATH_BYTES = 4096,
    LOOKED_AT = 64,      /* frames */
    STACK_WORDS = 4096,  /* that are searched */
    OBJECT_WORDS = 24,   /* of an object to which the stack points */
    MOST_OBJECTS = 1024, /* that are looked into */
    MOST_OWNERS = 32,
    LEAST_ADDRESS = 65536,
    ADDRESS_BITS = 48, /* of a program's memory on arm64; x86-64 has 47 */
};

/* Functions that wait for the answer to a call. To add one: a row. */
static const char *const callers[] = {
    "g_dbus_connection_call_sync",
    "g_dbus_connection_call_with_unix_fd_list_sync",
    "g_dbus_connection_send_message_with_reply_sync",
    "g_dbus_proxy_call_sync",
    "g_dbus_proxy_call_with_unix_fd_list_sync",
    "dbus_connection_send_with_reply_and_block",
    "dbus_pending_call_block",
    "sd_bus_call",
    "QDBusConnection::call(",
    "QDBusPendingCall::waitForFinished",
    "QDBusPendingReplyBase::waitForFinished",
    "QDBusPendingCallPrivate::waitForFinished",
    "QDBusAbstractInterface::call",
};

/* The whole name of a C function (its version after '@' left out); of C++ the beginning. */
static bool is_caller(const char *function)
{
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++) {
        size_t length = strlen(callers[i]);
        if (strncmp(function, callers[i], length) == 0 &&
            (strstr(callers[i], "::") || function[length] == '\0' || function[length] == '@'))
            return true;
    }
    return false;
}

static bool is_of_program(struct argus_live *live, uint32_t pid, uint64_t address)
{
    char link[48], program[PATH_BYTES];
    const struct live_mapping *mapping = live_mapping(live, pid, address);
    snprintf(link, sizeof(link), "/proc/%u/exe", pid);
    return mapping && live_link(link, program, sizeof(program)) &&
           strcmp(strtab_get(live->texts, mapping->path), program) == 0;
}

/* Only the libraries' own functions are between such a function and the wait: a call that runs an
 * event loop may have called the program again, which then waits for something else. */
static bool waits_for_answer(struct argus_live *live, uint32_t thread)
{
    uint64_t addresses[LIVE_STACK_FRAMES];
    bool is_cut;
    size_t count = live_stack(live, thread, addresses, &is_cut);
    for (size_t i = 0; i < count && i < LOOKED_AT; i++) {
        struct argus_live_frame frame;
        live_stack_name(live, live_pid_of(live, thread), addresses[i], i > 0, &frame);
        if (is_caller(strtab_get(live->texts, frame.function)))
            return true;
        if (is_of_program(live, live_pid_of(live, thread), addresses[i]))
            return false;
    }
    return false;
}

/* --- names in the thread's memory --- */

struct search {
    struct argus_live *live;
    const live_bus_names *names;
    uint32_t thread, pid;
    uint32_t objects;
    struct {
        uint32_t pid;
        const char *name;
        uint32_t hits;
    } owners[MOST_OWNERS];
    uint32_t count;
    const char *startable; /* a name without an owner, which the daemon can start a process for */
    bool has_startables;   /* several such names */
};

static void add_owner(struct search *search, const struct live_bus_name *name)
{
    uint32_t i = 0;
    while (i < search->count && search->owners[i].pid != name->pid)
        i++;
    if (i == MOST_OWNERS)
        return;
    if (i == search->count) {
        search->owners[i].pid = name->pid;
        search->owners[i].name = name->name;
        search->owners[i].hits = 0;
        search->count++;
    }
    search->owners[i].hits++;
}

static void add_startable(struct search *search, const char *name)
{
    if (search->startable && search->startable != name)
        search->has_startables = true;
    search->startable = name;
}

/* The daemon's own name, and names of the caller itself, tell nothing. */
static void look_for_name(struct search *search, uint64_t address)
{
    char text[BUS_NAME_BYTES];
    if (address < LEAST_ADDRESS || address >> ADDRESS_BITS ||
        !live_memory_text(search->pid, address, text, sizeof(text)))
        return;
    if (!strchr(text, '.') || strcmp(text, "org.freedesktop.DBus") == 0)
        return;
    for (size_t i = 0; i < search->names->length; i++) {
        const struct live_bus_name *name = &search->names->data[i];
        if (strcmp(name->name, text) != 0)
            continue;
        if (name->can_start)
            add_startable(search, name->name);
        else if (name->pid && name->pid != search->pid)
            add_owner(search, name);
    }
}

static void look_into_object(struct search *search, uint64_t address)
{
    uint64_t words[OBJECT_WORDS];
    if (address % sizeof(uint64_t) || address < LEAST_ADDRESS || address >> ADDRESS_BITS ||
        search->objects == MOST_OBJECTS)
        return;
    size_t count = live_words(search->pid, address, words, OBJECT_WORDS);
    search->objects += count > 0;
    for (size_t i = 0; i < count; i++)
        look_for_name(search, words[i]);
}

/* The main thread's stack may end before that: argv is near its end. */
static void search_words(struct search *search, uint64_t sp,
                         void (*look)(struct search *search, uint64_t word))
{
    enum { PIECE = 512 };
    uint64_t words[PIECE];
    size_t count = PIECE;
    for (size_t at = 0; at < STACK_WORDS && count == PIECE; at += PIECE) {
        count = live_words(search->pid, sp + at * sizeof(words[0]), words, PIECE);
        for (size_t i = 0; i < count; i++)
            look(search, words[i]);
    }
}

static void search_stack(struct search *search, uint64_t sp)
{
    search_words(search, sp, look_for_name);
    if (!search->count && !search->startable)
        search_words(search, sp, look_into_object);
}

/* --- connections --- */

/* How the sockets of daemons are called: /run/user/1000/bus, …/at-spi/bus_0, /tmp/dbus-Ds8eCVcdGF,
 * /run/dbus/system_bus_socket. What else has "bus" in its name is no daemon, and gets no question.
 */
static bool is_bus_path(const char *path)
{
    static const char *const beginnings[] = {"bus_", "dbus-", "system_bus_socket",
                                             "session_bus_socket"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return strcmp(name, "bus") == 0;
}

/* Bytes from the daemon that a process has not read. */
static uint64_t unread_of(struct argus_live *live, uint32_t pid, uint32_t daemon)
{
    uint64_t unread = 0;
    uint32_t process = live_process(live, pid);
    live_fds(live);
    for (size_t i = 0; i < live->fds.length; i++) {
        const struct live_fd fd = live->fds.data[i];
        const struct live_socket *own =
            fd.process == process && fd.type == LIVE_FILE_SOCKET ? live_socket(live, fd.key) : NULL;
        const struct live_fd *peers;
        uint64_t bytes = own ? own->unread : 0;
        size_t count = bytes ? live_fds_of(live, LIVE_FILE_SOCKET, own->peer, &peers) : 0;
        for (size_t k = 0; k < count; k++)
            if (peers[k].process == daemon)
                unread += bytes;
    }
    return unread;
}

/* Whether the thread waits for the daemon to send the next message, of any kind. */
static bool awaits_message(struct argus_live *live, uint32_t thread,
                           const struct argus_live_wait *wait, uint32_t daemon)
{
    const struct live_socket *own = wait->kind == ARGUS_LIVE_UNIX_SOCKET && !wait->is_write
                                        ? live_socket(live, wait->object)
                                        : NULL;
    const struct live_fd *peers;
    size_t count = own ? live_fds_of(live, LIVE_FILE_SOCKET, own->peer, &peers) : 0;
    for (size_t i = 0; i < count; i++)
        if (peers[i].process == daemon)
            return !waits_for_answer(live, thread);
    return false;
}

/* Whether some thread of the process waits for another one or is busy. */
static bool is_held_up(struct argus_live *live, uint32_t process, uint32_t daemon)
{
    const struct argus_live_process of = live->processes.data[process];
    for (uint32_t i = of.first_thread; i < of.first_thread + of.thread_count; i++) {
        const struct argus_live_wait wait = live_wait(live, i);
        if (!live_is_idle(wait.kind) && !awaits_message(live, i, &wait, daemon))
            return true;
    }
    return false;
}

/* Processes that the daemon starts now, if the call may be for the name of one. */
static void add_activated(struct search *search, uint32_t daemon, struct argus_live_wait *wait,
                          struct live_candidates *ret)
{
    if (!search->startable)
        return;
    live_add_activated(search->live, search->thread, daemon, search->names, ret);
    if (ret->count && !search->has_startables)
        wait->text = live_text(search->live, search->startable);
}

/* Keeps the likeliest owners: those with unread messages; else those that are held up, and the
 * processes that are still starting; else all. */
static void choose_owners(struct search *search, uint32_t daemon, struct argus_live_wait *wait,
                          struct live_candidates *ret)
{
    for (int rule = 0; rule < 3 && !ret->count; rule++) {
        if (rule == 1)
            add_activated(search, daemon, wait, ret);
        for (uint32_t i = 0; i < search->count; i++) {
            uint32_t process = live_process(search->live, search->owners[i].pid);
            if (process == ARGUS_LIVE_NONE)
                continue;
            uint64_t unread = unread_of(search->live, search->owners[i].pid, daemon);
            if ((rule == 0 && !unread) || (rule == 1 && !is_held_up(search->live, process, daemon)))
                continue;
            live_candidate(ret, process, ARGUS_LIVE_NONE);
            wait->text = live_text(search->live, search->owners[i].name);
            wait->unread_there = unread;
        }
    }
    if (ret->count > 1)
        wait->text = 0, wait->unread_there = 0;
}

/* No name was found: all connections that have unread messages. */
static void add_backlogged(struct search *search, uint32_t daemon)
{
    for (size_t i = 0; i < search->names->length; i++) {
        const struct live_bus_name *name = &search->names->data[i];
        if (name->name[0] == ':' && name->pid && name->pid != search->pid &&
            unread_of(search->live, name->pid, daemon))
            add_owner(search, name);
    }
}

/* Asks one daemon. */
static void ask_bus(struct argus_live *live, uint32_t thread, uint32_t daemon, const char *path,
                    struct argus_live_wait *wait, struct live_candidates *ret)
{
    live_bus_names names = {0};
    struct search search = {
        .live = live, .names = &names, .thread = thread, .pid = live_pid_of(live, thread)};
    ret->link = ARGUS_LIVE_LINK_BUS;
    if (!live_is_halted(live, daemon) &&
        live_bus_ask(path, live->processes.data[daemon].uid, &names)) {
        search_stack(&search, live->threads.data[thread].sp);
        if (!search.count && !search.startable)
            add_backlogged(&search, daemon);
        choose_owners(&search, daemon, wait, ret);
        ret->is_guess = true;
    } else if (is_held_up(live, daemon, daemon)) {
        ret->link = ARGUS_LIVE_LINK_PEER;
        live_candidate(ret, daemon, ARGUS_LIVE_NONE);
    }
    vec_deinit(&names);
}

/* Whether the thread, which waits for no answer, waits for whatever its connection to a daemon
 * brings next, and the daemon is not held up: then the thread probably has nothing to do, and the
 * daemon nothing for it. */
static bool is_idle_at_bus(struct argus_live *live, const struct argus_live_wait *wait)
{
    const struct live_socket *own = wait->kind == ARGUS_LIVE_UNIX_SOCKET && !wait->is_write
                                        ? live_socket(live, wait->object)
                                        : NULL;
    const struct live_socket *peer =
        own && !wait->unread_here ? live_socket(live, own->peer) : NULL;
    const struct live_fd *fds;
    if (!peer || !peer->path || !is_bus_path(strtab_get(live->texts, peer->path)))
        return false;
    size_t count = live_fds_of(live, LIVE_FILE_SOCKET, peer->inode, &fds);
    uint32_t daemon = count ? fds[0].process : ARGUS_LIVE_NONE;
    return daemon != ARGUS_LIVE_NONE && live_load(live, daemon) &&
           !is_held_up(live, daemon, daemon);
}

bool live_dbus_call(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    uint32_t process = live->threads.data[thread].process;
    if (live->threads.data[thread].state != 'S')
        return false;
    if (!waits_for_answer(live, thread)) {
        *ret = (struct live_candidates){.end = ARGUS_LIVE_END_IDLE};
        return is_idle_at_bus(live, wait);
    }
    *ret = (struct live_candidates){.end = ARGUS_LIVE_END_UNKNOWN};
    live_fds(live);
    for (size_t i = 0; i < live->fds.length && !ret->count; i++) {
        const struct live_fd fd = live->fds.data[i];
        const struct live_socket *own =
            fd.process == process && fd.type == LIVE_FILE_SOCKET ? live_socket(live, fd.key) : NULL;
        const struct live_socket *peer = own ? live_socket(live, own->peer) : NULL;
        const struct live_fd *fds;
        if (!peer || !peer->path || !is_bus_path(strtab_get(live->texts, peer->path)))
            continue;
        uint32_t path = peer->path;
        size_t count = live_fds_of(live, LIVE_FILE_SOCKET, peer->inode, &fds);
        uint32_t daemon = count ? fds[0].process : ARGUS_LIVE_NONE;
        if (daemon != ARGUS_LIVE_NONE && live_load(live, daemon))
            ask_bus(live, thread, daemon, strtab_get(live->texts, path), wait, ret);
    }
    wait->kind = ARGUS_LIVE_DBUS;
    wait->fd = ARGUS_LIVE_NONE;
    return true;
}
