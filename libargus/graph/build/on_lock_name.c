/* Names of lock files.
 *
 * A record identifies the name by its path, and by its folder and last component if the call has
 * shown them. One program may use an absolute path and another one a relative path: the second
 * identity tells that both are one name. The path itself follows a refused call.
 */
#include "graph/build/on_lock_name.h"

#include <stdlib.h>
#include <string.h>

#include "argus/record.h"
#include "graph/build/builder.h"
#include "graph/build/cpu_state.h"
#include "graph/build/handlers.h"

struct lock_names {
    struct idmap lock_by_identity; /* value: index into the graph's file_locks */
    struct idmap name_by_identity; /* value: index into the graph's lock_names */
    struct idmap told_by_thread;   /* value: the same, of the path that is being told */
};

struct lock_names *lock_names_create(void)
{
    return calloc(1, sizeof(struct lock_names));
}

void lock_names_destroy(struct lock_names *names)
{
    if (!names)
        return;
    idmap_deinit(&names->lock_by_identity);
    idmap_deinit(&names->name_by_identity);
    idmap_deinit(&names->told_by_thread);
    free(names);
}

static void put(struct builder *builder, struct idmap *map, uint64_t id, uint32_t number)
{
    if (!idmap_put(map, id, number))
        builder->no_memory = true;
}

static uint32_t lock_of(const struct builder *builder, uint64_t identity)
{
    return identity ? idmap_get(&builder->lock_names->lock_by_identity, identity) : IDMAP_NONE;
}

/* The place of the name in the graph's list; IDMAP_NONE: its path is complete, or no memory. */
static uint32_t untold_name(struct builder *builder, uint64_t identity)
{
    struct idmap *map = &builder->lock_names->name_by_identity;
    uint32_t index = idmap_get(map, identity);
    if (index != IDMAP_NONE)
        return builder->graph->lock_names.data[index].path[0] ? IDMAP_NONE : index;
    index = (uint32_t)builder->graph->lock_names.length;
    if (!vec_push(&builder->graph->lock_names, (struct argus_lock_name){.inode = identity}))
        builder->no_memory = true;
    else
        put(builder, map, identity, index);
    return builder->no_memory ? IDMAP_NONE : index;
}

void lock_name_identify(struct builder *builder, struct argus_file_lock *lock, uint64_t place)
{
    struct lock_names *names = builder->lock_names;
    uint64_t path = lock->inode;
    uint32_t known = lock_of(builder, place), index = (uint32_t)builder->graph->file_locks.length;
    if (known == IDMAP_NONE)
        known = lock_of(builder, path);
    if (known != IDMAP_NONE)
        lock->inode = builder->graph->file_locks.data[known].inode;
    known = known == IDMAP_NONE ? index : known;
    put(builder, &names->lock_by_identity, path, known);
    if (place)
        put(builder, &names->lock_by_identity, place, known);
    if (lock->thread != ARGUS_NONE)
        put(builder, &names->told_by_thread, lock->thread,
            lock->what == ARGUS_FILE_LOCK_REFUSED ? untold_name(builder, lock->inode) : IDMAP_NONE);
}

void graph_on_file_lock_name(struct builder *builder, struct cpu_state *cpu,
                             const struct argus_record *record)
{
    (void)cpu;
    uint32_t thread = record->tid ? builder_thread(builder, record->tid) : ARGUS_NONE;
    uint32_t index = thread == ARGUS_NONE || builder->no_memory
                         ? IDMAP_NONE
                         : idmap_get(&builder->lock_names->told_by_thread, thread);
    if (index == IDMAP_NONE)
        return;
    struct argus_lock_name *name = &builder->graph->lock_names.data[index];
    size_t length = strlen(name->path), space = sizeof(name->path) - 1 - length;
    memcpy(name->path + length, record->arg,
           space < sizeof(record->arg) ? space : sizeof(record->arg));
}
