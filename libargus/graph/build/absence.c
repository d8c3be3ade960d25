/* Records for the analysis of event loops that are in neither vertices nor edges: whether a thread
 * was away from its event loop, and which input arrived meanwhile.
 *
 * A poll that returns at once is no wait and ends no vertex, yet it shows that the event loop is
 * responsive. So such calls are kept as *visits*: between two calls that blocked, for each kind of
 * poll, the number of calls and the longest time between two of them. Short stretches are left out,
 * because no analysis looks for absences that short.
 *
 * A message that was not received before the trace ended has no pair and so no edge. Its intended
 * receiver is known if a thread had received from the same channel before, or if one process alone
 * had the receiving end open when the recording ended; then it is that process's main thread. The
 * kernel may use the buffer of such a message again once the receiver has ended.
 */
#include "graph/build/absence.h"

#include <stdlib.h>

#include "graph/build/on_open_end.h"
#include "graph/build/thread_state.h"

/* At most so many kinds of poll that returned at once are kept since the thread last blocked in
 * one. */
#define MOST_VISITS 4
struct away {
    uint64_t since_ns; /* end of the last poll that blocked; 0: there was none */
    uint64_t last_ns;  /* end of the last poll, blocking or not; 0: there was none */
    struct argus_visits open[MOST_VISITS];
    uint32_t count;
};

struct absences {
    VEC(struct away) all;
    VEC(struct argus_unread) gone; /* messages whose buffers are used again */
};

struct absences *absences_create(void)
{
    return calloc(1, sizeof(struct absences));
}

void absences_destroy(struct absences *absences)
{
    if (!absences)
        return;
    vec_deinit(&absences->all);
    vec_deinit(&absences->gone);
    free(absences);
}

/* Visits that span less time are not kept. */
#define SHORTEST_VISITS_NS 20000000ull
/* Ready descriptors are kept only if the poll that found them ends a longer absence than this. */
#define SHORTEST_ABSENCE_NS 100000000ull

static struct away *away_of(struct builder *builder, uint32_t thread)
{
    struct thread_state *state = thread_at(builder, thread);
    if (!state->away) {
        if (!vec_push(&builder->absences->all, (struct away){.count = 0})) {
            builder->no_memory = true;
            return NULL;
        }
        state->away = (uint32_t)builder->absences->all.length;
    }
    return &builder->absences->all.data[state->away - 1];
}

/* Keeps the visits so far: the thread blocks, or the trace ends. */
static void keep(struct builder *builder, struct away *away)
{
    bool is_long = builder->now_ns - away->since_ns >= SHORTEST_VISITS_NS;
    for (uint32_t i = 0; is_long && i < away->count; i++)
        if (!vec_push(&builder->graph->visits, away->open[i]))
            builder->no_memory = true;
    away->count = 0;
    away->since_ns = builder->now_ns;
}

static struct argus_visits *find_visits(struct away *away, const struct argus_visits *made)
{
    for (uint32_t i = 0; i < away->count; i++)
        if (away->open[i].syscall == made->syscall && away->open[i].object == made->object)
            return &away->open[i];
    if (away->count == MOST_VISITS) /* drop the newest kind */
        away->count--;
    away->open[away->count] = *made;
    return &away->open[away->count++];
}

static void visit(struct builder *builder, struct away *away, uint32_t thread)
{
    const struct thread_state *state = thread_at(builder, thread);
    uint64_t now_ns = builder->now_ns;
    struct argus_visits made = {.first_ns = now_ns,
                                .last_ns = now_ns,
                                .gap_start_ns = now_ns,
                                .gap_end_ns = now_ns,
                                .object = state->arg[0],
                                .thread = thread,
                                .syscall = state->syscall};
    struct argus_visits *visits = find_visits(away, &made);
    if (now_ns - visits->last_ns > visits->gap_end_ns - visits->gap_start_ns) {
        visits->gap_start_ns = visits->last_ns;
        visits->gap_end_ns = now_ns;
    }
    visits->last_ns = now_ns;
    visits->count++;
}

void absence_forget(struct builder *builder)
{
    for (size_t i = 0; i < builder->absences->all.length; i++) {
        struct away *away = &builder->absences->all.data[i];
        keep(builder, away);
        away->since_ns = away->last_ns = 0;
    }
}

void absence_polled(struct builder *builder, uint32_t thread, bool blocked)
{
    struct away *away = away_of(builder, thread);
    if (!away)
        return;
    if (blocked)
        keep(builder, away);
    else
        visit(builder, away, thread);
    away->last_ns = builder->now_ns;
}

void absence_ready(struct builder *builder, uint32_t thread, const uint64_t arg[4])
{
    struct away *away = away_of(builder, thread);
    if (!away || builder->now_ns - away->last_ns < SHORTEST_ABSENCE_NS)
        return;
    struct argus_arrival arrival = {.time_ns = builder->now_ns,
                                    .fd = arg[0],
                                    .inode = arg[1],
                                    .peer = arg[2],
                                    .type = arg[3],
                                    .thread = thread};
    if (!vec_push(&builder->graph->arrivals, arrival))
        builder->no_memory = true;
}

static void add_unread(struct builder *builder, const struct argus_message_channel *channel,
                       const struct message *message, uint32_t receiver, bool gone)
{
    struct argus_unread unread = {.sent_ns = message->record_ns,
                                  .sender = message->thread,
                                  .receiver = receiver,
                                  .channel_kind = channel->kind};
    bool added = gone ? vec_push(&builder->absences->gone, unread)
                      : vec_push(&builder->graph->unread, unread);
    builder->no_memory |= !added;
}

static bool share_process(const struct builder *builder, uint32_t thread, uint32_t other)
{
    const struct machine *machine = &builder->graph->machine;
    return machine->threads.data[thread].process == machine->threads.data[other].process;
}

/* Whether `receiver` had an earlier eventfd at the same address of the kernel's memory, which is
 * what tells eventfds apart: the sender's process takes from this one itself. */
static bool had_earlier_one(const struct builder *builder,
                            const struct argus_message_channel *channel,
                            const struct message *message, uint32_t receiver)
{
    bool takes_itself = false;
    for (uint8_t i = 0; i < channel->receiver_count; i++)
        takes_itself |= share_process(builder, channel->receivers[i], message->thread);
    return channel->kind == ARGUS_CHANNEL_EVENTFD && takes_itself &&
           !share_process(builder, receiver, message->thread);
}

void absence_unread(void *context, const struct argus_message_channel *channel,
                    const struct message *message, bool gone)
{
    struct builder *builder = context;
    for (uint8_t i = 0; i < channel->receiver_count; i++)
        if (!had_earlier_one(builder, channel, message, channel->receivers[i]))
            add_unread(builder, channel, message, channel->receivers[i], gone);
    bool owned = channel->receiver_count == 0 && !gone;
    uint32_t owner = owned ? open_end_owner(builder, channel->id) : ARGUS_NONE;
    if (owner != ARGUS_NONE)
        add_unread(builder, channel, message, owner, false);
}

/* Whether the receiver's process ended after the message was sent. A process that lives closed its
 * end of the channel at an unknown time, and is not expected to take the message any more. */
static bool has_ended(const struct builder *builder, const struct argus_unread *unread)
{
    const struct machine *machine = &builder->graph->machine;
    uint32_t process = machine->threads.data[unread->receiver].process;
    uint64_t end_ns = machine->processes.data[process].end_ns;
    return end_ns != UINT64_MAX && unread->sent_ns <= end_ns;
}

/* A message whose buffer is used again was not received if its receiver has ended. */
static void add_gone(struct builder *builder)
{
    for (size_t i = 0; i < builder->absences->gone.length; i++) {
        const struct argus_unread *unread = &builder->absences->gone.data[i];
        if (has_ended(builder, unread) && !vec_push(&builder->graph->unread, *unread))
            builder->no_memory = true;
    }
}

static int by_thread(const void *left, const void *right)
{
    const struct argus_visits *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->first_ns != b->first_ns)
        return a->first_ns < b->first_ns ? -1 : 1;
    return a->object < b->object ? -1 : a->object > b->object;
}

static int by_receiver(const void *left, const void *right)
{
    const struct argus_unread *a = left, *b = right;
    if (a->receiver != b->receiver)
        return a->receiver < b->receiver ? -1 : 1;
    if (a->sent_ns != b->sent_ns)
        return a->sent_ns < b->sent_ns ? -1 : 1;
    return a->sender < b->sender ? -1 : a->sender > b->sender;
}

static int by_arrival(const void *left, const void *right)
{
    const struct argus_arrival *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->fd < b->fd ? -1 : a->fd > b->fd;
}

#define SORT(list, compare)                                                                        \
    do {                                                                                           \
        if ((list).length)                                                                         \
            qsort((list).data, (list).length, sizeof(*(list).data), compare);                      \
    } while (0)

bool absence_finish(struct builder *builder)
{
    struct argus_graph *graph = builder->graph;
    for (size_t i = 0; i < builder->absences->all.length; i++)
        keep(builder, &builder->absences->all.data[i]);
    add_gone(builder);
    SORT(graph->visits, by_thread);
    SORT(graph->unread, by_receiver);
    SORT(graph->arrivals, by_arrival);
    return !builder->no_memory;
}
