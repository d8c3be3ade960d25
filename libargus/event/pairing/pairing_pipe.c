/* Computes with positions in a pipe.
 *
 * A pipe is a ring of buffers of a page each, numbered as they are filled: a position is (number <<
 * 20 | end in the buffer). A write (fs/pipe.c, pipe_write()) appends the part that does not fill a
 * page to the last buffer, if the pipe is not empty and there is room for it. Everything else goes
 * into new buffers, one page after the other. So the end of a write follows from its beginning and
 * length, except for whether it was merged. A position that matches the merged end proves that
 * nothing came in between. A position that matches the other end proves it too if the last buffer
 * was full or empty, and otherwise as soon as everything written meanwhile is recorded (pairing.c
 * waits for that).
 *
 * Positions alone do not give byte counts, because a buffer need not be full when the next one
 * begins. So the axis on which sends and receives are compared counts the bytes of the sends, and a
 * receive's position is looked up among the sends.
 */
#include "event/pairing/pairing_order.h"

#define END_BITS 20
#define END_MASK ((1ull << END_BITS) - 1)

#define NOT_KNOWN UINT64_MAX

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
    return (struct order_end){
        .axis = from.axis + bytes,
        .place = place_at(first + full, bytes - full * page),
    };
}

static struct order_end merged_end(const struct order *order, struct order_end from, uint64_t bytes)
{
    uint64_t page = order->pairing->page_bytes, pages = bytes / page, odd = bytes % page;
    uint64_t end = end_of(from.place) + odd;
    return (struct order_end){
        .axis = from.axis + bytes,
        .place = place_at(buffer_of(from.place) + pages, pages ? page : end),
        .sure = true,
        .merged = (uint32_t)odd,
        .merged_end = (uint32_t)end,
    };
}

size_t pipe_ends(const struct order *order, struct order_end from, uint64_t bytes,
                 struct order_end ret[2])
{
    uint64_t page = order->pairing->page_bytes, end = end_of(from.place);
    if (!bytes)
        return 0;
    ret[0] = fresh_end(order, from, bytes);
    /* otherwise bytes of another write may be missing in the previous buffer */
    ret[0].sure = !end || end == page;
    if (!end || !(bytes % page) || end + bytes % page > page)
        return 1;
    ret[1] = merged_end(order, from, bytes);
    return 2;
}

bool pipe_same_buffer(uint64_t a, uint64_t b)
{
    return buffer_of(a) == buffer_of(b);
}

/* The end of a consumed buffer is recorded as the beginning of the next one. */
static bool is_used_up(uint64_t place, uint64_t next, uint64_t position)
{
    bool last_of_buffer = next == NOT_KNOWN || buffer_of(next) != buffer_of(place);
    return last_of_buffer && position == place_at(buffer_of(place) + 1, 0);
}

/* The recorded position of the byte in a send that is `left` bytes before its end. All its buffers
 * but the first are full. */
static uint64_t place_before(const struct order *order, const struct part *send, uint64_t left)
{
    uint64_t page = order->pairing->page_bytes, end = end_of(send->place);
    uint64_t buffer = buffer_of(send->place), fresh = send->message.bytes - send->merged;
    if (send->merged && left >= fresh)
        return place_at(buffer - fresh / page, send->merged_end - (left - fresh));
    if (left < end)
        return place_at(buffer, end - left);
    left -= end;
    return place_at(buffer - 1 - left / page, page - left % page);
}

/* The number of bytes of a send behind a position in it. */
static uint64_t bytes_behind(const struct order *order, const struct part *send, uint64_t position)
{
    uint64_t page = order->pairing->page_bytes;
    uint64_t fresh = send->message.bytes - send->merged;
    uint64_t buffers = buffer_of(send->place) - buffer_of(position);
    uint64_t left;
    if (send->merged && buffers == fresh / page)
        left = fresh + send->merged_end - end_of(position);
    else if (!buffers)
        left = end_of(send->place) - end_of(position);
    else
        left = end_of(send->place) + page - end_of(position) + page * (buffers - 1);
    return left < send->message.bytes ? left : send->message.bytes;
}

/* The send that reaches `axis`, or NULL; `*ret_next`: the position where the buffer after it
 * begins, as far as known. */
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

/* The recorded position of a receive that ends at `axis`, and where the data behind it end, as far
 * as known. */
static bool place_of(const struct order *order, uint64_t axis, uint64_t *ret, uint64_t *ret_next,
                     bool *ret_ends_buffer)
{
    const struct order_state *state = order->state;
    *ret_next = NOT_KNOWN;
    *ret = state->base_place;
    *ret_ends_buffer = true;
    if (axis == state->base) {
        uint32_t head = state->line[SIDE_SEND].open.head;
        if (head != ARGUS_NONE)
            *ret_next = part_at(order->pairing, head)->place;
        return true;
    }
    const struct part *send = send_at(order, axis, ret_next);
    if (!send)
        return false;
    uint64_t left = send->end - axis;
    *ret = place_before(order, send, left);
    *ret_ends_buffer = !left || left == send->message.bytes - send->merged ||
                       end_of(*ret) == order->pairing->page_bytes;
    if (left)
        *ret_next = NOT_KNOWN;
    return true;
}

enum order_match pipe_compare(const struct order *order, uint64_t axis, uint64_t position,
                              bool settled)
{
    uint64_t at, next;
    bool ends_buffer;
    if (axis < order->state->base)
        return ORDER_BEFORE;
    if (!place_of(order, axis, &at, &next, &ends_buffer))
        return ORDER_UNKNOWN;
    bool alone = !order->state->line[SIDE_RECEIVE].many;
    if (at == position)
        return ORDER_EQUAL;
    if (ends_buffer && is_used_up(at, next, position)) /* more may have been put into it */
        return next != NOT_KNOWN || alone || settled ? ORDER_EQUAL : ORDER_UNKNOWN;
    return at < position ? ORDER_BEFORE : ORDER_BEHIND;
}

bool pipe_axis(const struct order *order, uint64_t position, uint64_t *ret, bool *ret_sure)
{
    const struct part *parts = order->pairing->parts.data;
    uint32_t i = order->state->line[SIDE_SEND].open.head;
    for (; i != ARGUS_NONE && pairing_may_walk(order->pairing); i = parts[i].next) {
        const struct part *send = &parts[i];
        uint64_t next = send->next == ARGUS_NONE ? NOT_KNOWN : parts[send->next].place;
        if (position > send->place && !is_used_up(send->place, next, position))
            continue; /* consumed by this receive, so not passed again */
        *ret_sure = send->certain && (next == NOT_KNOWN || parts[send->next].certain);
        *ret = send->end - (position < send->place ? bytes_behind(order, send, position) : 0);
        return true;
    }
    return false;
}
