/* Pings that were not answered within the threshold.
 *
 * A window manager or compositor pings a program when the user wants something of it, and takes it
 * for hung when no answer comes. Pings and answers are records of probes (share/probes.conf), so
 * both must have been recorded. An X11 ping names a window. The process that answers a ping for the
 * window, before or later, is its owner; a window for which no ping in the trace was answered has
 * no known owner and is skipped. Wayland's serial numbers differ from ping to ping, so only late
 * answers are found.
 */
#include <string.h>

#include "base/idmap.h"
#include "diagnose/hangs/finder.h"

/* The request of xdg_wm_base that is the answer (xdg-shell.xml). */
#define WAYLAND_PONG 3

/* What a ping names: a window, or a serial number. */
struct ping_target {
    uint64_t key;
    uint64_t since_ns; /* the time of the first ping without an answer; 0: none */
    uint32_t process;  /* the process that answers; ARGUS_NONE: not known */
};

struct search {
    struct finder *finder;
    struct idmap by_key;
    VEC(struct ping_target) targets;
    bool no_memory;
};

enum meaning { MEANS_NOTHING, MEANS_PING, MEANS_ANSWER };

static enum meaning x11_meaning(const struct argus_ping *ping)
{
    return !ping->key ? MEANS_NOTHING : ping->key == ping->to ? MEANS_PING : MEANS_ANSWER;
}

static enum meaning wayland_ping(const struct argus_ping *ping)
{
    return ping->to == 0 ? MEANS_PING : MEANS_NOTHING;
}

static enum meaning wayland_pong(const struct argus_ping *ping)
{
    return ping->to == WAYLAND_PONG ? MEANS_ANSWER : MEANS_NOTHING;
}

/* To add a protocol: the label of its probes, and what each of their records means. */
static const struct {
    const char *label;
    enum meaning (*meaning)(const struct argus_ping *ping);
} protocols[] = {
    {"X11 ping", x11_meaning},
    {"Wayland ping", wayland_ping},
    {"Wayland pong", wayland_pong},
};

static enum meaning meaning_of(const struct search *search, const struct argus_ping *ping)
{
    const struct argus_probe_entry *probe =
        argus_graph_probe(search->finder->view->graph, ping->probe);
    for (size_t i = 0; probe && i < sizeof(protocols) / sizeof(*protocols); i++)
        if (strcmp(probe->label, protocols[i].label) == 0)
            return protocols[i].meaning(ping);
    return MEANS_NOTHING;
}

static struct ping_target *find_target(struct search *search, uint64_t key, bool make)
{
    uint32_t at = idmap_get(&search->by_key, key);
    if (at != IDMAP_NONE)
        return &search->targets.data[at];
    struct ping_target made = {.key = key, .process = ARGUS_NONE};
    if (!make)
        return NULL;
    at = (uint32_t)search->targets.length;
    if (!vec_push(&search->targets, made) || !idmap_put(&search->by_key, key, at)) {
        search->no_memory = true;
        return NULL;
    }
    return &search->targets.data[at];
}

/* Adds a sign: a ping had no answer from `since_ns` to `until_ns`. */
static void add_ping_sign(struct search *search, uint32_t process, uint64_t since_ns,
                          uint64_t until_ns)
{
    const struct argus_hang_options *options = search->finder->options;
    uint64_t threshold_ns = argus_hang_threshold_ns(options);
    struct sign sign = {since_ns + threshold_ns, process, ARGUS_INDICATOR_PING};
    if (process != ARGUS_NONE && until_ns > since_ns && until_ns - since_ns >= threshold_ns)
        search->no_memory |= !finder_add_sign(search->finder, &sign);
}

/* `learn`: the first pass, which finds the process that answers for each window; the second pass
 * finds what was not answered in time. */
static void scan_ping(struct search *search, const struct argus_ping *ping, bool learn)
{
    enum meaning meaning = meaning_of(search, ping);
    struct ping_target *target =
        meaning == MEANS_NOTHING ? NULL
                                 : find_target(search, ping->key, learn && meaning == MEANS_PING);
    if (!target)
        return;
    if (meaning == MEANS_PING) {
        target->since_ns = target->since_ns ? target->since_ns : ping->time_ns;
        return;
    }
    if (!target->since_ns)
        return;
    if (learn)
        target->process = search->finder->view->threads[ping->thread].process;
    else
        add_ping_sign(search, target->process, target->since_ns, ping->time_ns);
    target->since_ns = 0;
}

bool indicator_ping(struct finder *finder)
{
    struct search search = {.finder = finder};
    const struct argus_ping *pings;
    size_t count = argus_graph_pings(finder->view->graph, &pings);
    for (size_t i = 0; i < count; i++)
        scan_ping(&search, &pings[i], true);
    for (size_t i = 0; i < search.targets.length; i++)
        search.targets.data[i].since_ns = 0;
    for (size_t i = 0; i < count; i++)
        scan_ping(&search, &pings[i], false);
    for (size_t i = 0; i < search.targets.length; i++)
        if (search.targets.data[i].since_ns)
            add_ping_sign(&search, search.targets.data[i].process, search.targets.data[i].since_ns,
                          argus_graph_end_ns(finder->view->graph));
    vec_deinit(&search.targets);
    idmap_deinit(&search.by_key);
    return !search.no_memory;
}
