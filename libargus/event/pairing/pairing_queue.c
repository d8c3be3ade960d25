/* Messages that only their order, size and priority tell apart: POSIX message queues, and datagrams on kernels that do not
 * name their buffers (before Linux 6.3). First in, first out, for each priority.
 *
 * Messages that were sent, or received, at the same time may have been so in either order. The sizes tell most of
 * them apart; those that they do not are ambiguous. So is everything until it is known that what was in the queue before
 * the trace began is gone: because a receiver had to wait, or because the record says how much is left.
 *
 * Both ends are kept in the order in which their calls began: what may have come before a message began before it ended,
 * so every search ends there, however late the others of that time were on record.
 *
 * And inotify, where a read takes what has gathered: any change since the last one may be among it, or may not have
 * been asked for.
 */
#include "event/pairing/pairing.h"

#define MOST_OF_A_QUEUE (1u << 19)
/* Changes that are kept for an inotify group. */
#define MOST_OF_A_GROUP 64u
#define LOWEST_PRIORITY 1 /* 0, as it is in a record */
/* So long after a receive its send is on record. A sender that sleeps since the queue is full has its message put there
 * by the next receiver, and says so only when it runs again (ipc/mqueue.c, pipelined_receive()). */
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

/* By their priorities, or the sending sockets. */
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

/* Whether a search may go on; if not, what it would have found out is not known until the queue is empty the next time. */
static bool may_walk(struct pairing *pairing, struct queue_state *state)
{
    if (pairing_may_walk(pairing))
        return true;
    state->clean_ns = UINT64_MAX;
    return false;
}

/* A send that a receive may be of. */
struct choice {
    uint32_t before, part; /* ARGUS_NONE */
    bool alone;            /* no other one fits that may have been before it */
};

static struct choice choose_send(struct pairing *pairing, struct queue_state *state,
                                 const struct message *receive)
{
    struct choice choice = {ARGUS_NONE, ARGUS_NONE, true};
    uint64_t end_ns = receive->time_ns; /* of the chosen: what began later came later */
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

/* Messages like `chosen` that were made at the same time: each may be the other. */
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

/* First in, first out: what was sent before `taken` with its priority must have been received, so one that still waits was
 * taken for another. */
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

/* `receive` took one of these, and perhaps not the one that it was said to have taken. */
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

/* The messages that say that nothing of before the trace is left: a receiver had to wait, or the record says that the queue
 * is empty, or that there is one message after one of the lowest priority was sent: it, or a later one. */
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

/* Or how many there were after the first send: it alone, and no receive had begun; or not even it, and only one had. Then
 * there never were any. */
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

/* Each receive, once everything that was sent or received at the same time is known. */
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

/* More than can be kept: `message` is without a pair, and what it was the pair of is a stranger. */
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

/* What has gathered goes to the first receive. */
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
