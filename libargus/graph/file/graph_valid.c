/* Checks of a graph file's content. Nothing from the file is used as an index, a count or a bool
 * before it was checked here.
 *
 * A graph file may come with a stranger's trace, but code that walks a graph trusts it: ids are in
 * range, a thread's vertices are at the stated place, chains end, time goes forward. Each array has
 * a function that checks one element. The checks make sure that a walk stays inside of the arrays
 * and ends. They cannot tell whether the graph is the right one for the trace; only building it
 * again could.
 *
 * Several threads call the functions, for millions of elements. So they read only nearby memory of
 * other elements.
 */
#include "graph/file/graph_arrays.h"

#include <string.h>

/* Whether a range of another array is valid; safe against overflow. */
static bool is_range(uint64_t first, uint64_t count, uint64_t length)
{
    return first + count <= length; /* no overflow: both have 32 bits */
}

static bool is_id(uint32_t id, size_t count)
{
    return id < count || id == ARGUS_NONE;
}

/* Whether a byte has a value that is valid for a bool. */
static bool is_bool(const void *byte)
{
    return *(const uint8_t *)byte <= 1;
}

static bool is_text(const struct graph_arrays *arrays, const char *offset)
{
    return (uintptr_t)offset < arrays->texts.count; /* the last byte of all texts is NUL */
}

static bool valid_summary(const struct graph_arrays *arrays, size_t i)
{
    return arrays->summary.data[i].start_ns <= arrays->summary.data[i].end_ns;
}

static bool valid_texts(const struct graph_arrays *arrays, size_t i)
{
    return i + 1 < arrays->texts.count || arrays->texts.data[i] == '\0';
}

static bool valid_rules(const struct graph_arrays *arrays, size_t i)
{
    return i < arrays->rules.count;
}

static bool valid_processes(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_process *process = &arrays->processes.data[i];
    bool forked = process->forked_from < i || process->forked_from == ARGUS_NONE;
    return is_text(arrays, process->name) && is_id(process->main_thread, arrays->threads.count) &&
           forked && is_bool(&process->kernel);
}

static bool valid_threads(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_thread *thread = &arrays->threads.data[i];
    return is_text(arrays, thread->name) && thread->process < arrays->processes.count &&
           is_range(thread->first_vertex, thread->vertex_count, arrays->vertices.count) &&
           is_bool(&thread->idle);
}

static bool valid_stacks(const struct graph_arrays *arrays, size_t i)
{
    return arrays->stacks.data[i] != 0;
}

/* The index of each vertex's first edge: starts at 0, never decreases, and ends at the number of
 * edges. */
static bool valid_first(const uint32_t *first, size_t count, size_t edges, size_t i)
{
    bool begins = i > 0 ? first[i] >= first[i - 1] : first[i] == 0;
    return begins && (i + 1 < count || first[i] == edges);
}

static bool valid_in_first(const struct graph_arrays *arrays, size_t i)
{
    return valid_first(arrays->in_first.data, arrays->in_first.count, arrays->edges.count, i);
}

static bool valid_out_first(const struct graph_arrays *arrays, size_t i)
{
    return valid_first(arrays->out_first.data, arrays->out_first.count, arrays->edges.count, i);
}

static bool valid_out_edges(const struct graph_arrays *arrays, size_t i)
{
    return arrays->out_edges.data[i] < arrays->edges.count;
}

static bool valid_wait(const struct graph_arrays *arrays, const struct argus_wait *wait)
{
    size_t stacks = arrays->stacks.count;
    return is_id(wait->user_stack, stacks) && is_id(wait->kernel_stack, stacks) &&
           is_id(wait->first_detail, arrays->details.count) && wait->kind <= ARGUS_WAIT_OTHER &&
           wait->outcome <= ARGUS_OUTCOME_UNKNOWN && is_bool(&wait->has_result) &&
           is_bool(&wait->by_timer) && is_bool(&wait->by_device) && is_bool(&wait->no_wakeup);
}

static uint64_t until_ns(const struct argus_vertex *vertex)
{
    return vertex->wait.kind == ARGUS_WAIT_NONE ? vertex->end_ns : vertex->wait.end_ns;
}

static bool valid_times(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_vertex *vertex = &arrays->vertices.data[i];
    bool follows = i > 0 && vertex[-1].thread == vertex->thread;
    uint64_t lasted_ns = vertex->end_ns - vertex->start_ns;
    return vertex->start_ns <= vertex->end_ns && vertex->end_ns <= until_ns(vertex) &&
           until_ns(vertex) <= arrays->summary.data->end_ns && vertex->run_ns <= lasted_ns &&
           vertex->runnable_ns <= lasted_ns - vertex->run_ns &&
           !(follows && until_ns(&vertex[-1]) > vertex->start_ns);
}

static bool valid_vertices(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_vertex *vertex = &arrays->vertices.data[i];
    if (vertex->thread >= arrays->threads.count || !vertex->repeat)
        return false;
    const struct argus_thread *thread = &arrays->threads.data[vertex->thread];
    return i >= thread->first_vertex && i - thread->first_vertex < thread->vertex_count &&
           is_range(vertex->first_op, vertex->op_count, arrays->ops.count) &&
           is_range(vertex->first_sample, vertex->sample_count, arrays->samples.count) &&
           valid_wait(arrays, &vertex->wait) && valid_times(arrays, i);
}

static bool valid_edges(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_edge *edge = &arrays->edges.data[i];
    size_t vertices = arrays->vertices.count;
    if (edge->from >= vertices || edge->to >= vertices || edge->from == edge->to)
        return false;
    const uint32_t *first = arrays->in_first.data;
    const struct argus_vertex *to = &arrays->vertices.data[edge->to];
    return i >= first[edge->to] && i < first[edge->to + 1] && edge->kind < ARGUS_EDGE_KINDS &&
           edge->rule < arrays->rules.count && is_id(edge->stack, arrays->stacks.count) &&
           edge->from_ns <= edge->to_ns && edge->to_ns >= to->start_ns && edge->to_ns <= to->end_ns;
}

static bool valid_ops(const struct graph_arrays *arrays, size_t i)
{
    return arrays->ops.data[i].repeat != 0;
}

static bool valid_samples(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_sample *sample = &arrays->samples.data[i];
    return is_id(sample->user_stack, arrays->stacks.count) &&
           is_id(sample->kernel_stack, arrays->stacks.count);
}

static bool valid_callbacks(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_callback *callback = &arrays->callbacks.data[i];
    return callback->vertex < arrays->vertices.count &&
           (i == 0 || callback[-1].vertex <= callback->vertex) &&
           callback->what <= ARGUS_CALLBACK_MARK && callback->ui_event < ARGUS_UI_EVENTS &&
           is_bool(&callback->on_purpose) && is_bool(&callback->nested);
}

/* A chain only goes forward, so it ends. */
static bool valid_details(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_wait_detail *detail = &arrays->details.data[i];
    return detail->next == ARGUS_NONE || (detail->next > i && detail->next < arrays->details.count);
}

static bool valid_uses(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_object_use *use = &arrays->uses.data[i];
    return use->thread < arrays->threads.count && is_bool(&use->wrote) && is_bool(&use->changed);
}

static bool valid_visits(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_visits *visits = &arrays->visits.data[i];
    return visits->thread < arrays->threads.count && visits->first_ns <= visits->gap_start_ns &&
           visits->gap_start_ns <= visits->gap_end_ns && visits->gap_end_ns <= visits->last_ns &&
           (i == 0 || visits[-1].thread <= visits->thread);
}

static bool valid_unread(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_unread *unread = &arrays->unread.data[i];
    return unread->sender < arrays->threads.count && unread->receiver < arrays->threads.count &&
           (i == 0 || unread[-1].receiver <= unread->receiver);
}

static bool valid_arrivals(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_arrival *arrival = &arrays->arrivals.data[i];
    return arrival->thread < arrays->threads.count &&
           (i == 0 || arrival[-1].thread <= arrival->thread);
}

static bool valid_flag_sets(const struct graph_arrays *arrays, size_t i)
{
    return arrays->flag_sets.data[i].thread < arrays->threads.count;
}

static bool valid_flag_uses(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_flag_use *use = &arrays->flag_uses.data[i];
    return use->thread < arrays->threads.count && (i == 0 || use[-1].time_ns <= use->time_ns);
}

static bool valid_pings(const struct graph_arrays *arrays, size_t i)
{
    return arrays->pings.data[i].thread < arrays->threads.count;
}

static bool valid_file_locks(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_file_lock *lock = &arrays->file_locks.data[i];
    return is_id(lock->thread, arrays->threads.count) && is_bool(&lock->exclusive) &&
           is_bool(&lock->listed);
}

static bool valid_ipc_uses(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_ipc_use *use = &arrays->ipc_uses.data[i];
    return use->thread < arrays->threads.count && is_bool(&use->is_queue) &&
           use->how <= ARGUS_IPC_CHANGED;
}

static bool valid_open_ends(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_open_end *end = &arrays->open_ends.data[i];
    return end->thread < arrays->threads.count && is_bool(&end->reads) && is_bool(&end->writes);
}

static bool valid_shared_memory(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_shared_memory *memory = &arrays->shared_memory.data[i];
    return memory->thread < arrays->threads.count && is_bool(&memory->writable);
}

static bool valid_lock_names(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_lock_name *name = &arrays->lock_names.data[i];
    return memchr(name->path, 0, sizeof(name->path)) != NULL;
}

static bool valid_remotes(const struct graph_arrays *arrays, size_t i)
{
    return is_id(arrays->remotes.data[i].thread, arrays->threads.count);
}

static bool valid_file_names(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_file_name *name = &arrays->file_names.data[i];
    return name->thread < arrays->threads.count &&
           memchr(name->path, 0, sizeof(name->path)) != NULL;
}

static bool valid_suspensions(const struct graph_arrays *arrays, size_t i)
{
    return i < arrays->suspensions.count;
}

static bool valid_left_out(const struct graph_arrays *arrays, size_t i)
{
    const struct argus_left_out *left = &arrays->left_out.data[i];
    return left->from_ns <= left->to_ns && (i == 0 || left[-1].from_ns <= left->from_ns);
}

size_t graph_array_fault(const struct graph_arrays *arrays, enum graph_array_id id, size_t from,
                         size_t to)
{
    size_t i = from;
    switch (id) {
#define ARRAY(name, type)                                                                          \
    case GRAPH_ARRAY_##name:                                                                       \
        while (i < to && valid_##name(arrays, i))                                                  \
            i++;                                                                                   \
        break;
#include "graph/file/graph_arrays.def"
#undef ARRAY
    case GRAPH_ARRAYS:
        break;
    }
    return i;
}

const char *graph_counts_fault(const struct graph_arrays *arrays)
{
    size_t vertices = arrays->vertices.count, edges = arrays->edges.count;
    if (arrays->summary.count != 1 || arrays->rules.count < RULE_COUNT || !arrays->texts.count)
        return "its first arrays have another size";
    if (vertices >= ARGUS_NONE || edges >= ARGUS_NONE || arrays->threads.count >= ARGUS_NONE ||
        arrays->processes.count >= ARGUS_NONE || arrays->stacks.count >= ARGUS_NONE)
        return "it has more than 2^32 of something";
    if (arrays->in_first.count != vertices + 1 || arrays->out_first.count != vertices + 1 ||
        arrays->out_edges.count != edges)
        return "its adjacency does not fit its vertices";
    return NULL;
}
