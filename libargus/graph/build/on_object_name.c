/* What objects are called: the other ends of sockets, and the paths of files.
 *
 * A path comes in pieces, the last component first; a piece that begins with "/" begins a
 * component. All pieces of a path have the same time. The ring may have overwritten some of them,
 * so of several copies of one path the longest counts.
 */
#include "graph/build/on_object_name.h"

#include <stdlib.h>
#include <string.h>

#include "argus/record.h"
#include "graph/build/builder.h"
#include "graph/build/finish.h"
#include "graph/build/handlers.h"

#define MOST_REMOTES  100000
#define MOST_NAMES    100000
#define PIECE_BYTES   24
#define CUT_MARK      "..."
#define MARK_BYTES    (sizeof(CUT_MARK) - 1)
#define IPV4_IN_IPV6  "\0\0\0\0\0\0\0\0\0\0\xff\xff"
#define IPV4_OFFSET   12
#define ADDRESS_BYTES 16

/* The path that a thread's records tell now. */
struct told_path {
    uint64_t inode, time_ns;
    size_t component; /* where the current component ends in `path` */
    char path[sizeof(((struct argus_file_name *)0)->path)];
    bool full;
};

struct object_names {
    VEC(struct told_path) told;
    struct idmap told_by_thread; /* value: index into `told` */
    struct idmap name_by_key;    /* value: index into the graph's file_names */
};

struct object_names *object_names_create(void)
{
    return calloc(1, sizeof(struct object_names));
}

void object_names_destroy(struct object_names *names)
{
    if (!names)
        return;
    vec_deinit(&names->told);
    idmap_deinit(&names->told_by_thread);
    idmap_deinit(&names->name_by_key);
    free(names);
}

/* --- the other ends of sockets --- */

/* An IPv4 address in IPv6 form is that IPv4 address. */
static void set_address(struct argus_remote *remote, const uint64_t words[2])
{
    memcpy(remote->address, words, ADDRESS_BYTES);
    if (remote->version == 4 || memcmp(remote->address, IPV4_IN_IPV6, IPV4_OFFSET) != 0)
        return;
    memmove(remote->address, remote->address + IPV4_OFFSET, ADDRESS_BYTES - IPV4_OFFSET);
    memset(remote->address + ADDRESS_BYTES - IPV4_OFFSET, 0, IPV4_OFFSET);
    remote->version = 4;
}

void graph_on_remote(struct builder *builder, struct cpu_state *cpu,
                     const struct argus_record *record)
{
    (void)cpu;
    struct argus_remote remote = {
        .inode = record->arg[0],
        .time_ns = builder->now_ns,
        .thread = record->tid ? builder_thread(builder, record->tid) : ARGUS_NONE,
        .port = ARGUS_REMOTE_PORT(record->arg[3]),
        .own_port = ARGUS_REMOTE_OWN_PORT(record->arg[3]),
        .protocol = ARGUS_REMOTE_PROTOCOL(record->arg[3]),
        .version = ARGUS_REMOTE_VERSION(record->arg[3]),
    };
    if (!remote.inode || builder->graph->remotes.length == MOST_REMOTES)
        return;
    set_address(&remote, &record->arg[1]);
    if (!vec_push(&builder->graph->remotes, remote))
        builder->no_memory = true;
}

static int compare_remotes(const void *left, const void *right)
{
    const struct argus_remote *a = left, *b = right;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static int compare_names(const void *left, const void *right)
{
    const struct argus_file_name *a = left, *b = right;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

void finish_object_names(struct builder *builder)
{
    struct argus_graph *graph = builder->graph;
    if (graph->remotes.length)
        qsort(graph->remotes.data, graph->remotes.length, sizeof(*graph->remotes.data),
              compare_remotes);
    if (graph->file_names.length)
        qsort(graph->file_names.data, graph->file_names.length, sizeof(*graph->file_names.data),
              compare_names);
}

/* --- the paths of files --- */

/* Inserts `text` at the end of the current component, which is the first one of the path so far. If
 * there is no room, the path keeps its end. */
static void insert_piece(struct told_path *told, const char *text, size_t bytes)
{
    size_t length = strlen(told->path), most = sizeof(told->path) - 1;
    if (told->full || bytes == 0)
        return;
    told->full = length + bytes + MARK_BYTES > most;
    if (told->full) {
        text = CUT_MARK;
        bytes = MARK_BYTES;
        told->component = 0;
    }
    memmove(told->path + told->component + bytes, told->path + told->component,
            length - told->component + 1);
    memcpy(told->path + told->component, text, bytes);
    told->component += bytes;
}

/* The path that `thread` tells at this time; NULL: no memory. */
static struct told_path *told_by(struct builder *builder, uint32_t thread, uint64_t inode)
{
    struct object_names *names = builder->object_names;
    uint32_t index = idmap_get(&names->told_by_thread, thread);
    if (index == IDMAP_NONE) {
        index = (uint32_t)names->told.length;
        if (!vec_push(&names->told, (struct told_path){.inode = 0}) ||
            !idmap_put(&names->told_by_thread, thread, index))
            return NULL;
    }
    struct told_path *told = &names->told.data[index];
    if (told->inode != inode || told->time_ns != builder->now_ns)
        *told = (struct told_path){.inode = inode, .time_ns = builder->now_ns};
    return told;
}

/* The name of the inode for the thread; NULL: no memory, or too many names. */
static struct argus_file_name *name_of(struct builder *builder, uint64_t inode, uint32_t thread)
{
    uint64_t key = inode ^ (thread + 1ull) * 0x9e3779b97f4a7c15ull;
    uint32_t index = idmap_get(&builder->object_names->name_by_key, key);
    if (index == IDMAP_NONE) {
        index = (uint32_t)builder->graph->file_names.length;
        if (index == MOST_NAMES)
            return NULL;
        if (!vec_push(&builder->graph->file_names,
                      (struct argus_file_name){.inode = inode, .thread = thread}) ||
            !idmap_put(&builder->object_names->name_by_key, key, index)) {
            builder->no_memory = true;
            return NULL;
        }
    }
    return &builder->graph->file_names.data[index];
}

void graph_on_file_name(struct builder *builder, struct cpu_state *cpu,
                        const struct argus_record *record)
{
    (void)cpu;
    char piece[PIECE_BYTES + 1] = "";
    memcpy(piece, &record->arg[1], PIECE_BYTES);
    uint32_t thread = record->tid ? builder_thread(builder, record->tid) : ARGUS_NONE;
    if (thread == ARGUS_NONE || builder->no_memory || !record->arg[0])
        return;
    struct told_path *told = told_by(builder, thread, record->arg[0]);
    struct argus_file_name *name = told ? name_of(builder, told->inode, thread) : NULL;
    builder->no_memory |= !told;
    if (!name)
        return;
    if (piece[0] == '/')
        told->component = 0;
    insert_piece(told, piece, strlen(piece));
    if (strlen(told->path) > strlen(name->path))
        memcpy(name->path, told->path, sizeof(name->path));
}
