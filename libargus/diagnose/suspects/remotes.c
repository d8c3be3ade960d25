/* The other end of a connection, on another machine, for which a thread waits.
 *
 * No record shows what another machine does. But the trace has the address of the other end of each
 * socket that a thread connected, sent through or waited on. So a wait without a known waker can be
 * said to be for that address, and whether an answer came.
 *
 * A call on a socket names the socket, and so does a poll that returned it as ready. Of a poll that
 * timed out only its set is known; then the socket is taken to which the thread had sent last
 * before it waited, which is a guess.
 */
#include "diagnose/suspects/remotes.h"

#include <string.h>

#include "diagnose/suspects/sent.h"
#include "graph/text/object_name.h"
#include "graph/text/object_text.h"

static uint32_t index_of(const struct view *view, const struct argus_remote *remote)
{
    const struct argus_remote *remotes;
    argus_graph_remotes(view->graph, &remotes);
    return remote ? (uint32_t)(remote - remotes) : ARGUS_NONE;
}

/* Of a descriptor that the poll of `vertex` returned as ready. */
static const struct argus_remote *remote_ready(const struct view *view, uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_wait_detail *details;
    argus_graph_details(view->graph, &details);
    for (uint32_t i = v->wait.first_detail; i != ARGUS_NONE; i = details[i].next)
        if (details[i].kind == ARGUS_DETAIL_READY && object_is_inet(details[i].arg[3]))
            return remote_of(view->graph, details[i].arg[1], timeline_wait_end(view, vertex));
    return NULL;
}

/* Another process of this machine is at such an address, and has a thread to examine. */
static bool is_loopback(const struct argus_remote *remote)
{
    static const uint8_t loopback_of_6[16] = {[15] = 1};
    return remote->version == 4 ? remote->address[0] == 127
                                : memcmp(remote->address, loopback_of_6, 16) == 0;
}

/* A packet to many (announcements, "here I am") asks nobody in particular. */
static bool is_of_many(const struct argus_remote *remote)
{
    static const uint8_t broadcast[4] = {255, 255, 255, 255};
    if (remote->version != 4)
        return remote->address[0] == 0xff;
    return remote->address[0] >> 4 == 14 || memcmp(remote->address, broadcast, 4) == 0;
}

/* Whether a wait after a packet to the address may be for an answer from another machine. */
static bool may_answer(const struct argus_remote *remote)
{
    return !is_loopback(remote) && !is_of_many(remote);
}

/* The last one that the thread connected to in `vertex`. */
static const struct argus_remote *remote_connected(const struct view *view, uint32_t vertex)
{
    const struct argus_vertex *v = &view->vertices[vertex];
    const struct argus_remote *remotes, *found = NULL;
    size_t count = argus_graph_remotes(view->graph, &remotes);
    for (size_t i = 0; i < count; i++)
        if (remotes[i].thread == v->thread && may_answer(&remotes[i]) &&
            remotes[i].time_ns >= v->start_ns && remotes[i].time_ns <= v->end_ns &&
            (!found || remotes[i].time_ns > found->time_ns))
            found = &remotes[i];
    return found;
}

/* The last one that the thread sent to in `vertex`, or connected to. */
static struct argus_error *find_remote_asked(const struct view *view, uint32_t vertex,
                                             const struct argus_remote **ret)
{
    struct sent_list sent;
    uint64_t time_ns = 0;
    *ret = remote_connected(view, vertex);
    struct argus_error *error = sent_list_read(view, vertex, &sent);
    for (size_t i = 0; !error && i < sent.count; i++) {
        const struct argus_remote *remote =
            remote_of(view->graph, sent.items[i].other, sent.items[i].time_ns);
        bool is_inet =
            sent.items[i].kind == ARGUS_CHANNEL_TCP || sent.items[i].kind == ARGUS_CHANNEL_UDP;
        if (!is_inet || !remote || !may_answer(remote) || sent.items[i].time_ns < time_ns)
            continue;
        if (*ret && (*ret)->time_ns > sent.items[i].time_ns)
            continue;
        time_ns = sent.items[i].time_ns;
        *ret = remote;
    }
    return error;
}

/* The other end for which `vertex` waits. */
static struct argus_error *find_awaited(const struct view *view, uint32_t vertex,
                                        struct awaited_remote *ret)
{
    const struct argus_wait *wait = &view->vertices[vertex].wait;
    const struct argus_remote *found = NULL;
    *ret = (struct awaited_remote){.remote = ARGUS_NONE};
    if (object_is_inet(wait->object_type))
        found = remote_of(view->graph, wait->inode, timeline_wait_end(view, vertex));
    else if (wait->kind == ARGUS_WAIT_POLL)
        found = remote_ready(view, vertex);
    ret->answered = found && wait->outcome == ARGUS_OUTCOME_SATISFIED;
    struct argus_error *error = NULL;
    if (!found && wait->kind == ARGUS_WAIT_POLL && wait->outcome != ARGUS_OUTCOME_SATISFIED) {
        error = find_remote_asked(view, timeline_wait_begin(view, vertex), &found);
        ret->guess = true;
    }
    ret->remote = index_of(view, found);
    return error;
}

struct argus_error *awaited_remote_find(const struct view *view, uint32_t vertex, bool may_guess,
                                        struct awaited_remote *ret)
{
    struct argus_error *error = find_awaited(view, vertex, ret);
    if (ret->guess && !may_guess)
        ret->remote = ARGUS_NONE;
    return error;
}

static struct argus_error *note_guess(struct diagnoser *d, const struct awaited_remote *awaited)
{
    struct argus_reason guess = {.kind = ARGUS_REASON_GUESS_REMOTE, .remote = awaited->remote};
    d->guessed = true;
    return diagnoser_add_uncertain(d, &guess);
}

struct argus_error *diagnoser_blame_remote(struct diagnoser *d, uint32_t vertex, struct window part,
                                           uint64_t wait_ns, const struct awaited_remote *awaited)
{
    size_t before = d->culprits.length;
    struct argus_reason why = {
        .kind = ARGUS_REASON_WAITED,
        .because = awaited->answered ? ARGUS_REASON_REMOTE_LATE : ARGUS_REASON_REMOTE_SILENT,
        .vertex = vertex,
        .remote = awaited->remote,
        .ns = wait_ns,
        .many = argus_vertex_wait_ns(&d->view.vertices[vertex]) < wait_ns / 2};
    struct argus_error *error =
        diagnoser_add_culprit(d, vertex, ARGUS_TYPE_LONG_WAIT, part, wait_ns, &why);
    if (!error && d->culprits.length > before) {
        d->culprits.data[before].remote = awaited->remote;
        d->culprits.data[before].answered = awaited->answered;
    }
    return !error && awaited->guess ? note_guess(d, awaited) : error;
}
