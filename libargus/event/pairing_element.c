/* Messages that the kernel's own buffer names: unix sockets and UDP.
 *
 * A buffer (struct sk_buff) goes from the sender's hands into the receiver's queue and is freed when the receiver has taken
 * all of it; only then can its address come again. So between two sends with one address lies the end of the first one,
 * and there is nothing to guess. A receive is sometimes on record before its send: the sender was held up between queueing
 * the buffer and saying so. Then the receive lies in the time of the send's call, and waits for it.
 */
#include "event/pairing.h"

/* Receives of one buffer that may wait for its send: a stream's buffer can be taken in small pieces. */
#define MOST_EARLY 65536u

static uint32_t find_element(struct pairing *pairing, uint64_t address)
{
    uint32_t element = idmap_get(&pairing->element_by_address, address);
    if (element != IDMAP_NONE)
        return element;
    element = (uint32_t)pairing->elements.length;
    struct element made = {.receives = part_list_empty, .channel = ARGUS_NONE};
    if (element >= ARGUS_NONE - 1 || !vec_push(&pairing->elements, made) ||
        !idmap_put(&pairing->element_by_address, address, element)) {
        pairing->no_memory = true;
        return ARGUS_NONE;
    }
    return element;
}

/* Only the receiver may know the channel: the sender's socket was not accepted yet. */
static uint32_t channel_of(struct pairing *pairing, const struct element *element,
                           uint32_t receiving)
{
    if (pairing->channels.data[element->channel].seen.id)
        return element->channel;
    pairing_add_sender(pairing, receiving, element->send.message.thread);
    return receiving;
}

/* Gives `receive`, a message of channel `receiving`, its bytes of the buffer. */
static void take_bytes(struct pairing *pairing, struct element *element, uint32_t receiving,
                       struct part *receive)
{
    struct part *send = &element->send;
    uint64_t bytes = receive->message.bytes, offset = element->datagram ? 0 : send->covered;
    uint64_t left = send->message.bytes - offset;
    bool cut = element->datagram && (receive->message.flags & ARGUS_MESSAGE_TRUNCATED);
    bool fits = bytes == left || (bytes < left && (cut || !element->datagram));
    bool doubtful = (send->message.flags | receive->message.flags) & ARGUS_MESSAGE_DOUBTFUL;
    pairing_emit(pairing, channel_of(pairing, element, receiving), send, offset, receive, 0,
                 bytes < left ? bytes : left,
                 fits && !doubtful && element->losses == pairing->losses);
    if (receive->message.flags & ARGUS_MESSAGE_PEEK)
        return;
    if (element->datagram)
        send->covered = send->message.bytes;
    element->sent = send->covered < send->message.bytes;
}

/* `receive` is of a buffer that was at this address before, and whose send has no record. */
static void dismiss_receive(struct pairing *pairing, uint32_t part)
{
    const struct part *receive = part_at(pairing, part);
    if (receive->message.flags & ARGUS_MESSAGE_PEEK)
        part_free(pairing, part);
    else
        pairing_dismiss(pairing, (uint32_t)receive->start, SIDE_RECEIVE, part,
                        ARGUS_UNPAIRED_BEFORE);
}

static void feed_send(struct pairing *pairing, uint32_t channel, struct element *element,
                      const struct message *message)
{
    struct part_list early = element->receives;
    if (element->sent)
        pairing_settle(pairing, element->channel, SIDE_SEND, &element->send, ARGUS_UNPAIRED_UNREAD);
    *element = (struct element){
        .send = {.message = *message},
        .receives = part_list_empty,
        .losses = pairing->losses,
        .channel = channel,
        .sent = true,
        .datagram = channel_kind_of(pairing->channels.data[channel].seen.kind)->datagram,
    };
    while (early.count) {
        uint32_t part = part_shift(pairing, &early);
        struct part *receive = part_at(pairing, part);
        if (!element->sent || receive->message.time_ns <= message->enter_ns) {
            dismiss_receive(pairing, part);
            continue;
        }
        take_bytes(pairing, element, (uint32_t)receive->start, receive);
        pairing_dismiss(pairing, (uint32_t)receive->start, SIDE_RECEIVE, part,
                        ARGUS_UNPAIRED_UNCLEAR);
    }
}

static void feed_receive(struct pairing *pairing, uint32_t channel, struct element *element,
                         const struct message *message)
{
    if (element->sent) {
        struct part receive = {.message = *message};
        take_bytes(pairing, element, channel, &receive);
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
    if (message->flags & ARGUS_MESSAGE_DROPPED) {
        if (element->sent)
            pairing_settle(pairing, element->channel, SIDE_SEND, &element->send,
                           ARGUS_UNPAIRED_DROPPED);
        element->sent = false;
    } else if (message_side(message) == SIDE_SEND) {
        feed_send(pairing, channel, element, message);
    } else {
        feed_receive(pairing, channel, element, message);
    }
}

/* Of all channels at once. */
static void finish(struct pairing *pairing, uint32_t channel)
{
    (void)channel;
    for (size_t i = 0; i < pairing->elements.length; i++) {
        struct element *element = &pairing->elements.data[i];
        if (element->sent)
            pairing_settle(pairing, element->channel, SIDE_SEND, &element->send,
                           ARGUS_UNPAIRED_UNREAD);
        element->sent = false;
        while (element->receives.count)
            dismiss_receive(pairing, part_shift(pairing, &element->receives));
    }
}

const struct pairing_family pairing_element = {.feed = feed, .finish = finish};
