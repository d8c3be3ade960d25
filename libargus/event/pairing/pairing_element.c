/* Pairs messages that are identified by the kernel's own buffer: unix sockets and UDP.
 *
 * A buffer (struct sk_buff) is put into the receiver's queue by the sender, and freed when the
 * receiver has taken all of it; only then can its address be reused. So between two sends with the
 * same address, the first was received completely. Two cases remain uncertain:
 *
 *   - A receive's record may come before that of its send, if the sender was delayed between
 *     queueing the buffer and the record. Such a send is marked as doubtful. Then the receive lies
 *     within the send's call and waits for its record. It may belong to another send, so these
 *     pairs are ambiguous. A send that is not doubtful comes before its receives.
 *   - A UDP receive is recorded only after the buffer was freed, so the record of the next send
 *     with this address may come before it. Then the buffer's previous contents are still stored,
 *     and sizes and times decide.
 */
#include "event/pairing/pairing.h"

/* Most receives of one buffer that may wait for its send: a stream's buffer can be taken in small
 * pieces. */
#define MOST_EARLY 65536u

static uint32_t find_element(struct pairing *pairing, uint64_t address)
{
    uint32_t element = idmap_get(&pairing->element_by_address, address);
    if (element != IDMAP_NONE)
        return element;
    element = (uint32_t)pairing->elements.length;
    if (element >= ARGUS_NONE - 1 ||
        !vec_push(&pairing->elements, (struct element){.receives = part_list_empty}) ||
        !idmap_put(&pairing->element_by_address, address, element)) {
        pairing->no_memory = true;
        return ARGUS_NONE;
    }
    return element;
}

static void dismiss_content(struct pairing *pairing, struct content *content,
                            enum argus_unpaired reason)
{
    if (content->there)
        pairing_settle(pairing, content->channel, SIDE_SEND, &content->send, reason);
    content->there = false;
}

/* Only the receiver may know the channel, if the sender's socket was not accepted yet. */
static uint32_t channel_of(struct pairing *pairing, const struct content *content,
                           uint32_t receiving)
{
    if (pairing->channels.data[content->channel].seen.id)
        return content->channel;
    pairing_add_sender(pairing, receiving, content->send.message.thread);
    return receiving;
}

/* Whether a receive can belong to these contents. */
static bool fits(const struct content *content, const struct message *receive)
{
    const struct message *send = &content->send.message;
    uint64_t left = send->bytes - content->send.covered;
    if (!content->there || receive->time_ns <= send->enter_ns)
        return false;
    if (!content->datagram || receive->flags & ARGUS_MESSAGE_TRUNCATED)
        return receive->bytes <= left;
    return receive->bytes == left;
}

/* Pairs `receive`, a message of channel `receiving`, with its bytes of the buffer. */
static void take_bytes(struct pairing *pairing, struct content *content, uint32_t receiving,
                       struct part *receive, bool sure)
{
    struct part *send = &content->send;
    uint64_t offset = send->covered, left = send->message.bytes - offset;
    uint64_t bytes = receive->message.bytes < left ? receive->message.bytes : left;
    bool doubtful = (send->message.flags | receive->message.flags) & ARGUS_MESSAGE_DOUBTFUL;
    bool exact =
        sure && !doubtful && fits(content, &receive->message) && content->losses == pairing->losses;
    pairing_emit(pairing, channel_of(pairing, content, receiving), send, offset, receive, 0, bytes,
                 exact);
    if (receive->message.flags & ARGUS_MESSAGE_PEEK)
        return;
    if (content->datagram)
        send->covered = send->message.bytes;
    content->there = send->covered < send->message.bytes;
}

/* `receive` belongs to an earlier buffer at this address, whose send has no record. */
static void dismiss_receive(struct pairing *pairing, uint32_t part)
{
    const struct part *receive = part_at(pairing, part);
    if (receive->message.flags & ARGUS_MESSAGE_PEEK)
        part_free(pairing, part);
    else
        pairing_dismiss(pairing, (uint32_t)receive->start, SIDE_RECEIVE, part,
                        ARGUS_UNPAIRED_BEFORE);
}

/* Handles the receives that came before `element->now`, in the order in which they came. */
static void take_early(struct pairing *pairing, struct element *element)
{
    struct part_list early = element->receives;
    struct content *now = &element->now;
    bool doubtful = now->send.message.flags & ARGUS_MESSAGE_DOUBTFUL;
    element->receives = part_list_empty;
    while (early.count) {
        uint32_t part = part_shift(pairing, &early);
        struct part *receive = part_at(pairing, part);
        uint32_t receiving = (uint32_t)receive->start;
        if (!doubtful || receive->message.time_ns <= now->send.message.enter_ns) {
            dismiss_receive(pairing, part);
        } else if (fits(now, &receive->message)) {
            take_bytes(pairing, now, receiving, receive, false);
            pairing_dismiss(pairing, receiving, SIDE_RECEIVE, part, ARGUS_UNPAIRED_UNCLEAR);
        } else { /* belongs to another send, which is still to come */
            part_append(pairing, &element->receives, part);
        }
    }
}

static void feed_send(struct pairing *pairing, uint32_t channel, struct element *element,
                      const struct message *message)
{
    const struct channel_kind *kind = channel_kind_of(pairing->channels.data[channel].seen.kind);
    if (!kind->late_receive)
        dismiss_content(pairing, &element->now, ARGUS_UNPAIRED_UNREAD);
    if (element->now.there) {
        element->overrun |= element->before.there;
        dismiss_content(pairing, &element->before, ARGUS_UNPAIRED_UNREAD);
        element->before = element->now;
    }
    element->now = (struct content){
        .send = {.message = *message},
        .losses = pairing->losses,
        .channel = channel,
        .there = true,
        .datagram = kind->datagram,
    };
    take_early(pairing, element);
}

/* The contents that a receive belongs to; NULL: unknown. `*ret_sure`: no others are possible. */
static struct content *choose_content(struct element *element, const struct message *message,
                                      bool late, bool clean, bool *ret_sure)
{
    bool now = fits(&element->now, message), before = fits(&element->before, message);
    /* A call that began after the new message was queued cannot have taken the old one. */
    if (now && message->enter_ns >= element->now.send.message.time_ns)
        before = false;
    *ret_sure = !(now && before) && !element->overrun;
    /* A receive in progress when the message was queued may belong to one from before the trace. */
    if (late && !before && message->enter_ns < element->now.send.message.time_ns && !clean)
        *ret_sure = false;
    element->overrun &= element->before.there || element->now.there;
    if (before)
        return &element->before;
    if (now)
        return &element->now;
    *ret_sure = false;
    return element->now.there && !element->now.datagram ? &element->now : NULL;
}

/* Whether the buffer at this address was freed unread, with its socket, and is another one by now:
 * what it had was for another channel. The new send has no record. */
static bool is_another_buffer(const struct pairing *pairing, const struct content *content,
                              uint32_t receiving)
{
    const struct channel *of = &pairing->channels.data[content->channel];
    return content->there && of->seen.id && content->channel != receiving;
}

static void feed_receive(struct pairing *pairing, uint32_t channel, struct element *element,
                         const struct message *message)
{
    bool sure;
    struct channel *at = &pairing->channels.data[channel];
    bool late = channel_kind_of(at->seen.kind)->late_receive;
    if (!late && is_another_buffer(pairing, &element->now, channel))
        dismiss_content(pairing, &element->now, ARGUS_UNPAIRED_UNREAD);
    struct content *content = choose_content(element, message, late, at->clean, &sure);
    if (content) {
        at->clean |= sure && message->enter_ns >= content->send.message.time_ns;
        struct part receive = {.message = *message};
        take_bytes(pairing, content, channel, &receive, sure);
        pairing_settle(pairing, channel, SIDE_RECEIVE, &receive, ARGUS_UNPAIRED_UNCLEAR);
        return;
    }
    uint32_t part = element->receives.count < MOST_EARLY ? part_take(pairing, message) : ARGUS_NONE;
    if (part != ARGUS_NONE) {
        part_at(pairing, part)->start = channel;
        part_append(pairing, &element->receives, part);
    } else if (!(message->flags & ARGUS_MESSAGE_PEEK)) {
        pairing_settle(pairing, channel, SIDE_RECEIVE, &(struct part){.message = *message},
                       ARGUS_UNPAIRED_UNCLEAR);
    }
}

static void feed(struct pairing *pairing, uint32_t channel, const struct message *message)
{
    uint32_t index = find_element(pairing, message->position);
    if (index == ARGUS_NONE)
        return;
    struct element *element = &pairing->elements.data[index];
    if (message->flags & ARGUS_MESSAGE_DROPPED)
        dismiss_content(pairing, &element->now, ARGUS_UNPAIRED_DROPPED);
    else if (message_side(message) == SIDE_SEND)
        feed_send(pairing, channel, element, message);
    else
        feed_receive(pairing, channel, element, message);
}

/* For all channels at once. */
static void finish(struct pairing *pairing, uint32_t channel)
{
    (void)channel;
    for (size_t i = 0; i < pairing->elements.length; i++) {
        struct element *element = &pairing->elements.data[i];
        dismiss_content(pairing, &element->now, ARGUS_UNPAIRED_UNREAD);
        dismiss_content(pairing, &element->before, ARGUS_UNPAIRED_UNREAD);
        while (element->receives.count)
            dismiss_receive(pairing, part_shift(pairing, &element->receives));
    }
}

const struct pairing_family pairing_element = {.feed = feed, .finish = finish};
