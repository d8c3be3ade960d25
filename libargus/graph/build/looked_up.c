/* Which file a system call of Darwin looks up, for the waits in it: VFS_LOOKUP, which the kernel writes when it has found the file or
 * has not. So the wait is the one before or the one behind.
 *
 * The path comes as records of the hook ARGUS_PROBE_PATH, 16 bytes in each (event/darwin/darwin_paths.c), and becomes details of the
 * wait of 32 bytes each. */
#include "graph/build/looked_up.h"

#include <stdlib.h>
#include <string.h>

#include "graph/build/cpu_state.h"
#include "graph/build/thread_state.h"
#include "graph/build/vertex.h"
#include "graph/build/wait_details.h"

/* The path that the call in progress of a thread has looked up. */
struct looked_up {
    char text[ARGUS_PATH_BYTES]; /* filled up with zeros, of which there need not be any */
    bool is_fresh;               /* whole, and of this call */
};

struct lookups {
    VEC(struct looked_up) all;
    struct idmap by_thread;
};

struct lookups *lookups_create(void)
{
    return calloc(1, sizeof(struct lookups));
}

void lookups_destroy(struct lookups *lookups)
{
    if (!lookups)
        return;
    vec_deinit(&lookups->all);
    idmap_deinit(&lookups->by_thread);
    free(lookups);
}

static struct looked_up *path_of(struct builder *builder, uint32_t thread)
{
    uint32_t index =
        builder_place(builder, &builder->lookups->all, &builder->lookups->by_thread, thread);
    return index == ARGUS_NONE ? NULL : &builder->lookups->all.data[index];
}

static void add_to(struct builder *builder, uint32_t slot, const struct looked_up *path)
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

/* The path is whole: the wait in this call, if there was one, was for it. */
static void finish(struct builder *builder, uint32_t thread, struct looked_up *path)
{
    const struct thread_state *state = thread_at(builder, thread);
    if (!state->wait_open || state->previous == ARGUS_NONE)
        return;
    const struct argus_wait *wait = &slot_at(builder, state->previous)->wait;
    if (wait->syscall == state->syscall && wait->kind != ARGUS_WAIT_NONE &&
        !has_path(builder, wait))
        add_to(builder, state->previous, path);
}

void looked_up_note(struct builder *builder, const struct cpu_state *cpu,
                    const struct argus_record *record)
{
    uint64_t at = record->arg[0] & ~ARGUS_PATH_ENDS;
    struct looked_up *path = cpu->thread == ARGUS_NONE ? NULL : path_of(builder, cpu->thread);
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

void looked_up_call_begins(struct builder *builder, uint32_t thread)
{
    uint32_t index = idmap_get(&builder->lookups->by_thread, thread);
    if (index != IDMAP_NONE)
        builder->lookups->all.data[index].is_fresh = false;
}

void looked_up_wait_begins(struct builder *builder, uint32_t thread)
{
    uint32_t index = idmap_get(&builder->lookups->by_thread, thread);
    if (index != IDMAP_NONE && builder->lookups->all.data[index].is_fresh)
        add_to(builder, thread_at(builder, thread)->slot, &builder->lookups->all.data[index]);
}
