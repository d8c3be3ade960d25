/* Mach messages without ids: release kernels of Apple silicon.
 *
 * There is mach_msg2_trap (since xnu-8792), whose start has the options, the size and the names of the remote and the
 * local port in the sender's process. A thread that is woken inside of such a call while it waits to receive has, in all
 * likelihood, got that message. So the remote name leads to that thread, until another one is seen; later messages to the same
 * name that wake nobody, because the receiver is at work, are put into its inbox. What a thread receives is the oldest of
 * its inbox.
 *
 * Answers need no port. A thread that sends and receives in one call, with a local port, *asks*, and gets an answer and nothing
 * else at the end of that call. An answer goes to a send-once right, whose name is of use once: it leads to nobody later. So
 * one that wakes nobody (who asked has lost the cpu before it could wait) goes to who asked this thread first and still waits.
 */
#include "event/darwin/darwin.h"

#include <string.h>

#define GUESS_BIT      (1ull << 63)
#define NO_PORT        0u
#define MOVE_SEND_ONCE 18u /* MACH_MSG_TYPE_MOVE_SEND_ONCE */
#define PORT_KEY(p, n) ((uint64_t)(p) << 32 | (uint32_t)(n))

/* What the remote port of a message is (mach/message.h: MACH_MSGH_BITS_REMOTE); 0: not known. */
static uint32_t remote_type(const struct darwin_thread *thread)
{
    return thread->call == DARWIN_TRAP + DARWIN_MSC_MACH_MSG2 ? thread->arg[2] & 0x1f : 0;
}

/* It is in a call that sends and then waits for the answer. */
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
    if (thread->inbox_count == DARWIN_QUEUE) /* the oldest was received unseen */
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

/* Who asked first of those that still wait; IDMAP_NONE: nobody. */
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

/* The thread on `cpu` sends its message to thread `receiver`. */
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

/* Which of its inbox a thread receives at the end of its call; inbox_count: none. */
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
