/* Mach messages: whose answer is waited for.
 *
 * mach_port_space_info() lists the rights of a task, each with a number of its port that is the same
 * in all tasks (lsmp(1) relies on that: system_cmds-1026 lsmp/task_details.c,
 * get_taskinfo_of_receiver_by_send_right). The one task with the receive right gets the messages.
 *
 * A request carries a send-once right to the port at which its sender waits for the answer. Until
 * the receiver takes the request, that right is in the queue, in no task. After that, the task that
 * has the right is the one that has to answer, even if another task has passed the request on to it.
 * So the holder of the right comes first, and the receiver of the request's port counts only if
 * nobody holds it: then the request is unread, or the receiver's rights could not be read.
 *
 * Arguments of mach_msg2_trap(data, options, bits|size, remote|local, voucher|id,
 * descriptors|receive name, …): xnu-11417 osfmk/ipc/mach_msg.c. The older mach_msg_trap() has the
 * remote port in the message. */
#include <stdlib.h>
#include <string.h>

#include "live/macos/mac_state.h"

enum {
    SENDS = 1,    /* MACH_SEND_MSG */
    RECEIVES = 2, /* MACH_RCV_MSG */
    SEND_TIMEOUT = 0x10,
    RECEIVE_TIMEOUT = 0x100,
    SYNC_WAIT = 0x4000, /* MACH_RCV_SYNC_WAIT: the remote port is that of the earlier request */
    REMOTE_AT = 8,      /* msgh_remote_port of mach_msg_header_t */
};

struct message {
    uint32_t options, remote, receive; /* names in the waiter's task; 0: none */
};

static struct message message_of(struct argus_live *live, uint32_t thread)
{
    const struct argus_live_thread of = live->threads.data[thread];
    const char *name = argus_live_call_name(&of);
    struct message ret = {.options = (uint32_t)of.arg[1]};
    bool is_newer = name && strcmp(name, "mach_msg2_trap") == 0;
    ret.receive = is_newer ? (uint32_t)(of.arg[5] >> 32) : (uint32_t)of.arg[4];
    ret.remote = is_newer ? (uint32_t)of.arg[3] : 0;
    if (!is_newer && ret.options & SENDS &&
        !mac_memory(live_pid_of(live, thread), of.arg[0] + REMOTE_AT, &ret.remote,
                    sizeof(ret.remote)))
        ret.remote = 0;
    if (!(ret.options & (SENDS | SYNC_WAIT)))
        ret.remote = 0;
    if (!(ret.options & RECEIVES))
        ret.receive = 0;
    return ret;
}

/* --- rights --- */

static int compare_rights(const void *left, const void *right)
{
    const struct mac_right *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

static int compare_own(const void *left, const void *right)
{
    const struct mac_right *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

static void add_rights(struct argus_live *live, uint32_t process)
{
    enum { WANTED = MAC_PORT_SEND | MAC_PORT_RECEIVE | MAC_PORT_SEND_ONCE | MAC_PORT_SET };
    struct mac_port *ports;
    size_t count = mac_ports(live->processes.data[process].pid, &ports);
    live->system->lacks_rights |= count == 0;
    for (size_t i = 0; i < count; i++) {
        struct mac_right right = {ports[i].object, ports[i].type, process, ports[i].name};
        if (ports[i].type & WANTED && (!vec_push(&live->system->rights, right) ||
                                       !vec_push(&live->system->rights_by_name, right)))
            live->no_memory = true;
    }
    free(ports);
}

static void read_rights(struct argus_live *live)
{
    struct live_system *system = live->system;
    if (system->has_rights)
        return;
    system->has_rights = true;
    for (uint32_t i = 0; i < live->processes.length; i++)
        add_rights(live, i);
    if (!system->rights.length || live->no_memory)
        return;
    qsort(system->rights.data, system->rights.length, sizeof(*system->rights.data), compare_rights);
    qsort(system->rights_by_name.data, system->rights.length, sizeof(*system->rights.data),
          compare_own);
}

/* The right that the process has under this name. False: none. */
static bool own_right(struct argus_live *live, uint32_t process, uint32_t name,
                      struct mac_right *ret)
{
    read_rights(live);
    const struct mac_right wanted = {.process = process, .name = name};
    const struct mac_right *found =
        name && live->system->rights_by_name.length
            ? bsearch(&wanted, live->system->rights_by_name.data,
                      live->system->rights_by_name.length, sizeof(wanted), compare_own)
            : NULL;
    if (found)
        *ret = *found;
    return found != NULL;
}

/* The first right to the port; those to one port are neighbours. */
static size_t first_right(struct argus_live *live, uint32_t object)
{
    size_t low = 0, high = live->system->rights.length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (live->system->rights.data[middle].object < object)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Adds the processes with this type of right to the port of `own`. */
static void add_holders(struct argus_live *live, const struct mac_right *own, uint32_t type,
                        struct live_candidates *ret)
{
    for (size_t i = first_right(live, own->object); i < live->system->rights.length; i++) {
        const struct mac_right right = live->system->rights.data[i];
        if (right.object != own->object)
            break;
        bool is_same = right.process == own->process && right.name == own->name;
        if (right.type & type && !is_same && live_load(live, right.process))
            live_candidate(ret, right.process, ARGUS_LIVE_NONE);
    }
}

/* Of the port to which the message goes: the receiver, and how many messages it has not taken. */
static uint32_t unread_at(struct argus_live *live, const struct mac_right *to,
                          struct live_candidates *ret)
{
    uint32_t messages = 0;
    for (size_t i = first_right(live, to->object); i < live->system->rights.length; i++) {
        const struct mac_right right = live->system->rights.data[i];
        if (right.object != to->object)
            break;
        if (!(right.type & MAC_PORT_RECEIVE))
            continue;
        mac_port_queue(live->processes.data[right.process].pid, right.name, &messages);
        if (ret && live_load(live, right.process))
            live_candidate(ret, right.process, ARGUS_LIVE_NONE);
    }
    return messages;
}

/* --- waits --- */

static bool is_awaited(struct argus_live *live, const struct mac_right *own)
{
    struct live_candidates holders = {.count = 0};
    add_holders(live, own, MAC_PORT_SEND_ONCE, &holders);
    return holders.count > 0;
}

/* A thread that only receives waits for the next request of anybody, unless somebody holds a right
 * to send exactly one message there: that is an answer. */
void mac_wait_in_message(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait)
{
    const struct message message = message_of(live, thread);
    uint32_t process = live->threads.data[thread].process;
    uint32_t pid = live->processes.data[process].pid;
    struct mac_right to, from;
    bool sends_only = !message.receive && message.remote;
    wait->has_timeout = message.options & (sends_only ? SEND_TIMEOUT : RECEIVE_TIMEOUT);
    wait->object = message.remote ? message.remote : message.receive;
    wait->is_write = sends_only;
    wait->kind = sends_only       ? ARGUS_LIVE_MACH_SEND
                 : message.remote ? ARGUS_LIVE_MACH_REPLY
                                  : ARGUS_LIVE_MACH_RECEIVE;
    if (wait->kind == ARGUS_LIVE_MACH_RECEIVE) {
        if (own_right(live, process, message.receive, &from) && from.type & MAC_PORT_RECEIVE &&
            is_awaited(live, &from))
            wait->kind = ARGUS_LIVE_MACH_REPLY;
        return;
    }
    if (wait->kind == ARGUS_LIVE_MACH_REPLY && mac_port_is_kernels(pid, message.remote))
        wait->kind = ARGUS_LIVE_KERNEL_REPLY;
    else if (own_right(live, process, message.remote, &to))
        wait->unread_there = unread_at(live, &to, NULL);
}

/* --- rules --- */

static enum argus_live_end end_of(const struct argus_live *live)
{
    return live->system->lacks_rights ? ARGUS_LIVE_END_DENIED : ARGUS_LIVE_END_UNKNOWN;
}

void mac_by_reply(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    const struct message message = message_of(live, thread);
    uint32_t process = live->threads.data[thread].process;
    struct mac_right to, from;
    (void)wait;
    ret->link = ARGUS_LIVE_LINK_REPLIES;
    if (own_right(live, process, message.receive, &from))
        add_holders(live, &from, MAC_PORT_SEND_ONCE, ret);
    ret->end = end_of(live);
    if (ret->count || !own_right(live, process, message.remote, &to))
        return;
    /* without messages, it has taken the request, but no right to answer is known; with some, they
     * may be other senders', and a process whose rights could not be read may have that right */
    bool has_messages = unread_at(live, &to, ret) > 0;
    ret->is_guess = !has_messages || live->system->lacks_rights;
    if (has_messages)
        ret->link = ARGUS_LIVE_LINK_UNREAD;
}

/* The queue is full. */
void mac_by_queue(struct argus_live *live, uint32_t thread, const struct argus_live_wait *wait,
                  struct live_candidates *ret)
{
    struct mac_right to;
    ret->link = ARGUS_LIVE_LINK_READS;
    if (own_right(live, live->threads.data[thread].process, (uint32_t)wait->object, &to))
        unread_at(live, &to, ret);
    ret->end = end_of(live);
}
