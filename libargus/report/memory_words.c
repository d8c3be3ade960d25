/* A culprit that got no memory, or that took it, in words. */
#include <inttypes.h>
#include <stdio.h>

#include "argus/report.h"
#include "report/phrases.h"
#include "report/reason_words.h"

/* "312 MB". */
static const char *bytes_text(uint64_t bytes, char *buffer, size_t size)
{
    if (bytes >= 10000000)
        snprintf(buffer, size, "%" PRIu64 " MB", (bytes + 500000) / 1000000);
    else
        snprintf(buffer, size, "%" PRIu64 " kB", (bytes + 500) / 1000);
    return buffer;
}

/* "control group app.slice was at its limit of 150 MB"; "" without a group. */
static const char *group_text(const struct argus_memory_lack *lack, char *buffer, size_t bytes)
{
    char limit[32], number[32];
    snprintf(number, sizeof(number), "with inode %" PRIu64, lack->group);
    buffer[0] = '\0';
    if (lack->group)
        snprintf(buffer, bytes, "control group %s was at its limit of %s",
                 lack->group_name[0] ? lack->group_name : number,
                 bytes_text(lack->limit_bytes, limit, sizeof(limit)));
    return buffer;
}

/* The parts of the time, the names of which say what the kernel did. */
static void add_parts(const struct argus_memory_lack *lack, char *buffer, size_t bytes)
{
    const struct {
        uint64_t ns;
        const char *text;
    } parts[] = {{lack->reclaim_ns, "freed memory of the machine"},
                 {lack->group_reclaim_ns, "freed memory of its control group"},
                 {lack->compaction_ns, "moved memory to make a large block"},
                 {lack->swap_ns, "waited for memory that had been swapped out"}};
    size_t length = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && length < bytes; i++) {
        char lasted[32];
        if (parts[i].ns < lack->stalled_ns / 20)
            continue;
        int written = snprintf(buffer + length, bytes - length, "%s%s for %s", length ? ", " : "",
                               parts[i].text, text_duration(parts[i].ns, lasted, sizeof(lasted)));
        length += written > 0 ? (size_t)written : 0;
    }
}

static void write_waiter(const struct argus_memory_lack *lack, char *buffer, size_t bytes)
{
    char lasted[32], parts[300] = "", group[160];
    add_parts(lack, parts, sizeof(parts));
    group_text(lack, group, sizeof(group));
    snprintf(buffer, bytes, "waited for memory for %s: it %s%s%s",
             text_duration(lack->stalled_ns, lasted, sizeof(lasted)), parts, *group ? "; its " : "",
             group);
}

static void write_taker(const struct argus_graph *graph, const struct argus_memory_lack *lack,
                        char *buffer, size_t bytes)
{
    char taken[32], grown[96] = "", size[32], by[32], lasted[32], group[160], whose[128];
    struct view view = view_of(graph);
    if (lack->grown_bytes >= lack->taken_bytes / 10)
        snprintf(grown, sizeof(grown), ", and grew by %s to %s",
                 bytes_text(lack->grown_bytes, by, sizeof(by)),
                 bytes_text(lack->size_bytes, size, sizeof(size)));
    group_text(lack, group, sizeof(group));
    text_thread(&view, view.vertices[lack->waiter].thread, whose, sizeof(whose));
    snprintf(
        buffer, bytes,
        "took %s of memory (%.0f %% of what all took)%s, while %s waited for memory for %s%s%s",
        bytes_text(lack->taken_bytes, taken, sizeof(taken)),
        lack->all_bytes ? (double)lack->taken_bytes * 100 / (double)lack->all_bytes : 0, grown,
        whose, text_duration(lack->stalled_ns, lasted, sizeof(lasted)), *group ? "; their " : "",
        group);
}

const char *argus_culprit_why(const struct argus_report_context *context,
                              const struct argus_culprit *culprit, char *buffer, size_t bytes)
{
    const struct argus_memory_lack *lack = &culprit->memory;
    if (!lack->stalled_ns)
        return reason_text(context, &culprit->why, &culprit->loop, buffer, bytes);
    if (lack->waiter == ARGUS_NONE)
        write_waiter(lack, buffer, bytes);
    else
        write_taker(context->graph, lack, buffer, bytes);
    return buffer;
}
