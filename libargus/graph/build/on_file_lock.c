/* Locks on files, kept as the records report them. The diagnosis works out who holds a lock at a
 * moment, and which thread waits for that holder.
 *
 * The release of a lock by closing its file has no record. But the call that acquired the lock
 * names the descriptor; so when the process closes it, a release is added here. (A child that
 * inherited the descriptor still holds a lock of flock(). Then the next request for the lock is
 * refused, and the diagnosis sees that.)
 */
#include "graph/build/on_file_lock.h"

#include <stdlib.h>

#include "graph/build/handlers.h"
#include "graph/build/on_lock_name.h"
#include "graph/build/thread_state.h"

struct lock_descriptors {
    struct idmap lock_by_key; /* value: index into the graph's file_locks */
};

struct lock_descriptors *lock_descriptors_create(void)
{
    return calloc(1, sizeof(struct lock_descriptors));
}

void lock_descriptors_destroy(struct lock_descriptors *lock_descriptors)
{
    if (!lock_descriptors)
        return;
    idmap_deinit(&lock_descriptors->lock_by_key);
    free(lock_descriptors);
}

#define DESCRIPTOR_BITS 32

static void add(struct builder *builder, const struct argus_file_lock *lock)
{
    if (!vec_push(&builder->graph->file_locks, *lock))
        builder->no_memory = true;
}

static uint64_t key_of(const struct builder *builder, uint32_t thread, uint64_t descriptor)
{
    uint64_t process = builder->graph->machine.threads.data[thread].process;
    return process << DESCRIPTOR_BITS | (uint32_t)descriptor;
}

/* Notes that the lock just added was acquired by the descriptor of the current system call. */
static void note_descriptor(struct builder *builder, uint32_t thread)
{
    const struct thread_state *state = thread_at(builder, thread);
    size_t index = builder->graph->file_locks.length - 1;
    if (state->syscall == ARGUS_NO_SYSCALL || !state->syscall_known || index >= IDMAP_NONE)
        return;
    if (!idmap_put(&builder->lock_descriptors->lock_by_key, key_of(builder, thread, state->arg[0]),
                   (uint32_t)index))
        builder->no_memory = true;
}

void file_lock_closed(struct builder *builder, uint32_t thread, uint64_t descriptor)
{
    uint64_t key = key_of(builder, thread, descriptor);
    uint32_t index = idmap_get(&builder->lock_descriptors->lock_by_key, key);
    if (index == IDMAP_NONE || !idmap_put(&builder->lock_descriptors->lock_by_key, key, IDMAP_NONE))
        return;
    struct argus_file_lock closed = builder->graph->file_locks.data[index];
    closed.time_ns = builder->now_ns;
    closed.thread = thread;
    closed.what = ARGUS_FILE_LOCK_RELEASED;
    closed.first = 0;
    closed.last = UINT64_MAX;
    add(builder, &closed);
}

void graph_on_file_lock(struct builder *builder, struct cpu_state *cpu,
                        const struct argus_record *record)
{
    (void)cpu;
    uint64_t what = record->arg[1];
    uint32_t flags = ARGUS_FILE_LOCK_FLAGS(what);
    struct argus_file_lock lock = {
        .time_ns = builder->now_ns,
        .inode = record->arg[0],
        .first = record->arg[2],
        .last = record->arg[3],
        .device = ARGUS_FILE_LOCK_DEVICE(what),
        .thread = record->tid ? builder_thread(builder, record->tid) : ARGUS_NONE,
        .what = (uint8_t)ARGUS_FILE_LOCK_WHAT(what),
        .kind = (uint8_t)ARGUS_FILE_LOCK_KIND(what),
        .exclusive = (flags & ARGUS_FILE_LOCK_EXCLUSIVE) != 0,
        .listed = (flags & ARGUS_FILE_LOCK_HELD) != 0,
    };
    bool is_name = lock.kind == ARGUS_FILE_LOCK_NAME; /* and is not released by closing the file */
    if (is_name) {
        lock_name_identify(builder, &lock, lock.first);
        lock.first = 0;
        lock.last = UINT64_MAX;
    }
    add(builder, &lock);
    if (!builder->no_memory && lock.what == ARGUS_FILE_LOCK_GOT && !lock.listed && !is_name &&
        lock.thread != ARGUS_NONE)
        note_descriptor(builder, lock.thread);
}
