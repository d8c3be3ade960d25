#include "fleet/fleet_path.h"

#include <stdio.h>
#include <string.h>

#include "fleet/fleet_names.h"
#include "report/json.h"

/* A path that is longer is cut off; the sequence of programs repeats itself long before. */
enum { MOST_NAMES = 12 };

struct names {
    const char *separator;
    char *text;
    size_t bytes;
    char seen[MOST_NAMES][64];
    size_t count;
};

static void add_once(struct names *names, const char *name)
{
    char *seen = names->seen[names->count];
    for (size_t i = 0; i < names->count; i++)
        if (strncmp(names->seen[i], name, sizeof(names->seen[i]) - 1) == 0)
            return;
    if (names->count + 1 >= MOST_NAMES)
        return;
    snprintf(seen, sizeof(names->seen[0]), "%s", name);
    size_t length = strlen(names->text);
    snprintf(names->text + length, names->bytes - length, "%s%s",
             names->count ? names->separator : "", seen);
    names->count++;
}

static void add_program(struct names *names, const struct view *view, uint32_t vertex)
{
    char name[64];
    if (!timeline_is_kernel(view, vertex))
        add_once(names,
                 fleet_thread_name(timeline_process(view, vertex)->name, 4, name, sizeof(name)));
}

void fleet_path_programs(const struct view *view, const struct argus_diagnosis *diagnosis,
                         char *buffer, size_t bytes)
{
    struct names names = {.separator = " > ", .text = buffer, .bytes = bytes};
    buffer[0] = '\0';
    add_program(&names, view, diagnosis->hang.vertex);
    for (size_t i = 0; i < diagnosis->path_count; i++)
        add_program(&names, view, diagnosis->path[i].vertex);
    if (diagnosis->culprit_count)
        add_program(&names, view, diagnosis->culprits[0].vertex);
}

/* The part of a vertex's wait inside the hang. */
static uint64_t wait_inside_ns(const struct view *view, uint32_t vertex,
                               const struct argus_hang *hang)
{
    uint64_t start_ns = view->vertices[vertex].end_ns, end_ns = timeline_wait_end(view, vertex);
    start_ns = start_ns > hang->start_ns ? start_ns : hang->start_ns;
    end_ns = end_ns < hang->end_ns ? end_ns : hang->end_ns;
    return end_ns > start_ns ? end_ns - start_ns : 0;
}

static void add_wait(struct names *names, const struct view *view, uint32_t vertex,
                     const struct argus_hang *hang)
{
    uint8_t kind = view->vertices[vertex].wait.kind;
    uint64_t least_ns = (hang->end_ns - hang->start_ns) / 10;
    if (kind != ARGUS_WAIT_NONE && !timeline_is_kernel(view, vertex) &&
        wait_inside_ns(view, vertex, hang) >= least_ns)
        add_once(names, argus_wait_kind_name((enum argus_wait_kind)kind));
}

void fleet_path_waits(const struct view *view, const struct argus_diagnosis *diagnosis,
                      char *buffer, size_t bytes)
{
    struct names names = {.separator = ", ", .text = buffer, .bytes = bytes};
    buffer[0] = '\0';
    add_wait(&names, view, diagnosis->hang.vertex, &diagnosis->hang);
    for (size_t i = 0; i < diagnosis->path_count; i++)
        add_wait(&names, view, diagnosis->path[i].vertex, &diagnosis->hang);
}

/* --- how the time was spent --- */

uint64_t fleet_duration_ns(uint64_t ns)
{
    const uint64_t most_ns = 10ull * 365 * 86400 * 1000000000;
    return ns < most_ns ? ns : most_ns;
}

enum { REASONS_OF_STATES = 3, REASONS = REASONS_OF_STATES + ARGUS_WAIT_OTHER + 1 };

static size_t reason_of(const struct view *view, const struct argus_stretch *stretch)
{
    if (stretch->state == ARGUS_STRETCH_RUNNING)
        return 0;
    if (stretch->state == ARGUS_STRETCH_RUNNABLE)
        return 1;
    uint8_t kind = stretch->vertex == ARGUS_NONE ? (uint8_t)ARGUS_WAIT_NONE
                                                 : view->vertices[stretch->vertex].wait.kind;
    if (stretch->state == ARGUS_STRETCH_UNKNOWN || kind == ARGUS_WAIT_NONE ||
        kind > ARGUS_WAIT_OTHER)
        return 2;
    return REASONS_OF_STATES + kind;
}

static const char *reason_name(size_t reason)
{
    static const char *const names[] = {"running", "no cpu", "unknown"};
    return reason < REASONS_OF_STATES
               ? names[reason]
               : argus_wait_kind_name((enum argus_wait_kind)(reason - REASONS_OF_STATES));
}

static size_t largest(const uint64_t *sums)
{
    size_t best = 0;
    for (size_t i = 1; i < REASONS; i++)
        best = sums[i] > sums[best] ? i : best;
    return best;
}

json_t *fleet_path_shares(const struct view *view, const struct argus_diagnosis *diagnosis)
{
    uint64_t sums[REASONS] = {0};
    json_t *shares = json_array();
    for (size_t i = 0; i < diagnosis->accounting.count; i++) {
        const struct argus_stretch *stretch = &diagnosis->accounting.stretches[i];
        sums[reason_of(view, stretch)] += stretch->end_ns - stretch->start_ns;
    }
    for (size_t next = largest(sums); sums[next]; next = largest(sums)) {
        json_t *share = json_object();
        json_put(share, "reason", json_text(reason_name(next)));
        json_put(share, "ns", json_ns(fleet_duration_ns(sums[next])));
        json_add(shares, share);
        sums[next] = 0;
    }
    return shares;
}
