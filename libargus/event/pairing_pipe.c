/* Positions in a pipe.
 *
 * A pipe is a ring of buffers of a page each, numbered as they are filled: a position is (number << 20 | end in the buffer).
 * A write (fs/pipe.c, pipe_write()) puts what does not fill a page behind the data of the last buffer, if the pipe is not
 * empty and there is room for it; everything else goes into new buffers, one page after the other. So the end of a
 * write follows from its beginning and length but for the choice whether it was merged, and a position that fits
 * one of the two ends proves that nothing came between.
 *
 * Positions alone say nothing about bytes, since a buffer need not be full when the next one is begun. So the axis on which
 * sends and receives are compared counts the bytes of the sends, and a receive's position is looked up among them.
 */
#include "event/pairing_order.h"

#define END_BITS 20
#define END_MASK ((1ull << END_BITS) - 1)

static uint64_t buffer_of(uint64_t position)
{
    return position >> END_BITS;
}

static uint64_t end_of(uint64_t position)
{
    return position & END_MASK;
}

static uint64_t place_at(uint64_t buffer, uint64_t end)
{
    return buffer << END_BITS | end;
}

static struct order_end fresh_end(const struct order *order, struct order_end from, uint64_t bytes)
{
    uint64_t page = order->pairing->page_bytes;
    uint64_t first = buffer_of(from.place) + (end_of(from.place) ? 1 : 0);
    uint64_t full = (bytes - 1) / page; /* buffers before the last one */
    return (struct order_end){from.axis + bytes, place_at(first + full, bytes - full * page), true};
}

size_t pipe_ends(const struct order *order, struct order_end from, uint64_t bytes,
                 struct order_end ret[2])
{
    uint64_t page = order->pairing->page_bytes, end = end_of(from.place);
    if (!bytes)
        return 0;
    ret[0] = fresh_end(order, from, bytes);
    uint64_t odd = bytes % page, pages = bytes / page;
    if (!end || !odd || end + odd > page)
        return 1;
    ret[0].sure = false;
    ret[1] = (struct order_end){
        .axis = from.axis + bytes,
        .place = pages ? place_at(buffer_of(from.place) + pages, page)
                       : place_at(buffer_of(from.place), end + odd),
        .sure = true,
    };
    return 2;
}

#define NOT_KNOWN UINT64_MAX

/* A buffer that is used up is told as the beginning of the next one. */
static bool is_used_up(uint64_t place, uint64_t next, uint64_t position)
{
    bool last_of_buffer = next == NOT_KNOWN || buffer_of(next) != buffer_of(place);
    return last_of_buffer && position == place_at(buffer_of(place) + 1, 0);
}

/* The position that lies `bytes` before `place`, in a write that filled its buffers one after the other. */
static uint64_t place_before(const struct order *order, uint64_t place, uint64_t bytes)
{
    uint64_t page = order->pairing->page_bytes, end = end_of(place), buffer = buffer_of(place);
    if (bytes < end)
        return place_at(buffer, end - bytes);
    bytes -= end;
    buffer -= 1 + bytes / page;
    return place_at(buffer, page - bytes % page);
}

/* The send that reaches `axis`, or NULL; `*ret_next`: the position at which the buffer after it begins, as far as known. */
static const struct part *send_at(const struct order *order, uint64_t axis, uint64_t *ret_next)
{
    const struct part *parts = order->pairing->parts.data;
    *ret_next = NOT_KNOWN;
    uint32_t i = order->state->line[SIDE_SEND].open.head;
    while (i != ARGUS_NONE && parts[i].end < axis && pairing_may_walk(order->pairing))
        i = parts[i].next;
    if (i == ARGUS_NONE || parts[i].end < axis)
        return NULL;
    if (parts[i].next != ARGUS_NONE)
        *ret_next = parts[parts[i].next].place;
    return &parts[i];
}

enum order_match pipe_compare(const struct order *order, uint64_t axis, uint64_t position)
{
    uint64_t place = order->state->base_place, next = NOT_KNOWN, left = 0;
    if (axis > order->state->base) {
        const struct part *send = send_at(order, axis, &next);
        if (!send)
            return ORDER_UNKNOWN;
        place = send->place;
        left = send->end - axis;
    } else if (axis < order->state->base) {
        return ORDER_BEFORE;
    } else {
        uint32_t head = order->state->line[SIDE_SEND].open.head;
        if (head != ARGUS_NONE)
            next = part_at(order->pairing, head)->place;
    }
    uint64_t at = left ? place_before(order, place, left) : place;
    if (at == position ||
        (end_of(at) == order->pairing->page_bytes && position == place_at(buffer_of(at) + 1, 0)))
        return ORDER_EQUAL;
    if (!left && is_used_up(place, next, position))
        return ORDER_EQUAL;
    /* The number of a new buffer can be seen before its contents. */
    if (!left && !order->state->line[SIDE_RECEIVE].many && buffer_of(position) == buffer_of(at) + 1)
        return ORDER_EQUAL;
    return at < position ? ORDER_BEFORE : ORDER_BEHIND;
}

bool pipe_axis(const struct order *order, uint64_t position, uint64_t *ret)
{
    const struct part *parts = order->pairing->parts.data;
    uint64_t page = order->pairing->page_bytes;
    for (uint32_t i = order->state->line[SIDE_SEND].open.head; i != ARGUS_NONE; i = parts[i].next) {
        const struct part *send = &parts[i];
        uint64_t next = send->next == ARGUS_NONE ? NOT_KNOWN : parts[send->next].place;
        if (position > send->place && !is_used_up(send->place, next, position))
            continue; /* used up by this receive, so not passed again */
        uint64_t left = 0;
        if (position < send->place)
            left = buffer_of(position) == buffer_of(send->place)
                       ? end_of(send->place) - end_of(position)
                       : end_of(send->place) + page - end_of(position) +
                             page * (buffer_of(send->place) - buffer_of(position) - 1);
        *ret = send->end - (left < send->message.bytes ? left : send->message.bytes);
        return true;
    }
    return false;
}
