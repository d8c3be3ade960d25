/* Which file a Darwin system call looks up, to describe the waits in it. The kernel writes
 * VFS_LOOKUP when the lookup is over, whether it found the file or not. So the path belongs to the
 * wait just before the record or to the one just after it.
 *
 * The path arrives as records of the hook ARGUS_PROBE_PATH, 16 bytes each
 * (event/darwin/darwin_paths.c), and becomes details of the wait, 32 bytes each.
 */
#include "graph/build/path_lookup.h"

#include <stdlib.h>
#include <string.h>

#include "graph/build/cpu_state.h"
#include "graph/build/handlers.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/build/wait_details.h"

/* The path that a thread has looked up in its current system call. */
struct path_lookup {
    char text[ARGUS_PATH_BYTES]; /* padded with zeros; a path that fills it has none */
    bool is_fresh;               /* complete, and from the current call */
};

struct path_lookups {
    VEC(struct path_lookup) all;
    struct idmap by_thread;
};

struct path_lookups *path_lookups_create(void)
{
    return calloc(1, sizeof(struct path_lookups));
}

void path_lookups_destroy(struct path_lookups *lookups)
{
    if (!lookups)
        return;
    vec_deinit(&lookups->all);
    idmap_deinit(&lookups->by_thread);
    free(lookups);
}

static struct path_lookup *path_of(struct builder *builder, uint32_t thread)
{
    uint32_t index = builder_place(builder, &builder->path_lookups->all,
                                   &builder->path_lookups->by_thread, thread);
    return index == ARGUS_NONE ? NULL : &builder->path_lookups->all.data[index];
}

static void add_to(struct builder *builder, uint32_t slot, const struct path_lookup *path)
{
    uint64_t arg[4];
    for (size_t at = 0; at < sizeof(path->text) && path->text[at]; at += sizeof(arg)) {
        memcpy(arg, path->text + at, sizeof(arg));
        wait_add_detail_to(builder, slot, ARGUS_DETAIL_PATH, arg);
    }
}

static bool has_path(const struct builder *builder, const struct argus_wait *wait)
{
    for (uint32_t i = wait->first_detail; i != ARGUS_NONE; i = builder->graph->details.data[i].next)
        if (builder->graph->details.data[i].kind == ARGUS_DETAIL_PATH)
            return true;
    return false;
}

/* The path is complete: if the thread waited in this call, it waited for this lookup. */
static void finish(struct builder *builder, uint32_t thread, struct path_lookup *path)
{
    const struct thread_state *state = thread_at(builder, thread);
    if (!state->wait_open || state->previous == ARGUS_NONE)
        return;
    const struct argus_wait *wait = &slot_at(builder, state->previous)->wait;
    if (wait->syscall == state->syscall && wait->kind != ARGUS_WAIT_NONE &&
        !has_path(builder, wait))
        add_to(builder, state->previous, path);
}

void path_lookup_note(struct builder *builder, const struct cpu_state *cpu,
                      const struct argus_record *record)
{
    uint64_t at = record->arg[0] & ~ARGUS_PATH_ENDS;
    struct path_lookup *path = cpu->thread == ARGUS_NONE ? NULL : path_of(builder, cpu->thread);
    const uint64_t text[2] = {record->arg[1], record->arg[3]};
    if (!path || thread_at(builder, cpu->thread)->syscall == ARGUS_NO_SYSCALL ||
        at > sizeof(path->text) - sizeof(text))
        return;
    if (at == 0)
        memset(path->text, 0, sizeof(path->text));
    memcpy(path->text + at, text, sizeof(text));
    path->is_fresh = record->arg[0] & ARGUS_PATH_ENDS;
    if (path->is_fresh)
        finish(builder, cpu->thread, path);
}

void path_lookup_call_begins(struct builder *builder, uint32_t thread)
{
    uint32_t index = idmap_get(&builder->path_lookups->by_thread, thread);
    if (index != IDMAP_NONE)
        builder->path_lookups->all.data[index].is_fresh = false;
}

void path_lookup_wait_begins(struct builder *builder, uint32_t thread)
{
    uint32_t index = idmap_get(&builder->path_lookups->by_thread, thread);
    if (index != IDMAP_NONE && builder->path_lookups->all.data[index].is_fresh)
        add_to(builder, thread_at(builder, thread)->slot, &builder->path_lookups->all.data[index]);
}

/* --- Linux: the path of the call in which the thread waits --- */

/* The thread blocked in the same call again. */
static bool has_piece(const struct builder *builder, const struct argus_wait *wait,
                      const uint64_t arg[4])
{
    const struct argus_wait_detail *details = builder->graph->details.data;
    for (uint32_t i = wait->first_detail; i != ARGUS_NONE; i = details[i].next)
        if (details[i].kind == ARGUS_DETAIL_PATH &&
            memcmp(details[i].arg, arg, sizeof(details[i].arg)) == 0)
            return true;
    return false;
}

void graph_on_call_path(struct builder *builder, struct cpu_state *cpu,
                        const struct argus_record *record)
{
    (void)cpu;
    uint32_t thread = machine_find_thread(&builder->graph->machine, record->tid);
    if (thread == ARGUS_NONE || thread >= builder->threads.length)
        return;
    const struct thread_state *state = thread_at(builder, thread);
    uint32_t slot = state->activity == THREAD_RUNNING ? ARGUS_NONE : waiting_slot(state);
    if (slot != ARGUS_NONE && !has_piece(builder, &slot_at(builder, slot)->wait, record->arg))
        wait_add_detail_to(builder, slot, ARGUS_DETAIL_PATH, record->arg);
}
