/* Pairs messages of an object that only counts: eventfd.
 *
 * Units have no identity, but an order: the units added first are taken first. So both ends are
 * intervals on an axis of units. The object may have contained units before the trace; the number
 * of units left after a message tells how to align the two ends. Until that is known, pairs are
 * ambiguous.
 *
 * Two simultaneous sends may have happened in either order: if a receive took only one of them, it
 * may have been either. The same holds for two receives.
 */
#include "event/pairing/pairing.h"

#define MOST_OF_A_COUNT 65536u
/* Most messages that can be simultaneous. */
#define MOST_LOOKED_AT 64u
/* Sends that wait for the alignment of the two ends before they are paired without it. */
#define MOST_UNALIGNED 64u

static void init(struct channel *channel)
{
    channel->count = (struct count_state){
        .open = {part_list_empty, part_list_empty}, .least = INT64_MIN, .most = INT64_MAX};
}

static struct count_state *state_of(struct pairing *pairing, uint32_t channel)
{
    return &pairing->channels.data[channel].count;
}

/* Messages simultaneous with `first` of the list that extend beyond `end` may be exchanged with it:
 * then both are doubtful. If a message lies before `end` as well, exchanging it changes nothing. */
static void doubt_others(struct pairing *pairing, uint32_t first, uint64_t end)
{
    uint32_t steps = 0;
    const struct message *message = &part_at(pairing, first)->message;
    for (uint32_t i = part_at(pairing, first)->next; i != ARGUS_NONE && steps < MOST_LOOKED_AT;
         i = part_at(pairing, i)->next, steps++) {
        struct part *other = part_at(pairing, i);
        if (other->end <= end || !messages_overlap(message, &other->message))
            continue;
        other->certain = part_at(pairing, first)->certain = false;
    }
}

static void pair_units(struct pairing *pairing, uint32_t channel, uint32_t send, uint32_t receive)
{
    doubt_others(pairing, send, part_at(pairing, receive)->end);
    doubt_others(pairing, receive, part_at(pairing, send)->end);
    struct part *s = part_at(pairing, send), *r = part_at(pairing, receive);
    uint64_t from = s->start > r->start ? s->start : r->start;
    uint64_t to = s->end < r->end ? s->end : r->end;
    if (from < to)
        pairing_emit(pairing, channel, s, from - s->start, r, from - r->start, to - from,
                     s->certain && r->certain && state_of(pairing, channel)->known);
}

/* Pairs what can be paired, once all simultaneous messages are known. */
static void pair_all(struct pairing *pairing, uint32_t channel, bool last)
{
    struct count_state *state = state_of(pairing, channel);
    struct part_list *sends = &state->open[SIDE_SEND], *receives = &state->open[SIDE_RECEIVE];
    if (!last && !state->known && sends->count < MOST_UNALIGNED)
        return;
    while (sends->count && receives->count) {
        const struct part *send = part_at(pairing, sends->head);
        const struct part *receive = part_at(pairing, receives->head);
        if (!last && !(pairing_is_settled(pairing, &send->message) &&
                       pairing_is_settled(pairing, &receive->message)))
            return;
        pair_units(pairing, channel, sends->head, receives->head);
        bool sent = send->end <= receive->end, received = receive->end <= send->end;
        if (sent)
            pairing_dismiss(pairing, channel, SIDE_SEND, part_shift(pairing, sends),
                            ARGUS_UNPAIRED_UNCLEAR);
        if (received)
            pairing_dismiss(pairing, channel, SIDE_RECEIVE, part_shift(pairing, receives),
                            ARGUS_UNPAIRED_BEFORE);
    }
}

static void dismiss_open(struct pairing *pairing, uint32_t channel)
{
    struct count_state *state = state_of(pairing, channel);
    pairing_dismiss_all(pairing, channel, SIDE_SEND, &state->open[SIDE_SEND],
                        ARGUS_UNPAIRED_UNREAD);
    pairing_dismiss_all(pairing, channel, SIDE_RECEIVE, &state->open[SIDE_RECEIVE],
                        ARGUS_UNPAIRED_BEFORE);
}

/* The two ends are `ahead` units apart: there were units before the trace, or some have no
 * record. */
static void align(struct pairing *pairing, struct count_state *state, uint64_t ahead)
{
    for (uint32_t i = state->open[SIDE_SEND].head; i != ARGUS_NONE; i = part_at(pairing, i)->next) {
        part_at(pairing, i)->start += ahead;
        part_at(pairing, i)->end += ahead;
    }
    state->end[SIDE_SEND] += ahead;
    state->known = true;
    state->least = state->most = 0;
}

/* Uses a probe after all messages simultaneous with it are known. It is unknown which of them
 * happened before it, so a probe gives a range; several probes narrow it, usually to a single
 * number. */
static void use_probe(struct pairing *pairing, struct count_state *state, struct count_probe *probe)
{
    int64_t told = (int64_t)(probe->left + probe->before[SIDE_RECEIVE] - probe->before[SIDE_SEND] -
                             probe->own);
    int64_t least = told - (int64_t)probe->during[SIDE_SEND];
    int64_t most = told + (int64_t)probe->during[SIDE_RECEIVE];
    probe->valid = false;
    if (least > state->most || most < state->least) { /* units from a sender without records */
        state->known = false;
        state->least = least;
        state->most = most;
    }
    state->least = least > state->least ? least : state->least;
    state->most = most < state->most ? most : state->most;
    if (state->least == state->most)
        align(pairing, state, (uint64_t)state->least);
}

/* Units moved by recorded messages that were made after the call of `message` began. */
static bool find_during(const struct count_state *state, const struct message *message,
                        uint64_t ret[SIDES])
{
    ret[SIDE_SEND] = ret[SIDE_RECEIVE] = 0;
    uint64_t oldest_ns = UINT64_MAX;
    for (uint32_t i = 0; i < COUNT_RECENT; i++) {
        const struct count_recent *recent = &state->recent[i];
        oldest_ns = recent->time_ns < oldest_ns ? recent->time_ns : oldest_ns;
        if (recent->time_ns > message->enter_ns)
            ret[recent->side] += recent->units;
    }
    return oldest_ns <= message->enter_ns; /* no message of that time was dropped from the list */
}

/* Takes `message`, which is not among the recent messages yet, for the next probe. */
static void begin_probe(const struct count_state *state, struct count_probe *probe,
                        const struct message *message)
{
    probe->valid = false;
    bool send = message_side(message) == SIDE_SEND;
    if (!(message->flags & ARGUS_MESSAGE_POSITION) || !find_during(state, message, probe->during))
        return;
    probe->valid = true;
    probe->time_ns = message->time_ns;
    probe->left = message->position;
    probe->own = send ? message->bytes : 0 - message->bytes;
    for (int side = 0; side < SIDES; side++)
        probe->before[side] = state->end[side] - probe->during[side];
}

static void use_probes(struct pairing *pairing, struct count_state *state)
{
    for (uint32_t i = 0; i < COUNT_PROBES; i++) {
        struct count_probe *probe = &state->probes[i];
        if (probe->valid && (pairing->ending || probe->time_ns <= pairing->settled_ns))
            use_probe(pairing, state, probe);
    }
}

/* Every so many messages, one becomes a probe: in the first free element, else in the last. */
#define PROBE_EVERY 16

static void probe(struct pairing *pairing, struct count_state *state, const struct message *message)
{
    enum pairing_side side = message_side(message);
    uint32_t slot = COUNT_PROBES;
    for (uint32_t i = 0; i < COUNT_PROBES; i++) {
        struct count_probe *probe = &state->probes[i];
        if (probe->valid && message->enter_ns < probe->time_ns)
            probe->during[side] += message->bytes;
    }
    use_probes(pairing, state);
    for (uint32_t i = COUNT_PROBES; i-- > 0;)
        slot = state->probes[i].valid ? slot : i;
    if (slot == 0 || state->recent_next % PROBE_EVERY == 0)
        begin_probe(state, &state->probes[slot < COUNT_PROBES ? slot : COUNT_PROBES - 1], message);
    state->recent[state->recent_next++ % COUNT_RECENT] =
        (struct count_recent){message->time_ns, message->bytes, side};
}

static void add_part(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    struct count_state *state = state_of(pairing, channel);
    enum pairing_side side = message_side(message);
    uint64_t start = state->end[side];
    state->end[side] += message->bytes;
    uint32_t index =
        state->open[side].count < MOST_OF_A_COUNT ? part_take(pairing, message) : ARGUS_NONE;
    if (index == ARGUS_NONE) {
        pairing_settle(pairing, channel, side, &(struct part){.message = *message},
                       ARGUS_UNPAIRED_UNCLEAR);
        return;
    }
    struct part *part = part_at(pairing, index);
    part->start = start;
    part->end = state->end[side];
    part->certain = true;
    part_append(pairing, &state->open[side], index);
}

static void feed(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    if (!message->bytes || message->flags & ARGUS_MESSAGE_PEEK)
        return;
    probe(pairing, state_of(pairing, channel), message);
    add_part(pairing, channel, message);
    pair_all(pairing, channel, false);
}

static void finish(struct pairing *pairing, uint32_t channel)
{
    use_probes(pairing, state_of(pairing, channel));
    pair_all(pairing, channel, true);
    dismiss_open(pairing, channel);
}

static void lost(struct pairing *pairing, uint32_t channel)
{
    uint64_t now_ns = 0;
    struct count_state *state = state_of(pairing, channel);
    for (int i = 0; i < COUNT_RECENT; i++)
        now_ns = state->recent[i].time_ns > now_ns ? state->recent[i].time_ns : now_ns;
    finish(pairing, channel);
    init(&pairing->channels.data[channel]);
    /* if its call began before the probe's, the probe has missed it */
    for (int i = 0; i < COUNT_RECENT; i++)
        state->recent[i].time_ns = now_ns;
}

const struct pairing_family pairing_count = {
    .init = init, .feed = feed, .lost = lost, .finish = finish};
