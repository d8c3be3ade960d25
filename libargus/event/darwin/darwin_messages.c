/* Mach messages.
 *
 * With ids (MACH_IPC_msg_send, _recv: osfmk/ipc/ipc_kmsg.c:3221, 3729; kernels of Intel Macs, development kernels, and as kmsg_sent, _received those
 * with Argus's patch) every receive names its send, and there is nothing to guess.
 *
 * Without, there is mach_msg2_trap (since xnu-8792), whose start has the options, the size and the names of the remote and the
 * local port in the sender's process. A thread that is woken inside of such a call while it waits to receive has, in all
 * likelihood, got that message. So the remote name leads to that thread, until another one is seen; later messages to the same
 * name that wake nobody, because the receiver is at work, are put into its inbox. What a thread receives is the oldest of
 * its inbox. A reply is a message like any other: it wakes who waits for it.
 */
#include "event/darwin/darwin.h"

#include <string.h>

#define GUESS_BIT      (1ull << 63)
#define NO_PORT        0u
#define KEPT_BYTES     0xffffffffu
#define PORT_KEY(p, n) ((uint64_t)(p) << 32 | (uint32_t)(n))

static bool is_mach_msg(uint32_t call)
{
    return call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG ||
           call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG_OVERWRITE ||
           call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2;
}

static bool sends(const struct darwin_thread *thread)
{
    return is_mach_msg(thread->call) && (thread->arg[1] & DARWIN_MACH_SEND);
}

/* Messages also come with kevents, and to workers of libdispatch. */
static bool receives(const struct darwin *darwin, const struct darwin_thread *thread)
{
    const struct argus_trace_header *header = argus_trace_header(darwin->trace);
    if (thread->call == ARGUS_NONE)
        return false;
    if (is_mach_msg(thread->call))
        return thread->arg[1] & DARWIN_MACH_RCV;
    return syscall_row(header->os, header->arch, thread->call)->flags & SYSCALL_EVENTS;
}

static uint64_t bytes_sent(const struct darwin_thread *thread)
{
    if (thread->call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2)
        return thread->arg[2] >> 32;
    return (uint32_t)thread->arg[2]; /* of the older traps the third argument is the size */
}

static uint32_t remote_port(const struct darwin_thread *thread)
{
    bool named = thread->call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2 && thread->has_pid;
    return named ? (uint32_t)thread->arg[3] : NO_PORT;
}

static void emit(struct darwin *darwin, const struct darwin_cpu *cpu,
                 const struct argus_record *record, uint64_t message, uint64_t bytes,
                 uint32_t flags)
{
    const struct darwin_thread *thread = darwin_current(darwin, cpu);
    /* Of a port nothing is known but whose it is; the receiver knows. */
    bool receives_it = flags & ARGUS_MESSAGE_RECEIVE;
    uint64_t channel = receives_it && thread && thread->has_pid ? thread->pid : 0;
    const uint64_t arg[4] = {
        channel,
        ARGUS_MESSAGE_WHAT(bytes ? bytes : 1, ARGUS_CHANNEL_MACH, flags | ARGUS_MESSAGE_POSITION),
        message};
    darwin_emit(darwin, cpu, record, ARGUS_ID_MESSAGE, arg);
}

/* --- with ids --- */

void darwin_on_msg_send(struct darwin *darwin, struct darwin_cpu *cpu,
                        const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    darwin->has_messages = true;
    if (!thread || !record->arg[0] || darwin->is_patched)
        return;
    uint64_t bytes = sends(thread) ? bytes_sent(thread) : 1;
    bytes = bytes && bytes < KEPT_BYTES ? bytes : 1;
    darwin_put(darwin, &darwin->size_by_message, record->arg[0], (uint32_t)bytes);
    emit(darwin, cpu, record, record->arg[0], bytes, 0);
}

void darwin_on_msg_receive(struct darwin *darwin, struct darwin_cpu *cpu,
                           const struct argus_record *record)
{
    uint32_t bytes = idmap_get(&darwin->size_by_message, record->arg[0]);
    darwin->has_messages = true;
    if (record->arg[0] && cpu->tid && !darwin->is_patched)
        emit(darwin, cpu, record, record->arg[0], bytes == IDMAP_NONE ? 1 : bytes,
             ARGUS_MESSAGE_RECEIVE);
}

/* A patched kernel writes these on every build, with the size, also for what the kernel sends itself. Where the stock records come
 * as well they say the same, and count only until the first of these. */
void darwin_on_kmsg_sent(struct darwin *darwin, struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    uint64_t bytes = record->arg[3] & 0xffffffffu;
    darwin->has_messages = darwin->is_patched = true;
    if (!cpu->tid || !record->arg[0])
        return;
    bytes = bytes && bytes < KEPT_BYTES ? bytes : 1;
    darwin_put(darwin, &darwin->size_by_message, record->arg[0], (uint32_t)bytes);
    emit(darwin, cpu, record, record->arg[0], bytes, 0);
}

void darwin_on_kmsg_received(struct darwin *darwin, struct darwin_cpu *cpu,
                             const struct argus_record *record)
{
    uint32_t bytes = idmap_get(&darwin->size_by_message, record->arg[0]);
    darwin->has_messages = darwin->is_patched = true;
    if (record->arg[0] && cpu->tid)
        emit(darwin, cpu, record, record->arg[0], bytes == IDMAP_NONE ? 1 : bytes,
             ARGUS_MESSAGE_RECEIVE);
}

/* --- without --- */

static void put_into_inbox(struct darwin *darwin, uint32_t receiver, uint64_t message)
{
    struct darwin_thread *thread = &darwin->threads.data[receiver];
    if (thread->inbox_count == DARWIN_QUEUE) /* the oldest was received unseen */
        memmove(thread->inbox, thread->inbox + 1, --thread->inbox_count * sizeof(*thread->inbox));
    thread->inbox[thread->inbox_count++] = message;
}

/* The thread on `cpu` sends its message to thread `receiver`. */
static void send_to(struct darwin *darwin, const struct darwin_cpu *cpu,
                    const struct argus_record *record, uint32_t receiver)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (!thread)
        return;
    uint64_t message = GUESS_BIT | ++darwin->guesses;
    uint64_t bytes = bytes_sent(thread);
    bytes = bytes && bytes < KEPT_BYTES ? bytes : 1;
    thread->sent = true;
    darwin_put(darwin, &darwin->size_by_message, message, (uint32_t)bytes);
    emit(darwin, cpu, record, message, bytes, ARGUS_MESSAGE_DOUBTFUL);
    put_into_inbox(darwin, receiver, message);
}

void darwin_message_wakes(struct darwin *darwin, const struct darwin_cpu *cpu,
                          const struct argus_record *record)
{
    if (darwin->has_messages || !darwin_thread(darwin, record->arg[0]))
        return;
    uint32_t receiver = idmap_get(&darwin->thread_by_tid, record->arg[0]);
    const struct darwin_thread *sender = darwin_current(darwin, cpu);
    if (!sender || !sends(sender) || sender->sent ||
        !receives(darwin, &darwin->threads.data[receiver]))
        return;
    if (remote_port(sender) != NO_PORT)
        darwin_put(darwin, &darwin->receiver_by_port, PORT_KEY(sender->pid, remote_port(sender)),
                   receiver);
    send_to(darwin, cpu, record, receiver);
}

void darwin_message_sent(struct darwin *darwin, const struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (darwin->has_messages || !thread || !sends(thread) || thread->sent)
        return;
    uint32_t port = remote_port(thread);
    uint32_t receiver = port == NO_PORT
                            ? IDMAP_NONE
                            : idmap_get(&darwin->receiver_by_port, PORT_KEY(thread->pid, port));
    thread->sent = true;
    if (receiver != IDMAP_NONE)
        send_to(darwin, cpu, record, receiver);
}

void darwin_message_received(struct darwin *darwin, const struct darwin_cpu *cpu,
                             const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (darwin->has_messages || !thread || !thread->inbox_count || !receives(darwin, thread))
        return;
    uint64_t message = thread->inbox[0];
    memmove(thread->inbox, thread->inbox + 1, --thread->inbox_count * sizeof(*thread->inbox));
    uint32_t bytes = idmap_get(&darwin->size_by_message, message);
    emit(darwin, cpu, record, message, bytes, ARGUS_MESSAGE_RECEIVE | ARGUS_MESSAGE_DOUBTFUL);
}
