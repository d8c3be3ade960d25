/* Pairs messages that have a position in their stream: pipes and TCP.
 *
 * Sends and receives each form a line of intervals on one axis (pairing_line.c places them).
 * Intervals that overlap are a pair. Both lines are consumed from the front.
 */
#include "event/pairing/pairing_order.h"

/* Most messages of one end that may wait for their place or for the other end. */
#define MOST_OF_A_LINE 65536u
/* Most peeks that may wait for sends. */
#define MOST_PEEKS 64u

static struct order order_of(struct pairing *pairing, uint32_t channel)
{
    struct channel *at = &pairing->channels.data[channel];
    return (struct order){pairing, channel, channel_kind_of(at->seen.kind), &at->order};
}

static void init(struct channel *channel)
{
    const struct channel_kind *kind = channel_kind_of(channel->seen.kind);
    struct order_state *state = &channel->order;
    *state = (struct order_state){.peeks = part_list_empty};
    for (int side = 0; side < SIDES; side++)
        state->line[side] = (struct order_line){.waiting = part_list_empty,
                                                .open = part_list_empty,
                                                .thread = ARGUS_NONE,
                                                .rival = ARGUS_NONE};
    state->reference = state->base_place = 1ull << kind->wrap_bits;
    for (int side = 0; side < SIDES; side++)
        state->line[side].place = state->reference;
}

/* The value closest to the last position that is equal modulo the wrap. */
static uint64_t unwrap(const struct order *order, uint64_t position)
{
    unsigned unused = 64 - order->kind->wrap_bits;
    int64_t ahead = (int64_t)((position - order->state->reference) << unused) >> unused;
    return order->state->reference + (uint64_t)ahead;
}

/* --- overlaps --- */

/* Counted from the end, because the beginning may lie before the axis. */
static uint64_t offset_at(const struct part *part, uint64_t axis)
{
    return part->message.bytes - (part->end - axis);
}

static void pair_overlap(const struct order *order, uint32_t send, uint32_t receive)
{
    struct part *s = part_at(order->pairing, send), *r = part_at(order->pairing, receive);
    uint64_t from = s->start > r->start ? s->start : r->start;
    uint64_t to = s->end < r->end ? s->end : r->end;
    bool certain = s->certain || (s->own && r->filled);
    if (from < to)
        pairing_emit(order->pairing, order->channel, s, offset_at(s, from), r, offset_at(r, from),
                     to - from, certain && r->certain);
}

/* A peek begins at the end of the receives so far. False: it must wait for that, or for sends. */
static bool pair_peek(const struct order *order, struct part *peek, uint32_t index)
{
    const struct order_line *receives = &order->state->line[SIDE_RECEIVE];
    const struct order_line *sends = &order->state->line[SIDE_SEND];
    if (peek->end == 0) {
        bool sure = true;
        peek->start = peek->place;
        if (order->kind->buffers && !pipe_axis(order, peek->place, &peek->start, &sure))
            return false;
        if (order->kind->buffers && peek->place < order->state->base_place)
            return true; /* what it saw was received already and removed */
        peek->end = peek->start + peek->message.bytes;
        peek->certain = sure && !order_is_doubtful(receives, &peek->message);
    }
    for (uint32_t i = sends->open.head; i != ARGUS_NONE; i = part_at(order->pairing, i)->next)
        if (part_at(order->pairing, i)->end > peek->start + peek->covered)
            pair_overlap(order, i, index);
    return sends->known && sends->end >= peek->end;
}

static void pair_peeks(const struct order *order)
{
    struct part_list *peeks = &order->state->peeks;
    uint32_t before = ARGUS_NONE, part = peeks->head;
    while (part != ARGUS_NONE) {
        uint32_t next = part_at(order->pairing, part)->next;
        if (pair_peek(order, part_at(order->pairing, part), part))
            part_free(order->pairing, part_unlink(order->pairing, peeks, before));
        else
            before = part;
        part = next;
    }
}

static void drop_send(const struct order *order)
{
    struct order_state *state = order->state;
    uint32_t send = part_shift(order->pairing, &state->line[SIDE_SEND].open);
    state->base = part_at(order->pairing, send)->end;
    state->base_place = part_at(order->pairing, send)->place;
    pairing_dismiss(order->pairing, order->channel, SIDE_SEND, send, ARGUS_UNPAIRED_UNCLEAR);
}

static void drop_receive(const struct order *order)
{
    uint32_t receive = part_shift(order->pairing, &order->state->line[SIDE_RECEIVE].open);
    pairing_dismiss(order->pairing, order->channel, SIDE_RECEIVE, receive, ARGUS_UNPAIRED_BEFORE);
}

static void pair_lines(const struct order *order)
{
    struct part_list *sends = &order->state->line[SIDE_SEND].open;
    struct part_list *receives = &order->state->line[SIDE_RECEIVE].open;
    if (order->state->peeks.count)
        pair_peeks(order);
    while (sends->count && receives->count) {
        pair_overlap(order, sends->head, receives->head);
        uint64_t sent = part_at(order->pairing, sends->head)->end;
        uint64_t received = part_at(order->pairing, receives->head)->end;
        if (sent <= received)
            drop_send(order);
        if (received <= sent)
            drop_receive(order);
    }
}

static void settle(const struct order *order, bool last)
{
    order_settle(order, SIDE_SEND, last);
    pair_lines(order);
    order_settle(order, SIDE_RECEIVE, last);
    pair_lines(order);
}

/* --- beginnings and ends --- */

static void dismiss_line(const struct order *order, enum pairing_side side,
                         enum argus_unpaired reason)
{
    struct order_line *line = &order->state->line[side];
    pairing_dismiss_all(order->pairing, order->channel, side, &line->open, reason);
    pairing_dismiss_all(order->pairing, order->channel, side, &line->waiting, reason);
}

static void finish_state(const struct order *order, enum argus_unpaired unread)
{
    settle(order, true);
    settle(order, true); /* receives may have determined where the sends begin */
    dismiss_line(order, SIDE_SEND, unread);
    dismiss_line(order, SIDE_RECEIVE, ARGUS_UNPAIRED_BEFORE);
    while (order->state->peeks.count)
        part_free(order->pairing, part_shift(order->pairing, &order->state->peeks));
}

static void finish(struct pairing *pairing, uint32_t channel)
{
    struct order order = order_of(pairing, channel);
    finish_state(&order, ARGUS_UNPAIRED_UNREAD);
}

/* Places what is behind the gap at once. */
static void lost(struct pairing *pairing, uint32_t channel)
{
    struct order order = order_of(pairing, channel);
    settle(&order, true);
}

/* A new pipe, and a FIFO that was opened again, begins with its first buffer. */
static bool begins_anew(const struct order *order, const struct message *message)
{
    struct order_end zero = {.place = 1ull << order->kind->wrap_bits}, ends[2];
    return order->kind->buffers && pipe_ends(order, zero, message->bytes, ends) &&
           ends[0].place == (message->position | zero.place);
}

void order_forget(const struct order *order)
{
    for (int side = 0; side < SIDES; side++) {
        struct order_line *line = &order->state->line[side];
        pairing_dismiss_all(order->pairing, order->channel, (enum pairing_side)side, &line->open,
                            ARGUS_UNPAIRED_DROPPED);
        line->known = false;
    }
}

static void restart(const struct order *order)
{
    finish_state(order, ARGUS_UNPAIRED_DROPPED);
    init(&order->pairing->channels.data[order->channel]);
}

/* --- a message --- */

/* Two sends with the same position: at most one of them ends there. */
static void note_shared(const struct order *order, uint32_t a, uint32_t b)
{
    if (a == ARGUS_NONE || part_at(order->pairing, a)->place != part_at(order->pairing, b)->place)
        return;
    part_at(order->pairing, a)->shared = true;
    part_at(order->pairing, b)->shared = true;
}

static void insert_waiting(const struct order *order, struct part_list *list, uint32_t part)
{
    uint64_t place = part_at(order->pairing, part)->place;
    if (list->tail == ARGUS_NONE || part_at(order->pairing, list->tail)->place <= place) {
        note_shared(order, list->tail, part);
        part_append(order->pairing, list, part);
        return;
    }
    uint32_t before = ARGUS_NONE, next = list->head;
    while (part_at(order->pairing, next)->place <= place) {
        before = next;
        next = part_at(order->pairing, next)->next;
    }
    note_shared(order, before, part);
    part_at(order->pairing, part)->next = next;
    if (before == ARGUS_NONE)
        list->head = part;
    else
        part_at(order->pairing, before)->next = part;
    list->count++;
}

static void add_peek(const struct order *order, const struct message *message, uint64_t position)
{
    if (order->state->peeks.count >= MOST_PEEKS)
        return;
    uint32_t part = part_take(order->pairing, message);
    if (part == ARGUS_NONE)
        return;
    part_at(order->pairing, part)->place = position;
    part_append(order->pairing, &order->state->peeks, part);
}

static void add_message(const struct order *order, const struct message *message, uint64_t position)
{
    enum pairing_side side = message_side(message);
    struct order_line *line = &order->state->line[side];
    uint32_t part = line->waiting.count + line->open.count < MOST_OF_A_LINE
                        ? part_take(order->pairing, message)
                        : ARGUS_NONE;
    if (part == ARGUS_NONE) {
        pairing_settle(order->pairing, order->channel, side, &(struct part){.message = *message},
                       ARGUS_UNPAIRED_UNCLEAR);
        return;
    }
    part_at(order->pairing, part)->place = position;
    if (line->thread == ARGUS_NONE)
        line->thread = message->thread;
    line->many |= line->thread != message->thread;
    insert_waiting(order, &line->waiting, part);
}

static void feed(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    struct order order = order_of(pairing, channel);
    uint64_t position = unwrap(&order, message->position);
    const struct order_line *line = &order.state->line[message_side(message)];
    bool peek = message->flags & ARGUS_MESSAGE_PEEK;
    if (order.kind->buffers && line->known && !peek && position < line->place &&
        begins_anew(&order, message)) {
        restart(&order);
        position = unwrap(&order, message->position);
    }
    order.state->reference = position;
    if (!message->bytes)
        return;
    if (peek)
        add_peek(&order, message, position);
    else
        add_message(&order, message, position);
    settle(&order, false);
}

const struct pairing_family pairing_order = {
    .init = init, .feed = feed, .lost = lost, .finish = finish};
