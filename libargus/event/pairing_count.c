/* Messages of an object that only counts: eventfd.
 *
 * Units have no identity, but an order: what is taken is what was added first. So both ends are intervals on an axis of
 * units. What is left in the object after a send says where on the axis that was: as many units are added as have been
 * taken and are left. That is needed once, at the beginning, for the units that were there before the trace.
 *
 * A send is paired when those behind it are known: until then nobody knows whether they were made at the same time. If
 * two were, and a receive took only one of them, it may have been either.
 */
#include "event/pairing.h"

#define MOST_OF_A_COUNT 65536u
/* Sends that are waited for before one is paired: what was made at the same time is on record by then. */
#define LATER_SENDS 8u

static void init(struct channel *channel)
{
    channel->count = (struct count_state){.open = {part_list_empty, part_list_empty}};
}

static struct count_state *state_of(struct pairing *pairing, uint32_t channel)
{
    return &pairing->channels.data[channel].count;
}

/* Whether the receive that ends between `a` and the send behind it may have taken that one instead. */
static bool is_contested(struct pairing *pairing, uint32_t a)
{
    uint32_t b = part_at(pairing, a)->next;
    return b != ARGUS_NONE &&
           messages_overlap(&part_at(pairing, a)->message, &part_at(pairing, b)->message);
}

static void pair_units(struct pairing *pairing, uint32_t channel, struct part *send,
                       struct part *receive, bool contested)
{
    uint64_t from = send->start > receive->start ? send->start : receive->start;
    uint64_t to = send->end < receive->end ? send->end : receive->end;
    if (from >= to)
        return;
    bool doubt = (!send->certain && receive->start <= send->start) ||
                 (contested && receive->end <= send->end) || !receive->certain;
    pairing_emit(pairing, channel, send, from - send->start, receive, from - receive->start,
                 to - from, !doubt);
}

/* Pairs what can be; `last`: no more sends will come. */
static void pair_all(struct pairing *pairing, uint32_t channel, bool last)
{
    struct count_state *state = state_of(pairing, channel);
    struct part_list *sends = &state->open[SIDE_SEND], *receives = &state->open[SIDE_RECEIVE];
    while (sends->count > (last ? 0 : LATER_SENDS) && receives->count) {
        struct part *send = part_at(pairing, sends->head);
        struct part *receive = part_at(pairing, receives->head);
        bool contested = is_contested(pairing, sends->head);
        pair_units(pairing, channel, send, receive, contested);
        bool sent = send->end <= receive->end, received = receive->end <= send->end;
        if (sent) {
            if (contested) /* the next one may have been the first */
                part_at(pairing, send->next)->certain = false;
            pairing_dismiss(pairing, channel, SIDE_SEND, part_shift(pairing, sends),
                            ARGUS_UNPAIRED_UNCLEAR);
        }
        if (received)
            pairing_dismiss(pairing, channel, SIDE_RECEIVE, part_shift(pairing, receives),
                            ARGUS_UNPAIRED_BEFORE);
    }
}

/* Where on the axis the first send that is known begins. */
static void find_beginning(struct count_state *state, const struct message *message)
{
    uint64_t end = state->end[SIDE_RECEIVE] + message->position;
    bool told = message->flags & ARGUS_MESSAGE_POSITION;
    state->known = true;
    if (told && end > message->bytes && end - message->bytes > state->end[SIDE_SEND])
        state->end[SIDE_SEND] = end - message->bytes;
}

static void feed(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    struct count_state *state = state_of(pairing, channel);
    enum pairing_side side = message_side(message);
    if (!message->bytes || message->flags & ARGUS_MESSAGE_PEEK)
        return;
    uint32_t index =
        state->open[side].count < MOST_OF_A_COUNT ? part_take(pairing, message) : ARGUS_NONE;
    if (side == SIDE_SEND && !state->known)
        find_beginning(state, message);
    if (index == ARGUS_NONE) {
        pairing_settle(pairing, channel, side, &(struct part){.message = *message},
                       ARGUS_UNPAIRED_UNCLEAR);
        return;
    }
    struct part *part = part_at(pairing, index);
    part->start = state->end[side];
    part->end = part->start + message->bytes;
    part->certain = true;
    state->end[side] = part->end;
    part_append(pairing, &state->open[side], index);
    pair_all(pairing, channel, false);
}

static void finish(struct pairing *pairing, uint32_t channel)
{
    struct count_state *state = state_of(pairing, channel);
    pair_all(pairing, channel, true);
    pairing_dismiss_all(pairing, channel, SIDE_SEND, &state->open[SIDE_SEND],
                        ARGUS_UNPAIRED_UNREAD);
    pairing_dismiss_all(pairing, channel, SIDE_RECEIVE, &state->open[SIDE_RECEIVE],
                        ARGUS_UNPAIRED_BEFORE);
}

static void lost(struct pairing *pairing, uint32_t channel)
{
    finish(pairing, channel);
    init(&pairing->channels.data[channel]);
}

const struct pairing_family pairing_count = {
    .init = init, .feed = feed, .lost = lost, .finish = finish};
