/* Batching suspects: segments that exchange messages or wake-ups with several applications
 * (argus/inspect.h).
 *
 * Two passes over all vertices: the first counts such segments for each thread; the second gathers
 * peers and examples for the few threads that are shown.
 */
#include "graph/inspect/inspector.h"

#include <stdlib.h>
#include <string.h>

enum role { ROLE_NONE, ROLE_RELAY, ROLE_SUSPECT };

/* So many peers are listed separately; the rest is only counted. */
enum { MOST_TOLD_APART = 64 };

struct tally {
    uint64_t vertices, caused_by_several, causes_in_several;
    uint32_t thread;
    uint32_t most;
};

struct gathering {
    struct example_list examples;
    struct argus_peer peers[MOST_TOLD_APART];
    uint32_t last_vertex[MOST_TOLD_APART]; /* the vertex in which each peer was last counted */
    uint32_t count, more;
};

static enum role role_of(const struct peer_list *peers)
{
    if (peers->count < 2)
        return ROLE_NONE;
    return peers_are_mixed(peers) ? ROLE_SUSPECT : ROLE_RELAY;
}

static void count_vertex(const struct inspector *inspector, uint32_t vertex, struct tally *tallies)
{
    struct peer_list peers;
    peers_of(inspector, vertex, &peers);
    enum role role = role_of(&peers);
    inspector->result->relays += role == ROLE_RELAY;
    if (role != ROLE_SUSPECT)
        return;
    struct tally *tally = &tallies[inspector->vertices[vertex].thread];
    tally->vertices++;
    tally->caused_by_several += __builtin_popcount(peers.causes) > 1;
    tally->causes_in_several += __builtin_popcount(peers.effects) > 1;
    if (tally->most < peers.count)
        tally->most = peers.count;
}

static int by_vertices(const void *left, const void *right)
{
    const struct tally *a = left, *b = right;
    if (a->vertices != b->vertices)
        return a->vertices > b->vertices ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* The index of an application among the peers, by its name; MOST_TOLD_APART if there is no room. */
static uint32_t place_of(const struct inspector *inspector, struct gathering *gathering,
                         uint32_t application)
{
    const char *name = inspector->processes[application].name;
    uint32_t at = 0;
    while (at < gathering->count &&
           strcmp(inspector->processes[gathering->peers[at].process].name, name) != 0)
        at++;
    if (at == MOST_TOLD_APART)
        return at;
    if (at == gathering->count) {
        gathering->peers[at] = (struct argus_peer){.process = application};
        gathering->last_vertex[at] = ARGUS_NONE;
        gathering->count++;
    }
    gathering->peers[at].several |= gathering->peers[at].process != application;
    return at;
}

static void gather_vertex(const struct inspector *inspector, uint32_t vertex,
                          struct gathering *gathering)
{
    struct peer_list peers;
    peers_of(inspector, vertex, &peers);
    if (role_of(&peers) != ROLE_SUSPECT)
        return;
    examples_offer(&gathering->examples, vertex, peers.count);
    for (uint32_t i = 0; i < peers.count; i++) {
        uint32_t at = place_of(inspector, gathering, peers.applications[i]);
        if (at == MOST_TOLD_APART) {
            gathering->more++;
        } else if (gathering->last_vertex[at] != vertex) {
            gathering->last_vertex[at] = vertex;
            gathering->peers[at].vertices++;
        }
    }
}

/* Copies the most frequent peers to `ret`. */
static void choose_peers(struct gathering *gathering, struct argus_batching *ret)
{
    while (ret->peer_count < ARGUS_INSPECT_PEERS && ret->peer_count < gathering->count) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < gathering->count; i++)
            if (gathering->peers[i].vertices > gathering->peers[best].vertices)
                best = i;
        ret->peers[ret->peer_count++] = gathering->peers[best];
        gathering->peers[best].vertices = 0;
    }
    ret->more_peers = gathering->count - ret->peer_count + gathering->more;
}

static void choose_place(const struct inspector *inspector, struct argus_batching *ret)
{
    ret->place.vertex = ARGUS_NONE;
    for (uint32_t i = 0; i < ret->example_count && !ret->place.inside; i++) {
        struct argus_split_place place = split_place_find(inspector, ret->examples[i]);
        if (ret->place.vertex == ARGUS_NONE || place.inside)
            ret->place = place;
    }
}

static struct argus_batching describe(const struct inspector *inspector, const struct tally *tally)
{
    const struct argus_thread *thread = &inspector->threads[tally->thread];
    struct gathering gathering = {0};
    for (uint32_t i = 0; i < thread->vertex_count; i++)
        gather_vertex(inspector, thread->first_vertex + i, &gathering);
    struct argus_batching batching = {
        .vertices = tally->vertices,
        .caused_by_several = tally->caused_by_several,
        .causes_in_several = tally->causes_in_several,
        .all = thread->vertex_count,
        .thread = tally->thread,
        .most = tally->most,
        .example_count = gathering.examples.count,
    };
    memcpy(batching.examples, gathering.examples.vertices, sizeof(batching.examples));
    choose_peers(&gathering, &batching);
    choose_place(inspector, &batching);
    return batching;
}

struct argus_error *inspect_batching(struct inspector *inspector)
{
    struct argus_inspection *result = inspector->result;
    struct tally *tallies = calloc(inspector->thread_count + 1, sizeof(*tallies));
    if (!tallies)
        return argus_error_memory();
    for (size_t i = 0; i < inspector->vertex_count; i++)
        if (inspector_application(inspector, (uint32_t)i) != ARGUS_NONE)
            count_vertex(inspector, (uint32_t)i, tallies);
    size_t count = 0;
    for (size_t i = 0; i < inspector->thread_count; i++) {
        tallies[i].thread = (uint32_t)i;
        if (!tallies[i].vertices)
            continue;
        result->batching_vertices += tallies[i].vertices;
        tallies[count++] = tallies[i];
    }
    qsort(tallies, count, sizeof(*tallies), by_vertices);
    result->batching_threads = count;
    size_t shown = count < inspector->options->limit ? count : inspector->options->limit;
    result->batching = calloc(shown + 1, sizeof(*result->batching));
    for (size_t i = 0; result->batching && i < shown; i++)
        result->batching[result->batching_count++] = describe(inspector, &tallies[i]);
    free(tallies);
    return result->batching ? NULL : argus_error_memory();
}
