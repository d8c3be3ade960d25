#include "event/pairing/pairing.h"

/* The kinds of channels; docs/man/argus-trace.5.md, section MESSAGES, defines their positions.
 *
 * To add a kind: its number in argus/record.h, a row in the man page, and one here. A kind without
 * a family is counted, and listed in argus-messages(1) among those that cannot be paired. */
static const struct channel_kind kinds[ARGUS_CHANNEL_COUNT] = {
    [ARGUS_CHANNEL_PIPE] = {.name = "pipe",
                            .family = &pairing_order,
                            .wrap_bits = 52,
                            .buffers = true,
                            .whole_bytes = 4096 /* PIPE_BUF */,
                            .fragile = true},
    [ARGUS_CHANNEL_UNIX_STREAM] = {.name = "unix stream",
                                   .family = &pairing_element,
                                   .rivals = true},
    [ARGUS_CHANNEL_UNIX_SEQPACKET] = {.name = "unix seqpacket",
                                      .family = &pairing_element,
                                      .fallback = &pairing_queue,
                                      .datagram = true,
                                      .rivals = true},
    [ARGUS_CHANNEL_UNIX_DATAGRAM] = {.name = "unix datagram",
                                     .family = &pairing_element,
                                     .fallback = &pairing_queue,
                                     .datagram = true,
                                     .rivals = true},
    [ARGUS_CHANNEL_TCP] = {.name = "tcp",
                           .family = &pairing_order,
                           .wrap_bits = 32,
                           .whole_bytes = UINT32_MAX},
    [ARGUS_CHANNEL_UDP] = {.name = "udp",
                           .family = &pairing_element,
                           .fallback = &pairing_queue,
                           .datagram = true,
                           .late_receive = true},
    [ARGUS_CHANNEL_EVENTFD] = {.name = "eventfd", .family = &pairing_count, .fragile = true},
    [ARGUS_CHANNEL_SIGNALFD] = {.name = "signalfd"},
    [ARGUS_CHANNEL_TIMERFD] = {.name = "timerfd"},
    [ARGUS_CHANNEL_INOTIFY] = {.name = "inotify",
                               .family = &pairing_group,
                               .fallback = &pairing_group},
    [ARGUS_CHANNEL_MACH] = {.name = "mach", .family = &pairing_element, .datagram = true},
    [ARGUS_CHANNEL_MQUEUE] = {.name = "mqueue",
                              .family = &pairing_queue,
                              .fallback = &pairing_queue,
                              .datagram = true,
                              .hands_over = true,
                              .fragile = true},
};

const struct channel_kind *channel_kind_of(uint32_t kind)
{
    static const struct channel_kind unknown = {.name = "unknown"};
    return kind < ARGUS_CHANNEL_COUNT && kinds[kind].name ? &kinds[kind] : &unknown;
}

const char *argus_channel_name(uint32_t kind)
{
    return channel_kind_of(kind)->name;
}

const char *argus_unpaired_name(enum argus_unpaired reason)
{
    static const char *const names[ARGUS_UNPAIRED_REASONS] = {
        [ARGUS_UNPAIRED_BEFORE] = "sent before the trace began",
        [ARGUS_UNPAIRED_UNREAD] = "never received",
        [ARGUS_UNPAIRED_LOST] = "records lost",
        [ARGUS_UNPAIRED_DROPPED] = "dropped by the kernel",
        [ARGUS_UNPAIRED_UNSEEN] = "no record of the other end",
        [ARGUS_UNPAIRED_KIND] = "kind cannot be paired",
        [ARGUS_UNPAIRED_UNCLEAR] = "unclear",
    };
    return (size_t)reason < ARGUS_UNPAIRED_REASONS ? names[reason] : "unknown";
}

/* --- parts --- */

uint32_t part_take(struct pairing *pairing, const struct message *message)
{
    uint32_t part = pairing->free_parts;
    if (part != ARGUS_NONE) {
        pairing->free_parts = part_at(pairing, part)->next;
    } else {
        part = (uint32_t)pairing->parts.length;
        if (part >= PAIRING_MOST_PARTS)
            return ARGUS_NONE;
        if (!vec_push(&pairing->parts, (struct part){0})) {
            pairing->no_memory = true;
            return ARGUS_NONE;
        }
    }
    *part_at(pairing, part) = (struct part){.message = *message, .next = ARGUS_NONE};
    return part;
}

void part_free(struct pairing *pairing, uint32_t part)
{
    part_at(pairing, part)->next = pairing->free_parts;
    pairing->free_parts = part;
}

/* `previous`: ARGUS_NONE for the head of the list. */
static void link_behind(struct pairing *pairing, struct part_list *list, uint32_t previous,
                        uint32_t part)
{
    uint32_t *before = previous == ARGUS_NONE ? &list->head : &part_at(pairing, previous)->next;
    uint32_t next = *before;
    part_at(pairing, part)->next = next;
    part_at(pairing, part)->previous = previous;
    *(next == ARGUS_NONE ? &list->tail : &part_at(pairing, next)->previous) = part;
    *before = part;
    list->count++;
}

void part_append(struct pairing *pairing, struct part_list *list, uint32_t part)
{
    link_behind(pairing, list, list->tail, part);
}

void part_insert(struct pairing *pairing, struct part_list *list, uint32_t part)
{
    uint64_t enter_ns = part_at(pairing, part)->message.enter_ns;
    uint32_t previous = list->tail;
    while (previous != ARGUS_NONE && part_at(pairing, previous)->message.enter_ns > enter_ns &&
           pairing_may_walk(pairing))
        previous = part_at(pairing, previous)->previous;
    link_behind(pairing, list, previous, part);
}

uint32_t part_unlink(struct pairing *pairing, struct part_list *list, uint32_t before)
{
    uint32_t part = before == ARGUS_NONE ? list->head : part_at(pairing, before)->next;
    if (part == ARGUS_NONE)
        return ARGUS_NONE;
    uint32_t next = part_at(pairing, part)->next;
    if (before == ARGUS_NONE)
        list->head = next;
    else
        part_at(pairing, before)->next = next;
    if (next == ARGUS_NONE)
        list->tail = before;
    else
        part_at(pairing, next)->previous = before;
    list->count--;
    return part;
}

bool pairing_may_walk(struct pairing *pairing)
{
    enum { SURE_STEPS = 1 << 23, STEPS_OF_A_MESSAGE = 16 };
    return pairing->walked++ < SURE_STEPS + STEPS_OF_A_MESSAGE * pairing->fed;
}

uint32_t part_shift(struct pairing *pairing, struct part_list *list)
{
    return part_unlink(pairing, list, ARGUS_NONE);
}

/* --- the fate of a message --- */

void pairing_emit(struct pairing *pairing, uint32_t channel, struct part *send,
                  uint64_t send_offset, struct part *receive, uint64_t receive_offset,
                  uint64_t bytes, bool exact)
{
    struct channel *at = &pairing->channels.data[channel];
    struct argus_message_counts *counts = &at->seen.counts;
    /* If positions follow from each other, a missing message makes all later positions
     * uncertain. */
    bool blind = at->shaky || !send->message.call_ns || !receive->message.call_ns;
    if (blind && channel_kind_of(at->seen.kind)->fragile)
        exact = false;
    if (!(receive->message.flags & ARGUS_MESSAGE_PEEK)) {
        counts->exact += exact;
        counts->ambiguous += !exact;
        send->covered += bytes;
    }
    receive->covered += bytes;
    send->paired = receive->paired = true;
    struct pairing_pair pair = {
        .send = &send->message,
        .receive = &receive->message,
        .send_offset = send_offset,
        .receive_offset = receive_offset,
        .bytes = bytes,
        .channel = channel,
        .exact = exact,
    };
    if (pairing->sink)
        pairing->sink(pairing->context, &pair);
}

void pairing_settle(struct pairing *pairing, uint32_t channel, enum pairing_side side,
                    const struct part *part, enum argus_unpaired reason)
{
    struct channel *at = &pairing->channels.data[channel];
    if (part->paired && part->covered >= part->message.bytes)
        return;
    if (at->shaky && reason != ARGUS_UNPAIRED_DROPPED && reason != ARGUS_UNPAIRED_KIND)
        reason = ARGUS_UNPAIRED_LOST;
    bool unread = side == SIDE_SEND && reason == ARGUS_UNPAIRED_UNREAD && pairing->unread;
    if (unread && (pairing->ending || channel_kind_of(at->seen.kind)->rivals))
        pairing->unread(pairing->context, &at->seen, &part->message, !pairing->ending);
    if (side == SIDE_SEND)
        at->seen.counts.unpaired_sends[reason]++;
    else if (reason == ARGUS_UNPAIRED_BEFORE && !at->seen.counts.sends)
        at->early++;
    else
        at->seen.counts.unpaired_receives[reason]++;
}

void pairing_dismiss(struct pairing *pairing, uint32_t channel, enum pairing_side side,
                     uint32_t part, enum argus_unpaired reason)
{
    pairing_settle(pairing, channel, side, part_at(pairing, part), reason);
    part_free(pairing, part);
}

void pairing_dismiss_all(struct pairing *pairing, uint32_t channel, enum pairing_side side,
                         struct part_list *list, enum argus_unpaired reason)
{
    while (list->count)
        pairing_dismiss(pairing, channel, side, part_shift(pairing, list), reason);
    *list = part_list_empty;
}

/* --- channels --- */

/* for this many messages of a channel after a loss, a missing partner is attributed to the loss */
enum { SHAKY_MESSAGES = 64 };

static void init_channel(struct channel *channel)
{
    const struct channel_kind *kind = channel_kind_of(channel->seen.kind);
    const struct pairing_family *family = kind->fallback ? kind->fallback : kind->family;
    if (family && family->init)
        family->init(channel);
}

/* The channel `id` of `kind`, created if needed; ARGUS_NONE without memory. */
static uint32_t find_channel(struct pairing *pairing, uint64_t id, uint8_t kind)
{
    uint64_t key = id + ((uint64_t)kind << 59);
    uint32_t head = idmap_get(&pairing->channel_by_key, key);
    for (uint32_t i = head; i != ARGUS_NONE; i = pairing->channels.data[i].next)
        if (pairing->channels.data[i].seen.id == id && pairing->channels.data[i].seen.kind == kind)
            return i;
    struct channel made = {
        .seen = {.id = id, .kind = kind}, .next = head, .losses = pairing->losses};
    made.shaky = pairing->losses ? SHAKY_MESSAGES : 0;
    uint32_t index = (uint32_t)pairing->channels.length;
    init_channel(&made);
    if (index >= ARGUS_NONE - 1 || !vec_push(&pairing->channels, made) ||
        !idmap_put(&pairing->channel_by_key, key, index)) {
        pairing->no_memory = true;
        return ARGUS_NONE;
    }
    return index;
}

static void add_thread(uint32_t *threads, uint8_t *count, bool *more, uint32_t thread)
{
    for (uint8_t i = 0; i < *count; i++)
        if (threads[i] == thread)
            return;
    if (*count == ARGUS_CHANNEL_THREADS)
        *more = true;
    else
        threads[(*count)++] = thread;
}

void pairing_add_sender(struct pairing *pairing, uint32_t channel, uint32_t thread)
{
    struct argus_message_channel *seen = &pairing->channels.data[channel].seen;
    add_thread(seen->senders, &seen->sender_count, &seen->more_senders, thread);
}

static void count_message(struct argus_message_channel *seen, const struct message *message)
{
    if (message_side(message) == SIDE_SEND) {
        add_thread(seen->senders, &seen->sender_count, &seen->more_senders, message->thread);
        seen->counts.sends++;
        seen->counts.sent_bytes += message->bytes;
        return;
    }
    add_thread(seen->receivers, &seen->receiver_count, &seen->more_receivers, message->thread);
    if (message->flags & ARGUS_MESSAGE_PEEK) {
        seen->counts.peeks++;
        return;
    }
    seen->counts.receives++;
    seen->counts.received_bytes += message->bytes;
}

/* The lost records may concern this channel: its family starts over as at the beginning of the
 * trace. */
static void note_losses(struct pairing *pairing, uint32_t channel,
                        const struct pairing_family *family)
{
    struct channel *at = &pairing->channels.data[channel];
    at->shaky -= at->shaky > 0;
    if (at->losses == pairing->losses)
        return;
    at->losses = pairing->losses;
    at->shaky = SHAKY_MESSAGES;
    at->clean = false;
    if (at->seen.counts.sends + at->seen.counts.receives && family && family->lost)
        family->lost(pairing, channel);
}

static const struct pairing_family *family_of(const struct channel_kind *kind,
                                              const struct message *message)
{
    return message->flags & ARGUS_MESSAGE_POSITION ? kind->family : kind->fallback;
}

/* A record about a dropped datagram comes from an arbitrary thread, which sent nothing. */
static void feed_dropped(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    const struct pairing_family *family =
        family_of(channel_kind_of(pairing->channels.data[channel].seen.kind), message);
    if (family)
        family->feed(pairing, channel, message);
}

static void feed_message(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    const struct channel_kind *kind = channel_kind_of(pairing->channels.data[channel].seen.kind);
    const struct pairing_family *family = family_of(kind, message);
    note_losses(pairing, channel, family);
    count_message(&pairing->channels.data[channel].seen, message);
    bool only_looked = (message->flags & ARGUS_MESSAGE_PEEK) && !family;
    if (family)
        family->feed(pairing, channel, message);
    else if (!only_looked)
        pairing_settle(pairing, channel, message_side(message), &(struct part){.message = *message},
                       ARGUS_UNPAIRED_KIND);
}

/* The recorder reads the buffer's position soon after the buffer was queued; if the sender lost the
 * CPU in between, that is too late. The records do not tell whether it lost the CPU before or after
 * reading, and no time limit separates the two: on an emulated machine they are far apart. */
static void note_rivals(const struct pairing *pairing, uint32_t channel, struct message *message)
{
    const struct argus_message_channel *seen = &pairing->channels.data[channel].seen;
    bool alone = !seen->more_senders && seen->sender_count <= 1 &&
                 (seen->sender_count == 0 || seen->senders[0] == message->thread);
    if (message->late && !alone && message_side(message) == SIDE_SEND &&
        channel_kind_of(seen->kind)->rivals)
        message->flags |= ARGUS_MESSAGE_DOUBTFUL;
}

/* Adds the bytes that the call moves. */
static void move_bytes(struct pairing_call *call, struct message *message, bool datagram)
{
    enum pairing_side side = message_side(message);
    if (datagram)
        return;
    call->unsure[side] |= (message->flags & ARGUS_MESSAGE_GAP) != 0;
    message->call_bytes = call->moved[side];
    message->call_bytes_unsure = call->unsure[side];
    call->moved[side] += message->bytes;
    call->unsure[side] |= (message->flags & ARGUS_MESSAGE_DOUBTFUL) != 0;
}

/* If a thread sleeps in a queue, the thread that wakes it gives it a message or takes its message
 * away, during the waker's own call. The sleeping thread may record that much later. */
static void note_hand_over(const struct pairing_call *call, struct message *message)
{
    if (!message->slept || call->waker_ns <= message->enter_ns || call->woken_ns < call->waker_ns)
        return;
    message->enter_ns = call->waker_ns;
    message->time_ns = call->woken_ns;
}

/* A thread that had to wait for a message, and was the only waiter, took it after it was on a CPU
 * again. */
static void note_sleep(const struct pairing *pairing, uint32_t channel, struct message *message)
{
    const struct argus_message_channel *seen = &pairing->channels.data[channel].seen;
    bool alone = seen->receiver_count == 1 && !seen->more_receivers;
    if (!message->slept || message_side(message) != SIDE_RECEIVE || !alone ||
        message->thread >= pairing->turns.length)
        return;
    const struct turn *turn = &pairing->turns.data[message->thread];
    if (turn->turn && turn->since_ns > message->enter_ns && turn->since_ns < message->time_ns)
        message->enter_ns = turn->since_ns;
}

void pairing_feed(struct pairing *pairing, const struct argus_record *record,
                  struct pairing_call *call, uint32_t thread, uint32_t tag)
{
    uint8_t kind = (uint8_t)ARGUS_MESSAGE_KIND(record->arg[1]);
    struct message message = {
        .enter_ns = call->enter_ns,
        .call_ns = call->enter_ns,
        .time_ns = record->timestamp,
        .record_ns = record->timestamp,
        .position = record->arg[2],
        .bytes = ARGUS_MESSAGE_BYTES(record->arg[1]),
        .other = record->arg[3],
        .thread = thread,
        .tag = tag,
        .flags = (uint8_t)ARGUS_MESSAGE_FLAGS(record->arg[1]),
        .slept = call->slept,
        .late = call->resumed_ns > call->message_ns,
    };
    call->message_ns = record->timestamp;
    uint32_t channel = find_channel(pairing, record->arg[0], kind);
    if (channel == ARGUS_NONE)
        return;
    pairing->fed++;
    pairing->now_ns = record->timestamp;
    pairing_find_settled(pairing, record->timestamp);
    if (message.flags & ARGUS_MESSAGE_DROPPED) {
        feed_dropped(pairing, channel, &message);
        return;
    }
    if (channel_kind_of(kind)->hands_over)
        note_hand_over(call, &message);
    else
        note_sleep(pairing, channel, &message);
    note_rivals(pairing, channel, &message);
    move_bytes(call, &message, channel_kind_of(kind)->datagram);
    feed_message(pairing, channel, &message);
}

/* --- interface --- */

void pairing_init(struct pairing *pairing, uint32_t page_bytes, pairing_sink sink, void *context)
{
    *pairing = (struct pairing){
        .sink = sink,
        .context = context,
        .page_bytes = page_bytes ? page_bytes : 4096,
        .free_parts = ARGUS_NONE,
    };
}

void pairing_deinit(struct pairing *pairing)
{
    vec_deinit(&pairing->parts);
    vec_deinit(&pairing->channels);
    vec_deinit(&pairing->elements);
    vec_deinit(&pairing->at_work);
    vec_deinit(&pairing->turns);
    idmap_deinit(&pairing->channel_by_key);
    idmap_deinit(&pairing->element_by_address);
}

void pairing_lost(struct pairing *pairing)
{
    pairing->losses++;
}

static void add_counts(struct argus_message_counts *sum, const struct argus_message_counts *part)
{
    sum->sends += part->sends;
    sum->receives += part->receives;
    sum->peeks += part->peeks;
    sum->sent_bytes += part->sent_bytes;
    sum->received_bytes += part->received_bytes;
    sum->exact += part->exact;
    sum->ambiguous += part->ambiguous;
    for (int i = 0; i < ARGUS_UNPAIRED_REASONS; i++) {
        sum->unpaired_sends[i] += part->unpaired_sends[i];
        sum->unpaired_receives[i] += part->unpaired_receives[i];
    }
}

/* Receives without a partner: if nothing was ever sent on a channel, the sender has no records at
 * all. Sends likewise. */
static void name_reasons(struct channel *channel)
{
    struct argus_message_counts *counts = &channel->seen.counts;
    counts->unpaired_receives[counts->sends ? ARGUS_UNPAIRED_BEFORE : ARGUS_UNPAIRED_UNSEEN] +=
        channel->early;
    channel->early = 0;
    if (counts->receives + counts->peeks)
        return;
    counts->unpaired_sends[ARGUS_UNPAIRED_UNSEEN] += counts->unpaired_sends[ARGUS_UNPAIRED_UNREAD];
    counts->unpaired_sends[ARGUS_UNPAIRED_UNREAD] = 0;
}

void pairing_finish(struct pairing *pairing)
{
    pairing->ending = true;
    pairing_element.finish(pairing, ARGUS_NONE);
    for (uint32_t i = 0; i < pairing->channels.length; i++) {
        const struct channel_kind *kind = channel_kind_of(pairing->channels.data[i].seen.kind);
        const struct pairing_family *family = kind->fallback ? kind->fallback : kind->family;
        if (family && family != &pairing_element)
            family->finish(pairing, i);
        name_reasons(&pairing->channels.data[i]);
        add_counts(&pairing->counts, &pairing->channels.data[i].seen.counts);
    }
}
