/* Pairs messages that differ only in order, size and priority: POSIX message queues, and datagrams
 * on kernels that do not record their buffers (before Linux 6.3). Each priority is first in, first
 * out.
 *
 * Simultaneous sends, or receives, may have happened in either order. Sizes distinguish most of
 * them; the others are ambiguous. All pairs are ambiguous until it is known that the messages from
 * before the trace have left the queue: because a receiver had to wait, or because a record tells
 * how many are left.
 *
 * Both ends are sorted by the beginnings of their calls. A message that may precede another one
 * began before the other one ended, so every search can stop there, no matter how late other
 * messages of that time were recorded.
 *
 * Also handles inotify, where a read takes all changes since the previous read; some changes may
 * not have been requested.
 */
#include "event/pairing/pairing.h"

#define MOST_OF_A_QUEUE (1u << 19)
/* Most changes that are kept for an inotify group. */
#define MOST_OF_A_GROUP 64u
#define LOWEST_PRIORITY 1 /* 0, as recorded */
/* Longest time from the record of a receive to that of its send. If a sender sleeps because the
 * queue is full, the next receiver puts its message there, and the sender records it only when it
 * runs again (ipc/mqueue.c, pipelined_receive()). */
#define HANDED_OVER_NS 1000000000u

static void init(struct channel *channel)
{
    channel->queue = (struct queue_state){
        .open = {part_list_empty, part_list_empty}, .clean_ns = UINT64_MAX, .first_ns = UINT64_MAX};
}

static struct queue_state *state_of(struct pairing *pairing, uint32_t channel)
{
    return &pairing->channels.data[channel].queue;
}

/* Lists by priority, or by sending socket. */
static bool may_be_same(const struct message *a, const struct message *b)
{
    return !a->other || !b->other || a->other == b->other;
}

static bool fits(const struct message *send, const struct message *receive)
{
    bool cut = receive->flags & ARGUS_MESSAGE_TRUNCATED;
    bool size = cut ? receive->bytes <= send->bytes : receive->bytes == send->bytes;
    return size && may_be_same(send, receive) && send->enter_ns < receive->time_ns;
}

/* Whether a search may continue. If not, its result is unknown until the queue is empty the next
 * time. */
static bool may_walk(struct pairing *pairing, struct queue_state *state)
{
    if (pairing_may_walk(pairing))
        return true;
    state->clean_ns = UINT64_MAX;
    return false;
}

/* A send that may belong to a receive. */
struct choice {
    uint32_t before, part; /* ARGUS_NONE */
    bool alone;            /* no other matching send may precede it */
};

static struct choice choose_send(struct pairing *pairing, struct queue_state *state,
                                 const struct message *receive)
{
    struct choice choice = {ARGUS_NONE, ARGUS_NONE, true};
    /* of the chosen send: messages that began later came later */
    uint64_t end_ns = receive->time_ns;
    uint32_t before = ARGUS_NONE;
    for (uint32_t i = state->open[SIDE_SEND].head; i != ARGUS_NONE;
         before = i, i = part_at(pairing, i)->next) {
        const struct part *send = part_at(pairing, i);
        if (send->message.enter_ns >= end_ns)
            break;
        if (!may_walk(pairing, state))
            break;
        if (!fits(&send->message, receive))
            continue;
        bool first = choice.part == ARGUS_NONE;
        if (!first)
            choice.alone = false;
        if (first || send->message.time_ns < end_ns) {
            choice = (struct choice){before, i, first && send->certain};
            end_ns = send->message.time_ns;
        }
    }
    return choice;
}

/* Messages like `chosen` and simultaneous with it: each may be exchanged with the other. */
static bool doubt_others(struct pairing *pairing, struct queue_state *state, enum pairing_side side,
                         const struct message *chosen)
{
    bool found = false;
    for (uint32_t i = state->open[side].head; i != ARGUS_NONE; i = part_at(pairing, i)->next) {
        struct part *part = part_at(pairing, i);
        if (part->message.enter_ns >= chosen->time_ns || !may_walk(pairing, state))
            break;
        if (part->message.bytes != chosen->bytes || !may_be_same(&part->message, chosen) ||
            !messages_overlap(&part->message, chosen))
            continue;
        part->certain = false;
        found = true;
    }
    return found;
}

/* First in, first out: what was sent before `taken` with its priority must have been received, so
 * if such a send still waits, another send was taken for it. */
static void doubt_passed(struct pairing *pairing, struct queue_state *state,
                         const struct message *taken)
{
    for (uint32_t i = state->open[SIDE_SEND].head; i != ARGUS_NONE; i = part_at(pairing, i)->next) {
        struct part *part = part_at(pairing, i);
        if (part->message.enter_ns >= taken->enter_ns || !may_walk(pairing, state))
            break;
        if (part->message.other == taken->other && part->message.time_ns <= taken->enter_ns)
            part->certain = false;
    }
}

/* `receive` took one of these, and possibly not the one that it was paired with. */
static void doubt_fitting(struct pairing *pairing, struct queue_state *state,
                          const struct message *receive)
{
    for (uint32_t i = state->open[SIDE_SEND].head; i != ARGUS_NONE; i = part_at(pairing, i)->next) {
        struct part *part = part_at(pairing, i);
        if (part->message.enter_ns >= receive->time_ns || !may_walk(pairing, state))
            break;
        if (fits(&part->message, receive))
            part->certain = false;
    }
}

/* Finds messages that prove that none from before the trace is left: a receiver had to wait; or the
 * record says that the queue is empty; or that it has one message after one of the lowest priority
 * was sent, which is this one or a later one. */
static void look_for_strangers(struct queue_state *state, const struct message *message)
{
    bool told = message->flags & ARGUS_MESSAGE_POSITION;
    if (state->clean_ns != UINT64_MAX)
        return;
    if (message_side(message) == SIDE_RECEIVE && message->slept)
        state->clean_ns = message->enter_ns;
    else if (told && (message->position == 0 ||
                      (message_side(message) == SIDE_SEND && message->position == 1 &&
                       message->other == LOWEST_PRIORITY)))
        state->clean_ns = message->time_ns;
}

/* The same from the number of messages after the first send: it is the only one, and no receive had
 * begun; or the queue was empty, and only one receive had begun. Then there were none before the
 * trace. */
static void look_at_first(struct pairing *pairing, struct queue_state *state,
                          const struct message *first_receive)
{
    uint32_t second = state->open[SIDE_RECEIVE].head;
    const struct message *next = second == ARGUS_NONE ? NULL : &part_at(pairing, second)->message;
    const struct message *other = state->first_left ? first_receive : next;
    if (state->clean_ns && state->first_ns != UINT64_MAX &&
        (!other || other->enter_ns >= state->first_ns))
        state->clean_ns = 0;
    state->first_ns = UINT64_MAX;
}

static void note_first(const struct pairing *pairing, uint32_t channel, struct queue_state *state,
                       const struct message *message)
{
    const struct argus_message_counts *counts = &pairing->channels.data[channel].seen.counts;
    bool told = message->flags & ARGUS_MESSAGE_POSITION;
    if (counts->sends == 1 && !counts->receives && !pairing->losses && told &&
        message->position <= 1) {
        state->first_ns = message->time_ns;
        state->first_left = (uint32_t)message->position;
    }
}

static void take_send(struct pairing *pairing, uint32_t channel, uint32_t index)
{
    struct queue_state *state = state_of(pairing, channel);
    struct part *receive = part_at(pairing, index);
    look_at_first(pairing, state, &receive->message);
    look_for_strangers(state, &receive->message);
    struct choice choice = choose_send(pairing, state, &receive->message);
    if (choice.part == ARGUS_NONE)
        return;
    struct part *send = part_at(pairing, choice.part);
    bool peek = receive->message.flags & ARGUS_MESSAGE_PEEK;
    bool twin = doubt_others(pairing, state, SIDE_RECEIVE, &receive->message);
    bool exact =
        choice.alone && !twin && receive->certain && receive->message.enter_ns >= state->clean_ns;
    if (!choice.alone)
        doubt_others(pairing, state, SIDE_SEND, &send->message);
    if (!exact)
        doubt_fitting(pairing, state, &receive->message);
    doubt_passed(pairing, state, &send->message);
    pairing_emit(pairing, channel, send, 0, receive, 0, receive->message.bytes, exact);
    if (peek)
        return;
    send->covered = send->message.bytes;
    part_free(pairing, part_unlink(pairing, &state->open[SIDE_SEND], choice.before));
}

static bool is_ready(const struct pairing *pairing, uint32_t channel, const struct message *message)
{
    bool handed_over = channel_kind_of(pairing->channels.data[channel].seen.kind)->hands_over;
    return pairing_is_settled(pairing, message) &&
           (!handed_over || pairing->ending || pairing->now_ns - message->time_ns > HANDED_OVER_NS);
}

/* Handles each receive once all messages simultaneous with it are known. */
static void pair_all(struct pairing *pairing, uint32_t channel, bool last)
{
    struct part_list *receives = &state_of(pairing, channel)->open[SIDE_RECEIVE];
    while (receives->count &&
           (last || is_ready(pairing, channel, &part_at(pairing, receives->head)->message))) {
        uint32_t receive = part_shift(pairing, receives);
        take_send(pairing, channel, receive);
        bool peek = part_at(pairing, receive)->message.flags & ARGUS_MESSAGE_PEEK;
        if (peek)
            part_free(pairing, receive);
        else
            pairing_dismiss(pairing, channel, SIDE_RECEIVE, receive, ARGUS_UNPAIRED_BEFORE);
    }
}

/* Too many messages to store: `message` gets no pair, and its partner counts as one from before the
 * trace. */
static void give_up(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    state_of(pairing, channel)->clean_ns = UINT64_MAX;
    pairing_settle(pairing, channel, message_side(message), &(struct part){.message = *message},
                   ARGUS_UNPAIRED_UNCLEAR);
}

static void feed(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    struct queue_state *state = state_of(pairing, channel);
    enum pairing_side side = message_side(message);
    if (message->flags & ARGUS_MESSAGE_DROPPED)
        return;
    uint32_t part = state->open[side].count < MOST_OF_A_QUEUE ? part_take(pairing, message)
                                                              : (uint32_t)ARGUS_NONE;
    if (part == ARGUS_NONE) {
        give_up(pairing, channel, message);
        return;
    }
    if (side == SIDE_SEND) {
        look_for_strangers(state, message);
        note_first(pairing, channel, state, message);
    }
    part_at(pairing, part)->certain = true;
    part_insert(pairing, &state->open[side], part);
    pair_all(pairing, channel, false);
}

static void finish(struct pairing *pairing, uint32_t channel)
{
    struct queue_state *state = state_of(pairing, channel);
    pair_all(pairing, channel, true);
    pairing_dismiss_all(pairing, channel, SIDE_SEND, &state->open[SIDE_SEND],
                        ARGUS_UNPAIRED_UNREAD);
}

static void lost(struct pairing *pairing, uint32_t channel)
{
    finish(pairing, channel);
    init(&pairing->channels.data[channel]);
}

const struct pairing_family pairing_queue = {
    .init = init, .feed = feed, .lost = lost, .finish = finish};

/* --- groups --- */

/* The first receive gets all changes so far. */
static void take_group(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    struct queue_state *state = state_of(pairing, channel);
    struct part receive = {.message = *message};
    uint32_t left = state->open[SIDE_SEND].count;
    for (; left; left--) {
        uint32_t index = part_shift(pairing, &state->open[SIDE_SEND]);
        struct part *send = part_at(pairing, index);
        if (send->message.enter_ns >= message->time_ns) {
            part_append(pairing, &state->open[SIDE_SEND], index);
            continue;
        }
        pairing_emit(pairing, channel, send, 0, &receive, 0, send->message.bytes, false);
        part_free(pairing, index);
    }
    receive.covered = receive.message.bytes;
    pairing_settle(pairing, channel, SIDE_RECEIVE, &receive, ARGUS_UNPAIRED_BEFORE);
}

static void feed_group(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    struct part_list *sends = &state_of(pairing, channel)->open[SIDE_SEND];
    if (message_side(message) == SIDE_RECEIVE) {
        take_group(pairing, channel, message);
        return;
    }
    if (sends->count >= MOST_OF_A_GROUP)
        pairing_dismiss(pairing, channel, SIDE_SEND, part_shift(pairing, sends),
                        ARGUS_UNPAIRED_UNCLEAR);
    uint32_t part = part_take(pairing, message);
    if (part != ARGUS_NONE)
        part_append(pairing, sends, part);
}

const struct pairing_family pairing_group = {
    .init = init, .feed = feed_group, .lost = lost, .finish = finish};
