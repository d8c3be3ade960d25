#include "graph/file/graph_arrays.h"

#include <string.h>

#include "argus/schema.h"
#include "base/hash64.h"
#include "graph_source_hash.h"

const size_t graph_array_bytes[GRAPH_ARRAYS] = {
#define ARRAY(name, type) sizeof(type),
#include "graph/file/graph_arrays.def"
#undef ARRAY
};

const char *const graph_array_names[GRAPH_ARRAYS] = {
#define ARRAY(name, type) #name,
#include "graph/file/graph_arrays.def"
#undef ARRAY
};

uint64_t graph_source_hash(void)
{
    return GRAPH_SOURCE_HASH;
}

uint64_t graph_rule_set_identity(const struct argus_graph_options *options)
{
    return argus_rule_set_identity(options ? options->rules : NULL);
}

uint64_t graph_block_checksum(const struct graph_array *array, size_t element_bytes, size_t block)
{
    size_t first = block * GRAPH_BLOCK_ELEMENTS, count = array->count - first;
    if (count > GRAPH_BLOCK_ELEMENTS)
        count = GRAPH_BLOCK_ELEMENTS;
    return hash64(block, (const char *)array->data + first * element_bytes, count * element_bytes);
}

/* --- to the file --- */

/* The offset of a text in `texts`, cast to a pointer; `*fits` becomes false without memory. */
static const char *pack_text(struct graph_packed *packed, const char *text, bool *fits)
{
    size_t bytes = strlen(text) + 1, offset = packed->texts.length;
    if (!vec_reserve(&packed->texts, bytes)) {
        *fits = false;
        return NULL;
    }
    memcpy(packed->texts.data + offset, text, bytes);
    packed->texts.length += bytes;
    return (const char *)offset; // NOLINT(performance-no-int-to-ptr)
}

static bool pack_lives(const struct machine *machine, struct graph_packed *packed)
{
    bool fits = true;
    packed->processes = calloc(machine->processes.length + 1, sizeof(*packed->processes));
    packed->threads = calloc(machine->threads.length + 1, sizeof(*packed->threads));
    if (!packed->processes || !packed->threads)
        return false;
    for (size_t i = 0; i < machine->processes.length; i++) {
        memcpy(&packed->processes[i], &machine->processes.data[i], sizeof(*packed->processes));
        packed->processes[i].name = pack_text(packed, packed->processes[i].name, &fits);
    }
    for (size_t i = 0; i < machine->threads.length; i++) {
        memcpy(&packed->threads[i], &machine->threads.data[i], sizeof(*packed->threads));
        packed->threads[i].name = pack_text(packed, packed->threads[i].name, &fits);
    }
    return fits;
}

/* Maps each distinct stack to the smallest of its ids. */
static bool pack_stacks(const struct stacks *stacks, struct graph_packed *packed)
{
    packed->stacks = calloc(stacks->stacks.length + 1, sizeof(*packed->stacks));
    if (!packed->stacks)
        return false;
    for (size_t i = 0; stacks->by_id.slots && i <= stacks->by_id.mask; i++) {
        const struct idmap_slot *slot = &stacks->by_id.slots[i];
        uint64_t *id = slot->used ? &packed->stacks[slot->number] : NULL;
        if (id && (!*id || slot->id < *id))
            *id = slot->id;
    }
    return true;
}

bool graph_arrays_of(const struct argus_graph *graph, struct graph_packed *packed,
                     struct graph_arrays *ret)
{
    memset(packed, 0, sizeof(*packed));
    packed->summary = (struct graph_summary){
        .start_ns = graph->start_ns,
        .end_ns = graph->end_ns,
        .damaged_chunks = graph->damaged_chunks,
        .messages = graph->messages,
    };
    packed->rules = calloc(graph->rule_count, sizeof(*packed->rules));
    for (size_t i = 0; packed->rules && i < graph->rule_count; i++)
        packed->rules[i] = graph->rules[i].count;
    if (!packed->rules || !vec_push(&packed->texts, '\0') || !pack_lives(&graph->machine, packed) ||
        !pack_stacks(&graph->stacks, packed)) {
        graph_packed_deinit(packed);
        return false;
    }
    size_t vertices = graph->vertices.length;
    *ret = (struct graph_arrays){
        .summary = {&packed->summary, 1},
        .texts = {packed->texts.data, packed->texts.length},
        .rules = {packed->rules, graph->rule_count},
        .processes = {packed->processes, graph->machine.processes.length},
        .threads = {packed->threads, graph->machine.threads.length},
        .stacks = {packed->stacks, graph->stacks.stacks.length},
        .in_first = {graph->in_first, vertices + 1},
        .out_first = {graph->out_first, vertices + 1},
        .out_edges = {graph->out_edges, graph->edges.length},
#define ARRAY(name, type)
#define GRAPH_ARRAY(name, type) .name = {graph->name.data, graph->name.length},
#include "graph/file/graph_arrays.def"
#undef ARRAY
    };
    return true;
}

void graph_packed_deinit(struct graph_packed *packed)
{
    free(packed->rules);
    free(packed->processes);
    free(packed->threads);
    free(packed->stacks);
    vec_deinit(&packed->texts);
}

/* --- from the file --- */

static const char *text_at(const struct graph_arrays *arrays, const char *offset)
{
    return arrays->texts.data + (uintptr_t)offset;
}

/* The strings are not copied: they stay in the file. */
static bool take_lives(const struct graph_arrays *arrays, struct machine *machine)
{
    if (!vec_reserve(&machine->processes, arrays->processes.count + 1) ||
        !vec_reserve(&machine->threads, arrays->threads.count + 1))
        return false;
    for (size_t i = 0; i < arrays->processes.count; i++) {
        struct argus_process *process = &machine->processes.data[machine->processes.length++];
        memcpy(process, &arrays->processes.data[i], sizeof(*process));
        process->name = text_at(arrays, process->name);
    }
    for (size_t i = 0; i < arrays->threads.count; i++) {
        struct argus_thread *thread = &machine->threads.data[machine->threads.length++];
        memcpy(thread, &arrays->threads.data[i], sizeof(*thread));
        thread->name = text_at(arrays, thread->name);
    }
    return true;
}

/* The frames are not copied: they are in the trace. */
static bool take_stacks(const struct graph_arrays *arrays, struct stacks *stacks)
{
    if (!vec_reserve(&stacks->stacks, arrays->stacks.count + 1))
        return false;
    for (size_t i = 0; i < arrays->stacks.count; i++) {
        struct argus_stack stack = {0};
        stack.count =
            (uint32_t)argus_trace_stack(stacks->trace, arrays->stacks.data[i], &stack.frames);
        stacks->stacks.data[stacks->stacks.length++] = stack;
    }
    return true;
}

/* Casts const away. This is safe, because a finished graph is never changed. */
static void *writable(const void *data)
{
    return (void *)(uintptr_t)data; // NOLINT(performance-no-int-to-ptr)
}

bool graph_arrays_take(const struct graph_arrays *arrays, struct argus_graph *graph)
{
    const struct graph_summary *summary = arrays->summary.data;
    graph->start_ns = summary->start_ns;
    graph->end_ns = summary->end_ns;
    graph->damaged_chunks = summary->damaged_chunks;
    graph->messages = summary->messages;
    for (size_t i = 0; i < graph->rule_count && i < arrays->rules.count; i++)
        graph->rules[i].count = arrays->rules.data[i];
    graph->in_first = writable(arrays->in_first.data);
    graph->out_first = writable(arrays->out_first.data);
    graph->out_edges = writable(arrays->out_edges.data);
#define ARRAY(name, type)
#define GRAPH_ARRAY(name, type)                                                                    \
    graph->name.data = writable(arrays->name.data);                                                \
    graph->name.length = arrays->name.count;
#include "graph/file/graph_arrays.def"
#undef ARRAY
    return take_lives(arrays, &graph->machine) && take_stacks(arrays, &graph->stacks);
}
