/* Puts the messages of one end of a channel into order.
 *
 * Each message has a recorded position: the end of the line just after it was done. If another
 * thread used the channel at the same moment, that position may be too far, because it includes the
 * other thread's bytes. But it is never too near. For example:
 *
 *     the line ends at 100; A sent 30 bytes and says "up to 130"   A is [100, 130)
 *     the line ends at 100; A sent 30 bytes and says "up to 150"   20 bytes of another send are
 *                                                                  missing: wait for it
 *     … B sent 20 bytes and says "up to 120"                       B is [100, 120),
 *                                                                  A is [120, 150)
 *     … B sent 20 bytes and says "up to 150", too                  either may be first: ambiguous
 *
 * If a few messages together reach exactly to the position of one of them, the group is complete:
 * no other message can be among them. All orders of the group are tried, and what is the same in
 * all possible orders is certain. If messages are missing for good (lost records, a sender without
 * records), the line continues behind the gap after a while.
 *
 * In a pipe, a message can lie at the end of a buffer which seems to have room left according to
 * all other records. As long as a waiting message may be of this kind, the places of the messages
 * that it may precede are not certain.
 */
#include "event/pairing/pairing_order.h"

/* Number of messages after which missing bytes count as a gap. */
#define LINE_PATIENCE 32u
/* Length of a gap of unknown size on the axis of a pipe: longer than any send. */
#define PIPE_HOLE (1ull << 40)

struct trial {
    const struct order *order;
    enum pairing_side side;
    uint32_t part[ORDER_GROUP];
    struct order_end at[ORDER_GROUP]; /* where each ends, in the order being tried */
    struct order_end found[ORDER_GROUP];
    bool same[ORDER_GROUP]; /* its place is the same in all orders found so far */
    bool own[ORDER_GROUP];  /* its position is its own, even if other threads used the channel */
    size_t count;
    uint64_t reach; /* where the last one must end: the furthest position */
    unsigned orders;
    bool unsure;  /* one of them has an uncertain end … */
    bool guess;   /* … which is good enough */
    bool unknown; /* sends that are not recorded yet may decide */
};

static struct part *trial_part(const struct trial *trial, size_t i)
{
    return part_at(trial->order->pairing, trial->part[i]);
}

/* Sends into a pipe have positions in buffers; all other messages have positions on the axis. */
static bool in_buffers(const struct trial *trial)
{
    return trial->order->kind->buffers && trial->side == SIDE_SEND;
}

/* Compares an end with a position. */
static enum order_match compare(const struct trial *trial, struct order_end end, uint64_t position,
                                bool settled)
{
    const struct order *order = trial->order;
    if (order->kind->buffers && trial->side == SIDE_RECEIVE)
        return pipe_compare(order, end.axis, position, settled);
    uint64_t at = order->kind->buffers ? end.place : end.axis;
    return at == position ? ORDER_EQUAL : at < position ? ORDER_BEFORE : ORDER_BEHIND;
}

/* The possible ends of a message that begins at `from`. */
static size_t ends_of(const struct trial *trial, struct order_end from, uint64_t bytes,
                      struct order_end ret[2])
{
    if (in_buffers(trial))
        return pipe_ends(trial->order, from, bytes, ret);
    ret[0] = (struct order_end){.axis = from.axis + bytes, .place = from.place, .sure = true};
    return 1;
}

/* Whether one of the messages not yet in the order was done before `i` began. */
static bool has_earlier(const struct trial *trial, unsigned used, size_t i)
{
    for (size_t k = 0; k < trial->count; k++)
        if (k != i && !(used & 1u << k) &&
            trial_part(trial, k)->message.time_ns <= trial_part(trial, i)->message.enter_ns)
            return true;
    return false;
}

static void note_order(struct trial *trial)
{
    for (size_t i = 0; i < trial->count; i++) {
        if (trial->orders == 0) {
            trial->found[i] = trial->at[i];
            trial->same[i] = true;
        } else if (trial->found[i].axis != trial->at[i].axis ||
                   trial->found[i].place != trial->at[i].place) {
            trial->same[i] = false;
        }
    }
    trial->orders++;
}

/* Whether an end in the order being tried fails to prove that no message was before it, as long as
 * there may have been one. */
static bool is_unsure(const struct trial *trial)
{
    const struct order_line *line = &trial->order->state->line[trial->side];
    for (size_t i = 0; i < trial->count; i++) {
        struct part *part = trial_part(trial, i);
        bool sure = trial->at[i].sure;
        if (sure && (trial->own[i] || !in_buffers(trial)))
            continue;
        /* whether there is only one sender is unknown until all other threads have recorded their
         * operations */
        if (!pairing_is_settled(trial->order->pairing, &part->message) ||
            (!sure && order_is_doubtful(line, &part->message) &&
             order_has_rival(trial->order, trial_part(trial, trial->count - 1), part)))
            return true;
    }
    return false;
}

/* Whether the messages being tried fill each buffer as far as their records say. A write that
 * begins a new buffer leaves no other trace of missing bytes in the previous buffer. */
static bool fills_buffers(const struct trial *trial)
{
    for (size_t i = 0; i < trial->count; i++) {
        uint64_t told = trial_part(trial, i)->place;
        bool filled = false;
        for (size_t k = 0; k < trial->count && !filled; k++)
            filled = trial->at[k].place >= told && pipe_same_buffer(trial->at[k].place, told);
        if (!filled)
            return false;
    }
    return true;
}

/* Whether message `i` may end at `end`; `last`: it is the last one of the group. */
static bool may_end(struct trial *trial, size_t i, struct order_end end, bool last)
{
    const struct message *message = &trial_part(trial, i)->message;
    bool doubtful = order_is_doubtful(&trial->order->state->line[trial->side], message) &&
                    !(in_buffers(trial) && trial->own[i]);
    bool settled = pairing_is_settled(trial->order->pairing, message);
    enum order_match match = compare(trial, end, trial_part(trial, i)->place, settled);
    if (match == ORDER_UNKNOWN)
        trial->unknown = true;
    if (match != ORDER_EQUAL && !(doubtful && match == ORDER_BEFORE))
        return false;
    if (!last)
        return true;
    return compare(trial, end, trial->reach, settled) == ORDER_EQUAL;
}

/* Tries all orders of the messages that are not in `used`, from `from` on. */
static void try_orders(struct trial *trial, struct order_end from, unsigned used, size_t placed)
{
    for (size_t i = 0; i < trial->count; i++) {
        struct order_end ends[2];
        if (used & 1u << i || has_earlier(trial, used, i))
            continue;
        size_t count = ends_of(trial, from, trial_part(trial, i)->message.bytes, ends);
        for (size_t k = 0; k < count; k++) {
            bool last = placed + 1 == trial->count;
            if (!may_end(trial, i, ends[k], last))
                continue;
            trial->at[i] = ends[k];
            if (last && !trial->guess && is_unsure(trial))
                trial->unsure = true;
            else if (last && (!in_buffers(trial) || fills_buffers(trial)))
                note_order(trial);
            else
                try_orders(trial, ends[k], used | 1u << i, placed + 1);
        }
    }
}

/* Whether the message's bytes may be mixed with another's: it is longer than what a pipe writes
 * atomically, or it had to wait in between and the recorder did not see its pieces (TCP before
 * Linux 6.16). */
static bool may_be_split(const struct trial *trial, const struct message *message)
{
    const struct order *order = trial->order;
    bool waited =
        !order->kind->buffers && message->slept && message->flags & ARGUS_MESSAGE_DOUBTFUL;
    bool in_pieces = waited || message->bytes > order->kind->whole_bytes;
    return trial->side == SIDE_SEND && order->state->line[SIDE_SEND].many &&
           !(message->flags & ARGUS_MESSAGE_CERTAIN) && in_pieces;
}

/* Gives the first waiting message its place. */
static void place(const struct order *order, enum pairing_side side, uint32_t index, uint64_t start,
                  struct order_end end, bool certain)
{
    struct order_line *line = &order->state->line[side];
    struct part *part = part_at(order->pairing, index);
    if (line->rival == index)
        line->rival = ARGUS_NONE;
    part->start = start;
    part->end = end.axis;
    part->place = end.place;
    part->merged = end.merged;
    part->merged_end = end.merged_end;
    part->certain = certain;
    line->end = end.axis;
    line->place = end.place;
    line->known = true;
    part_append(order->pairing, &line->open, index);
}

/* A message whose place was only guessed may have been anywhere among simultaneous messages. `own`:
 * the position of `message` is its own. */
static bool is_safe(struct order_line *line, const struct message *message, bool own)
{
    if (message->enter_ns >= line->unsure_ns || own)
        return true;
    if (message->time_ns > line->unsure_ns)
        line->unsure_ns = message->time_ns;
    return false;
}

/* Whether no message without a place can move message `i` of a trial or take its place. For a
 * pipe's sends, bytes are counted, so what precedes a send must be known; elsewhere the position
 * alone tells. */
static bool is_fixed(const struct trial *trial, size_t i)
{
    struct part *part = trial_part(trial, i);
    const struct order_line *line = &trial->order->state->line[trial->side];
    if (!in_buffers(trial) || !order_is_doubtful(line, &part->message))
        return true;
    bool doubled = !trial->own[i] && (part->shared || order_has_double(trial->order, part));
    return !doubled && !order_has_rival(trial->order, trial_part(trial, trial->count - 1), part);
}

/* Whether all sends from which a receive has bytes end where their own positions say. The receive
 * lies between the previous receive's position and its own, so if it is exactly as long as these
 * sends, there is no room for others. */
static bool is_filled(const struct trial *trial, uint64_t start, uint64_t end)
{
    struct pairing *pairing = trial->order->pairing;
    const struct order_state *state = trial->order->state;
    uint32_t next = state->line[SIDE_SEND].open.head;
    if (!trial->order->kind->buffers || trial->side == SIDE_SEND || trial->count > 1 ||
        state->line[SIDE_RECEIVE].many)
        return false;
    for (; next != ARGUS_NONE && part_at(pairing, next)->start < end;
         next = part_at(pairing, next)->next)
        if (!pairing_may_walk(pairing) ||
            (part_at(pairing, next)->end > start && !part_at(pairing, next)->own))
            return false;
    return true;
}

/* Removes the messages of a trial from the waiting ones, in the order that was found. */
static void place_group(struct trial *trial)
{
    const struct order *order = trial->order;
    struct order_line *line = &order->state->line[trial->side];
    bool split = false,
         /* if one is a guess, it may belong elsewhere, and so may the others */
        fixed = !trial->guess;
    for (size_t i = 0; i < trial->count; i++)
        fixed &= is_fixed(trial, i);
    for (size_t i = 0; i < trial->count; i++) {
        part_shift(order->pairing, &line->waiting);
        split |= may_be_split(trial, &trial_part(trial, i)->message);
    }
    for (unsigned done = 0; done != (1u << trial->count) - 1;) {
        size_t next = 0;
        uint64_t nearest = UINT64_MAX;
        for (size_t i = 0; i < trial->count; i++) {
            if (done & 1u << i || trial->found[i].axis > nearest)
                continue;
            nearest = trial->found[i].axis;
            next = i;
        }
        done |= 1u << next;
        bool certain = trial->same[next] && fixed && !split;
        if ((split || !fixed) && trial_part(trial, next)->message.time_ns > line->unsure_ns)
            line->unsure_ns = trial_part(trial, next)->message.time_ns;
        certain &= is_safe(line, &trial_part(trial, next)->message, trial->own[next]);
        uint64_t bytes = trial_part(trial, next)->message.bytes;
        struct order_end end = trial->found[next];
        if (trial->side == SIDE_RECEIVE || !order->kind->buffers)
            end.place = trial_part(trial, next)->place;
        struct part *part = trial_part(trial, next);
        part->own = in_buffers(trial) && trial->own[next];
        part->filled = is_filled(trial, end.axis - bytes, end.axis);
        place(order, trial->side, trial->part[next], end.axis - bytes, end, certain);
    }
}

enum step { STEP_DONE, STEP_STUCK, STEP_LATER };

/* Adds the next waiting message to a trial. */
static void add_to_trial(struct trial *trial, uint32_t index)
{
    struct part *part = part_at(trial->order->pairing, index);
    trial->own[trial->count] = in_buffers(trial) ? !order_is_vague(trial->order, part)
                                                 : part->message.flags & ARGUS_MESSAGE_CERTAIN;
    trial->part[trial->count++] = index;
    trial->reach = part->place;
    trial->orders = 0;
    trial->unsure = false;
}

/* Places the smallest group of messages that is complete. */
static enum step place_complete(const struct order *order, enum pairing_side side)
{
    const struct order_line *line = &order->state->line[side];
    struct trial trial = {.order = order, .side = side};
    struct order_end from = {.axis = line->end, .place = line->place};
    uint32_t next = line->waiting.head;
    while (next != ARGUS_NONE && trial.count < ORDER_GROUP) {
        add_to_trial(&trial, next);
        try_orders(&trial, from, 0, 0);
        if (trial.unknown)
            return STEP_LATER;
        if (trial.orders && !trial.unsure) {
            place_group(&trial);
            return STEP_DONE;
        }
        next = part_at(order->pairing, next)->next;
    }
    return STEP_STUCK;
}

/* Places the first waiting send behind the last one, if it fits there: what may lie between them
 * has not come. */
static enum step place_guessed(const struct order *order, enum pairing_side side)
{
    const struct order_line *line = &order->state->line[side];
    struct trial trial = {.order = order, .side = side, .guess = true};
    if (!in_buffers(&trial) || !line->known)
        return STEP_STUCK;
    add_to_trial(&trial, line->waiting.head);
    try_orders(&trial, (struct order_end){.axis = line->end, .place = line->place}, 0, 0);
    if (!trial.orders)
        return STEP_STUCK;
    place_group(&trial);
    return STEP_DONE;
}

/* The end of a message whose beginning is unknown. False: not known yet. */
static bool end_by_position(const struct order *order, enum pairing_side side,
                            const struct part *part, struct order_end *ret)
{
    const struct order_line *line = &order->state->line[side];
    ret->place = part->place;
    ret->sure = true;
    if (!order->kind->buffers) {
        bool end_of_stream = order->pairing->ending && side == SIDE_RECEIVE && line->known &&
                             part->place == line->end + part->message.bytes + 1;
        ret->axis = part->place - end_of_stream; /* TCP's FIN takes a sequence number, too */
        return true;
    }
    if (side == SIDE_RECEIVE)
        return pipe_axis(order, part->place, &ret->axis, &ret->sure);
    ret->axis = line->end + part->message.bytes + (line->known ? PIPE_HOLE : 0);
    return true;
}

/* Whether the places of all sends from `start` to `end` are proved. A receive's position is that of
 * its end; its beginning is counted back over these sends. */
static bool has_certain_sends(const struct order *order, uint64_t start, uint64_t end)
{
    struct pairing *pairing = order->pairing;
    uint32_t next = order->state->line[SIDE_SEND].open.head;
    for (; next != ARGUS_NONE && part_at(pairing, next)->start < end;
         next = part_at(pairing, next)->next)
        if (!pairing_may_walk(pairing) ||
            (part_at(pairing, next)->end > start && !part_at(pairing, next)->certain))
            return false;
    return true;
}

/* Places the first waiting message by its own position: behind a gap, or at the beginning. */
static enum step place_first(const struct order *order, enum pairing_side side)
{
    struct order_line *line = &order->state->line[side];
    uint32_t index = line->waiting.head;
    struct part *part = part_at(order->pairing, index);
    struct order_end end = {0};
    if (!end_by_position(order, side, part, &end))
        return STEP_LATER;
    bool doubtful = order_is_doubtful(line, &part->message);
    bool certain = !doubtful && end.sure;
    if (order->kind->buffers && side == SIDE_SEND && line->known) {
        /* bytes are missing, or it did not fill its buffers one after the other: receives must find
         * their places again */
        certain &= part->message.bytes <= order->pairing->page_bytes;
        order->state->line[SIDE_RECEIVE].known = false;
    }
    uint64_t bytes = part->message.bytes, start = end.axis < bytes ? 0 : end.axis - bytes;
    if (order->kind->buffers && side == SIDE_RECEIVE)
        certain &=
            (!line->known || start == line->end) && has_certain_sends(order, start, end.axis);
    if (line->known && end.axis < line->end && !doubtful)
        order_forget(order);
    if (line->known && start < line->end) {
        start = line->end;
        end.axis = end.axis > start ? end.axis : start;
        certain = false;
    }
    if (doubtful && part->message.time_ns > line->unsure_ns)
        line->unsure_ns = part->message.time_ns;
    part_shift(order->pairing, &line->waiting);
    place(order, side, index, start, end, certain);
    return STEP_DONE;
}

/* A pipe's first write and first read begin in its first buffer; a line that has placed no message
 * yet begins there. */
static enum step place_next(const struct order *order, enum pairing_side side)
{
    struct order_line *line = &order->state->line[side];
    if (line->known)
        return place_complete(order, side);
    if (side == SIDE_RECEIVE || !order->kind->buffers || line->end)
        return STEP_STUCK;
    enum step step = place_complete(order, side);
    struct order_line *receives = &order->state->line[SIDE_RECEIVE];
    if (step == STEP_DONE && !receives->end)
        receives->known = true;
    return step;
}

/* Whether what is missing before the first waiting message will never come. */
static bool is_hole(const struct order *order, const struct order_line *line)
{
    const struct part *first = part_at(order->pairing, line->waiting.head);
    return pairing_is_settled(order->pairing, &first->message) &&
           (!line->known || !line->many || line->waiting.count >= LINE_PATIENCE);
}

void order_settle(const struct order *order, enum pairing_side side, bool last)
{
    struct order_line *line = &order->state->line[side];
    enum step step = STEP_DONE;
    while (line->waiting.count && step == STEP_DONE) {
        step = place_next(order, side);
        bool stuck = step == STEP_STUCK || (step == STEP_LATER && last);
        if (!stuck || !(last || is_hole(order, line)))
            continue;
        step = place_guessed(order, side);
        if (step == STEP_STUCK)
            step = place_first(order, side);
    }
}
