/* Matches Mach messages without IDs, from release kernels of Apple silicon.
 *
 * The start record of mach_msg2_trap (since xnu-8792) has the options, the size, and the names of
 * the remote and the local port in the sender's process. If a send wakes a thread that waits to
 * receive, that thread very likely gets the message. So the remote name belongs to that thread,
 * until a send to it wakes another one. Later messages to the same name that wake no thread,
 * because the receiver is running, are put into the receiver's inbox. A thread always receives the
 * oldest message of its inbox.
 *
 * Replies need no port. A thread that sends and receives in one call, with a local port, makes a
 * *request*, and receives only the reply at the end of that call. A reply goes to a send-once
 * right, whose name is used once and identifies no receiver later. If a reply wakes no thread (the
 * requester lost the CPU before it could wait), it goes to the thread that sent the first request
 * which is still open.
 */
#include "event/darwin/darwin.h"

#include <string.h>

#define GUESS_BIT      (1ull << 63)
#define NO_PORT        0u
#define MOVE_SEND_ONCE 18u /* MACH_MSG_TYPE_MOVE_SEND_ONCE */
#define PORT_KEY(p, n) ((uint64_t)(p) << 32 | (uint32_t)(n))

/* The type of right of a message's remote port (mach/message.h: MACH_MSGH_BITS_REMOTE); 0:
 * unknown. */
static uint32_t remote_type(const struct darwin_thread *thread)
{
    return thread->call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2 ? thread->arg[2] & 0x1f : 0;
}

/* Whether the thread is in a call that sends a request and then waits for the reply. */
static bool asks(const struct darwin_thread *thread)
{
    bool both = thread->call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2 &&
                (thread->arg[1] & DARWIN_MACH_SEND) && (thread->arg[1] & DARWIN_MACH_RCV);
    return both && thread->arg[3] >> 32 && remote_type(thread) != MOVE_SEND_ONCE;
}

static uint32_t remote_port(const struct darwin_thread *thread)
{
    bool named = thread->call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2 && thread->has_pid;
    return named ? (uint32_t)thread->arg[3] : NO_PORT;
}

static void put_into_inbox(struct darwin *darwin, uint32_t receiver,
                           const struct darwin_letter *letter)
{
    struct darwin_thread *thread = &darwin->threads.data[receiver];
    if (thread->inbox_count == DARWIN_QUEUE) /* the oldest message was received without a record */
        memmove(thread->inbox, thread->inbox + 1, --thread->inbox_count * sizeof(*thread->inbox));
    thread->inbox[thread->inbox_count++] = *letter;
}

static void take_asker(struct darwin_thread *thread, uint32_t index)
{
    memmove(thread->askers + index, thread->askers + index + 1,
            (--thread->asker_count - index) * sizeof(*thread->askers));
}

static void forget_asker(struct darwin_thread *thread, uint32_t asker)
{
    for (uint32_t i = thread->asker_count; i-- > 0;)
        if (thread->askers[i] == asker)
            take_asker(thread, i);
}

/* The thread whose request is the oldest of those still open; IDMAP_NONE: none. */
static uint32_t oldest_asker(const struct darwin *darwin, struct darwin_thread *thread)
{
    while (thread->asker_count && !asks(&darwin->threads.data[thread->askers[0]]))
        take_asker(thread, 0);
    return thread->asker_count ? thread->askers[0] : IDMAP_NONE;
}

static void add_asker(struct darwin_thread *thread, uint32_t asker)
{
    forget_asker(thread, asker);
    if (thread->asker_count == DARWIN_QUEUE)
        take_asker(thread, 0);
    thread->askers[thread->asker_count++] = asker;
}

/* The thread on `cpu` sends its message to the thread `receiver`. */
static void send_to(struct darwin *darwin, const struct darwin_cpu *cpu,
                    const struct argus_record *record, uint32_t receiver, bool answers)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (!thread)
        return;
    struct darwin_letter letter = {
        .message = GUESS_BIT | ++darwin->guesses,
        .sender = (uint32_t)(thread - darwin->threads.data),
        .answers = answers,
    };
    struct darwin_message message = {
        .id = letter.message, .bytes = darwin_bytes_sent(thread), .flags = ARGUS_MESSAGE_DOUBTFUL};
    thread->sent = true;
    if (answers)
        forget_asker(thread, receiver);
    darwin_emit_message(darwin, cpu, record, &message);
    put_into_inbox(darwin, receiver, &letter);
}

void darwin_message_wakes(struct darwin *darwin, const struct darwin_cpu *cpu,
                          const struct argus_record *record)
{
    if (darwin->has_messages || !darwin_thread(darwin, record->arg[0]))
        return;
    uint32_t receiver = idmap_get(&darwin->thread_by_tid, record->arg[0]);
    const struct darwin_thread *sender = darwin_current(darwin, cpu);
    if (!sender || !darwin_sends(sender) || sender->sent ||
        !darwin_receives(darwin, &darwin->threads.data[receiver]))
        return;
    bool answers = remote_type(sender) == MOVE_SEND_ONCE || asks(&darwin->threads.data[receiver]);
    if (remote_port(sender) != NO_PORT && !answers)
        darwin_put(darwin, &darwin->receiver_by_port, PORT_KEY(sender->pid, remote_port(sender)),
                   receiver);
    send_to(darwin, cpu, record, receiver, answers);
}

void darwin_message_sent(struct darwin *darwin, const struct darwin_cpu *cpu,
                         const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (darwin->has_messages || !thread || !darwin_sends(thread) || thread->sent)
        return;
    uint32_t port = remote_port(thread), receiver = IDMAP_NONE;
    bool answers = remote_type(thread) == MOVE_SEND_ONCE;
    if (answers)
        receiver = oldest_asker(darwin, thread);
    else if (port != NO_PORT)
        receiver = idmap_get(&darwin->receiver_by_port, PORT_KEY(thread->pid, port));
    thread->sent = true;
    if (receiver != IDMAP_NONE)
        send_to(darwin, cpu, record, receiver, answers);
}

/* Which message of its inbox a thread receives at the end of its call; inbox_count: none. */
static uint32_t find_letter(const struct darwin_thread *thread)
{
    bool wants_answer = asks(thread);
    uint32_t index = 0;
    while (wants_answer && index < thread->inbox_count && !thread->inbox[index].answers)
        index++;
    bool unknown = wants_answer && index == thread->inbox_count && !remote_type(thread);
    return unknown ? 0 : index;
}

void darwin_message_received(struct darwin *darwin, const struct darwin_cpu *cpu,
                             const struct argus_record *record)
{
    struct darwin_thread *thread = darwin_current(darwin, cpu);
    if (darwin->has_messages || !thread || !darwin_receives(darwin, thread))
        return;
    uint32_t index = find_letter(thread);
    if (index >= thread->inbox_count)
        return;
    struct darwin_letter letter = thread->inbox[index];
    memmove(thread->inbox + index, thread->inbox + index + 1,
            (--thread->inbox_count - index) * sizeof(*thread->inbox));
    if (!letter.answers && asks(&darwin->threads.data[letter.sender]))
        add_asker(thread, letter.sender);
    struct darwin_message message = {.id = letter.message,
                                     .flags = ARGUS_MESSAGE_RECEIVE | ARGUS_MESSAGE_DOUBTFUL};
    darwin_emit_message(darwin, cpu, record, &message);
}
