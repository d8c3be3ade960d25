#include "channel_model.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, BUFFERS = 16, TCP_ROOM = 200000, MOST_QUEUED = 10 };

/* The next step of a thread. */
enum step { STEP_ENTER, STEP_DO, STEP_LOOK, STEP_RECORD };

struct operation {
    uint64_t enter_ns, bytes, done, position, element, other;
    uint32_t id;
    uint8_t flags;
    bool slept;
};

struct actor {
    enum step step;
    bool receiver;
    struct operation operation;
    struct pairing_call call;
    uint64_t stopped_until; /* step */
};

/* One unit of a stream, or one datagram: its sender. */
struct unit {
    uint32_t send;
    uint32_t offset;
};

/* A message in a buffer of its own. */
struct buffer {
    uint64_t address, bytes, taken, priority;
    uint32_t send;
};

struct pipe_buffer {
    uint64_t offset, length;
};

struct receipt {
    uint64_t first; /* index of its first unit */
    uint32_t send;  /* datagrams: the sender of each */
};

struct model {
    const struct model_options *options;
    uint64_t random, now, steps;
    struct actor actors[MODEL_MOST_THREADS];
    uint32_t actor_count, started;
    struct pipe_buffer ring[BUFFERS];
    uint64_t head, tail, written, taken;
    uint64_t last_place;          /* of a send into a pipe */
    VEC(struct unit) units;       /* of a stream, in its order */
    VEC(struct buffer) queue;     /* of messages with buffers of their own */
    VEC(struct receipt) receipts; /* by id of the receive */
    struct pairing pairing;
    uint64_t records;
    uint64_t began_ns; /* the trace */
    struct model_result result;
};

static uint64_t draw(struct model *model, uint64_t below)
{
    model->random ^= model->random << 13;
    model->random ^= model->random >> 7;
    model->random ^= model->random << 17;
    return (model->random >> 16) % below;
}

static bool is_datagram(const struct model *model)
{
    return channel_kind_of(model->options->kind)->datagram;
}

static bool is_unix(const struct model *model)
{
    return model->options->kind >= ARGUS_CHANNEL_UNIX_STREAM &&
           model->options->kind <= ARGUS_CHANNEL_UNIX_DATAGRAM;
}

static bool is_queue(const struct model *model)
{
    return model->options->kind == ARGUS_CHANNEL_MQUEUE;
}

static bool has_buffers(const struct model *model)
{
    return is_datagram(model) || model->options->kind == ARGUS_CHANNEL_UNIX_STREAM;
}

/* --- a pipe (fs/pipe.c) --- */

static void pipe_put(struct model *model, struct operation *operation)
{
    uint64_t left = operation->bytes - operation->done, odd = left % PAGE;
    struct pipe_buffer *last = &model->ring[(model->head - 1) % BUFFERS];
    bool empty = model->head == model->tail;
    if (!operation->done && odd && !empty && last->offset + last->length + odd <= PAGE) {
        last->length += odd;
        operation->done += odd;
    }
    while (operation->done < operation->bytes && model->head - model->tail < BUFFERS) {
        left = operation->bytes - operation->done;
        uint64_t part = left < PAGE ? left : PAGE;
        model->ring[model->head++ % BUFFERS] = (struct pipe_buffer){0, part};
        operation->done += part;
    }
}

static uint64_t pipe_take(struct model *model, uint64_t most)
{
    uint64_t taken = 0;
    while (taken < most && model->tail != model->head) {
        struct pipe_buffer *first = &model->ring[model->tail % BUFFERS];
        uint64_t part = first->length < most - taken ? first->length : most - taken;
        first->offset += part;
        first->length -= part;
        taken += part;
        if (!first->length)
            model->tail++;
    }
    return taken;
}

static uint64_t pipe_position(const struct model *model, bool receiver)
{
    uint64_t index = receiver ? model->tail : model->head - 1;
    const struct pipe_buffer *at = &model->ring[index % BUFFERS];
    if (receiver)
        return (index & UINT32_MAX) << 20 | (model->tail == model->head ? 0 : at->offset);
    return (index & UINT32_MAX) << 20 | (at->offset + at->length);
}

/* The recorder's own check (recorder/linux/bpf/message_pipe.h): whether the write follows the last
 * one seen. */
static bool pipe_fits(const struct model *model, const struct operation *operation)
{
    uint64_t from = model->last_place, to = operation->position, page = PAGE;
    uint64_t odd = operation->bytes % page, pages = operation->bytes / page;
    uint64_t buffers = (uint32_t)((to >> 20) - (from >> 20)), begin = from & 0xfffff,
             end = to & 0xfffff;
    bool merged =
        odd && begin + odd <= page && buffers == pages && end == (pages ? page : begin + odd);
    bool fresh = buffers == pages + (odd != 0) && end == (odd ? odd : page);
    return merged || fresh;
}

/* --- streams --- */

static void add_units(struct model *model, const struct operation *operation, uint64_t from)
{
    for (uint64_t i = from; i < operation->done; i++)
        if (!vec_push(&model->units, (struct unit){operation->id, (uint32_t)i}))
            abort();
    model->written += operation->done - from;
}

/* False if there is no room, so that the thread sleeps. */
static bool send_stream(struct model *model, struct operation *operation)
{
    uint64_t before = operation->done;
    if (model->options->kind == ARGUS_CHANNEL_PIPE)
        pipe_put(model, operation);
    else if (model->written - model->taken < TCP_ROOM)
        operation->done = operation->bytes;
    add_units(model, operation, before);
    return operation->done == operation->bytes;
}

static uint64_t units_wanted(const struct model *model, const struct operation *operation)
{
    uint64_t left = model->written - model->taken;
    if (model->options->kind == ARGUS_CHANNEL_EVENTFD)
        return model->options->semaphore ? 1 : left;
    return operation->bytes < left ? operation->bytes : left;
}

static bool receive_stream(struct model *model, struct operation *operation)
{
    uint64_t wanted = units_wanted(model, operation);
    if (model->written == model->taken)
        return false;
    model->receipts.data[operation->id].first = model->taken;
    if (operation->flags & ARGUS_MESSAGE_PEEK) {
        operation->bytes = wanted;
        return true;
    }
    operation->bytes =
        model->options->kind == ARGUS_CHANNEL_PIPE ? pipe_take(model, wanted) : wanted;
    model->taken += operation->bytes;
    return true;
}

/* --- messages with buffers of their own --- */

/* Returns the lowest free address, so that addresses are reused at once. */
static uint64_t free_address(const struct model *model)
{
    for (uint64_t address = 0x1000;; address += 0x100) {
        bool used = false;
        for (size_t i = 0; i < model->queue.length; i++)
            used |= model->queue.data[i].address == address;
        if (!used)
            return address;
    }
}

static bool send_buffer(struct model *model, struct operation *operation)
{
    if (model->queue.length >= MOST_QUEUED)
        return false;
    operation->element = free_address(model);
    operation->done = operation->bytes;
    struct buffer buffer = {operation->element, operation->bytes, 0, operation->other,
                            operation->id};
    if (!vec_push(&model->queue, buffer))
        abort();
    return true;
}

static size_t next_buffer(const struct model *model)
{
    size_t best = 0;
    for (size_t i = 1; model->options->kind == ARGUS_CHANNEL_MQUEUE && i < model->queue.length; i++)
        if (model->queue.data[i].priority > model->queue.data[best].priority)
            best = i;
    return best;
}

static bool receive_buffer(struct model *model, struct operation *operation)
{
    if (!model->queue.length)
        return false;
    size_t index = next_buffer(model);
    struct buffer *buffer = &model->queue.data[index];
    uint64_t left = buffer->bytes - buffer->taken;
    if (is_datagram(model) || operation->bytes > left)
        operation->bytes = left;
    operation->element = buffer->address;
    operation->other = buffer->priority;
    model->receipts.data[operation->id] = (struct receipt){buffer->taken, buffer->send};
    if (operation->flags & ARGUS_MESSAGE_PEEK)
        return true;
    buffer->taken += operation->bytes;
    if (buffer->taken == buffer->bytes) {
        memmove(buffer, buffer + 1, (model->queue.length - index - 1) * sizeof(*buffer));
        model->queue.length--;
    }
    return true;
}

/* --- steps --- */

static void enter(struct model *model, struct actor *actor)
{
    uint64_t most = model->options->most_bytes;
    actor->operation = (struct operation){
        .enter_ns = model->now,
        .bytes = 1 + draw(model, draw(model, 4) ? most : 8),
        .id = actor->receiver ? (uint32_t)model->receipts.length : model->started++,
        .flags = actor->receiver ? ARGUS_MESSAGE_RECEIVE : 0,
    };
    if (model->options->sizes)
        actor->operation.bytes = most / (1 + draw(model, model->options->sizes));
    if (model->options->kind == ARGUS_CHANNEL_MQUEUE)
        actor->operation.other = 1 + draw(model, 3);
    if (model->options->kind == ARGUS_CHANNEL_EVENTFD)
        actor->operation.bytes = 1 + draw(model, 3);
    if (actor->receiver) {
        if (draw(model, 100) < model->options->peek)
            actor->operation.flags |= ARGUS_MESSAGE_PEEK;
        if (!vec_push(&model->receipts, (struct receipt){0}))
            abort();
    }
    actor->call = (struct pairing_call){.enter_ns = model->now};
    pairing_thread_works(&model->pairing, (uint32_t)(actor - model->actors), model->now);
    actor->step = STEP_DO;
}

static void look(struct model *model, struct actor *actor)
{
    struct operation *operation = &actor->operation;
    actor->step = STEP_RECORD;
    operation->flags |= ARGUS_MESSAGE_POSITION;
    switch (model->options->kind) {
    case ARGUS_CHANNEL_PIPE:
        operation->position = pipe_position(model, actor->receiver);
        if (!actor->receiver && model->last_place)
            operation->flags |=
                pipe_fits(model, operation) ? ARGUS_MESSAGE_CERTAIN : ARGUS_MESSAGE_DOUBTFUL;
        if (!actor->receiver)
            model->last_place = operation->position;
        break;
    case ARGUS_CHANNEL_TCP: /* wraps soon */
        operation->position =
            (uint32_t)(0xfffff000u + (actor->receiver ? model->taken : model->written));
        break;
    case ARGUS_CHANNEL_EVENTFD:
        operation->position = model->written - model->taken;
        break;
    case ARGUS_CHANNEL_MQUEUE:
        operation->position = model->queue.length;
        break;
    default:
        operation->position = operation->element;
    }
}

static void deliver(struct model *model, struct actor *actor, const struct argus_record *record,
                    uint32_t thread)
{
    if (model->records++ < model->options->skip) {
        model->began_ns = model->now;
        return;
    }
    if (actor->call.enter_ns <= model->began_ns)
        actor->call.enter_ns = 0;
    if (draw(model, 1000) < model->options->lose)
        pairing_lost(&model->pairing);
    else
        pairing_feed(&model->pairing, record, &actor->call, thread, actor->operation.id);
}

static void record(struct model *model, struct actor *actor)
{
    struct operation *operation = &actor->operation;
    struct argus_record made = {
        .timestamp = model->now,
        .arg = {7, ARGUS_MESSAGE_WHAT(operation->bytes, model->options->kind, operation->flags),
                operation->position, operation->other},
        .debugid = ARGUS_ID_MESSAGE,
    };
    uint32_t thread = (uint32_t)(actor - model->actors);
    actor->step = STEP_ENTER;
    deliver(model, actor, &made, thread);
    pairing_thread_rests(&model->pairing, thread);
}

static void operate(struct model *model, struct actor *actor)
{
    struct operation *operation = &actor->operation;
    uint32_t thread = (uint32_t)(actor - model->actors);
    bool done;
    if (actor->call.slept)
        pairing_thread_works(&model->pairing, thread, model->now);
    if (has_buffers(model))
        done = actor->receiver ? receive_buffer(model, operation) : send_buffer(model, operation);
    else
        done = actor->receiver ? receive_stream(model, operation) : send_stream(model, operation);
    actor->call.slept |= !done;
    if (!done) {
        pairing_thread_rests(&model->pairing, thread);
        return;
    }
    actor->step = STEP_LOOK;
    /* Receives of unix sockets are recorded before they release the buffer; sends into buffers at
     * once, or they are marked (recorder/linux/bpf/message_unix.h). */
    bool at_once = actor->receiver ? is_unix(model) : draw(model, 100) >= model->options->vague;
    if (!has_buffers(model) || is_queue(model))
        return;
    if (!at_once && !actor->receiver)
        operation->flags |= ARGUS_MESSAGE_DOUBTFUL;
    if (at_once) {
        look(model, actor);
        record(model, actor);
    }
}

/* --- the result --- */

/* Units have no order inside one receive. */
static uint64_t units_of(const struct model *model, uint32_t send, uint64_t first, uint64_t count)
{
    uint64_t found = 0;
    for (uint64_t i = first; i < first + count; i++)
        found += model->units.data[i].send == send;
    return found;
}

static bool is_true(const struct model *model, const struct pairing_pair *pair)
{
    uint32_t send = pair->send->tag;
    const struct receipt *receipt = &model->receipts.data[pair->receive->tag];
    if (has_buffers(model))
        return receipt->send == send &&
               (is_datagram(model) || receipt->first + pair->receive_offset == pair->send_offset);
    if (model->options->kind == ARGUS_CHANNEL_EVENTFD)
        return units_of(model, send, receipt->first, pair->receive->bytes) == pair->bytes;
    for (uint64_t i = 0; i < pair->bytes; i++) {
        const struct unit *unit = &model->units.data[receipt->first + pair->receive_offset + i];
        if (unit->send != send || unit->offset != pair->send_offset + i)
            return false;
    }
    return true;
}

static void take_pair(void *context, const struct pairing_pair *pair)
{
    struct model *model = context;
    bool right = is_true(model, pair);
    model->result.wrong += pair->exact && !right;
    model->result.wrong_guesses += !pair->exact && !right;
    if (pair->receive->flags & ARGUS_MESSAGE_PEEK)
        return;
    *(pair->exact ? &model->result.exact_bytes : &model->result.ambiguous_bytes) += pair->bytes;
}

/* Skips stopped threads, unless all are stopped. */
static struct actor *pick(struct model *model, struct actor *last)
{
    struct actor *actor = &model->actors[draw(model, model->actor_count)];
    if (last && draw(model, 100) < model->options->hurry)
        actor = last;
    for (uint32_t i = 0; i < model->actor_count && actor->stopped_until > model->steps; i++)
        actor = actor + 1 < model->actors + model->actor_count ? actor + 1 : model->actors;
    model->steps++;
    if (draw(model, 1000) < model->options->stall)
        actor->stopped_until = model->steps + MODEL_STALL_STEPS;
    return actor;
}

static bool is_empty(const struct model *model)
{
    return has_buffers(model) ? !model->queue.length : model->written == model->taken;
}

static void advance(struct model *model, struct actor *actor)
{
    model->now += 1 + draw(model, 100);
    switch (actor->step) {
    case STEP_ENTER:
        enter(model, actor);
        break;
    case STEP_DO:
        operate(model, actor);
        break;
    case STEP_LOOK:
        look(model, actor);
        break;
    case STEP_RECORD:
        record(model, actor);
        break;
    }
}

/* Whether work is left: unfinished senders, or unread data. */
static bool goes_on(const struct model *model)
{
    bool busy = model->started < model->options->messages || !is_empty(model);
    for (uint32_t i = 0; i < model->actor_count; i++) {
        const struct actor *actor = &model->actors[i];
        bool waits = actor->receiver && actor->step == STEP_DO;
        busy |= actor->step != STEP_ENTER && !waits;
    }
    return busy;
}

struct model_result model_run(const struct model_options *options)
{
    struct model model = {.options = options,
                          .random = options->seed * 2654435769u + 88172645463325252u};
    model.actor_count = options->senders + options->receivers;
    for (uint32_t i = 0; i < model.actor_count; i++)
        model.actors[i].receiver = i >= options->senders;
    if (options->kind == ARGUS_CHANNEL_PIPE &&
        options->skip) /* an old pipe: its number wraps soon */
        model.head = model.tail = UINT32_MAX - 20;
    pairing_init(&model.pairing, PAGE, take_pair, &model);
    struct actor *last = NULL;
    while (goes_on(&model)) {
        struct actor *actor = pick(&model, last);
        bool idle = actor->step == STEP_ENTER;
        if (idle && !actor->receiver && model.started >= options->messages)
            continue;
        advance(&model, actor);
        last = actor;
    }
    pairing_finish(&model.pairing);
    model.result.counts = model.pairing.counts;
    model.result.received_bytes = model.pairing.counts.received_bytes;
    if (model.pairing.no_memory)
        abort();
    pairing_deinit(&model.pairing);
    vec_deinit(&model.units);
    vec_deinit(&model.queue);
    vec_deinit(&model.receipts);
    return model.result;
}
