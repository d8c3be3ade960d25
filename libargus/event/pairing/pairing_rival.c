/* Pipes with several writers: whether a position may be that of another write.
 *
 * A writer's position is read after its write has released the pipe's lock, and the writer can be
 * delayed in between for any time by the kernel or a hypervisor. Meanwhile other threads write, and
 * its own bytes may lie at the end of a buffer that seems to have room left according to all other
 * records. The recorder marks a position as CERTAIN if it lies just behind the last one that it saw
 * (message_pipe.h). That is no proof if other threads wrote as much at the same moment and their
 * records come later, so it is checked here against those records.
 */
#include "event/pairing/pairing_order.h"

/* Whether some of these numbers add up to `sum`. */
static bool adds_up(const uint64_t *bytes, size_t count, uint64_t sum)
{
    for (unsigned set = 1; set < 1u << count; set++) {
        uint64_t total = 0;
        for (size_t i = 0; i < count; i++)
            total += set & 1u << i ? bytes[i] : 0;
        if (total == sum)
            return true;
    }
    return false;
}

/* Whether other sends may have written what is at the recorded position of `part`. The recorder
 * compared the position with the last one and the length. So together such sends are as long as
 * `part`, simultaneous with it, and their own positions are not nearer. */
bool order_has_double(const struct order *order, const struct part *part)
{
    enum { MOST_DOUBLES = 8 };
    struct pairing *pairing = order->pairing;
    const struct message *message = &part->message;
    uint64_t bytes[MOST_DOUBLES];
    size_t count = 0;
    for (uint32_t next = part->next; next != ARGUS_NONE; next = part_at(pairing, next)->next) {
        const struct message *other = &part_at(pairing, next)->message;
        if (!pairing_may_walk(pairing))
            return true;
        if (!messages_overlap(other, message))
            continue;
        if (count == MOST_DOUBLES || message->bytes > pairing->page_bytes)
            return true; /* pages need not be full, so lengths prove little */
        bytes[count++] = other->bytes;
    }
    return adds_up(bytes, count, message->bytes);
}

/* Whether the recorded position of a waiting send may be that of another send. */
bool order_is_vague(const struct order *order, struct part *part)
{
    if (part->shared || !(part->message.flags & ARGUS_MESSAGE_CERTAIN) ||
        !pairing_is_settled(order->pairing, &part->message))
        return true;
    if (!part->known)
        part->vague = order_has_double(order, part);
    part->known = true;
    return part->vague;
}

/* Whether the waiting send `rival` may precede `part`: its position, which may be another send's,
 * is further, but it began before `part` had ended. */
static bool may_be_before(const struct order *order, struct part *rival, const struct part *part)
{
    return rival->message.enter_ns < part->message.time_ns && order_is_vague(order, rival);
}

bool order_has_rival(const struct order *order, const struct part *last, struct part *part)
{
    struct pairing *pairing = order->pairing;
    struct order_line *line = &order->state->line[SIDE_SEND];
    if (part->alone)
        return false;
    if (line->rival != ARGUS_NONE && part_at(pairing, line->rival)->place > last->place &&
        may_be_before(order, part_at(pairing, line->rival), part))
        return true;
    for (uint32_t next = last->next; next != ARGUS_NONE; next = part_at(pairing, next)->next) {
        if (!pairing_may_walk(pairing))
            return true;
        if (may_be_before(order, part_at(pairing, next), part)) {
            line->rival = next;
            return true;
        }
    }
    part->alone = part == last && pairing_is_settled(pairing, &part->message);
    return false;
}
