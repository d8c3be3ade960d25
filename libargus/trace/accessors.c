#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/kdebug.h"
#include "trace/reader.h"

const char *argus_trace_path(const struct argus_trace *trace)
{
    return trace->path;
}

const char *argus_trace_name(const struct argus_trace *trace)
{
    return trace->name ? trace->name : trace->path;
}

struct argus_error *argus_trace_set_name(struct argus_trace *trace, const char *name)
{
    char *copy = strdup(name);
    if (!copy)
        return argus_error_memory();
    free(trace->name);
    trace->name = copy;
    return NULL;
}

const char *argus_trace_format(const struct argus_trace *trace, char *buffer, size_t buffer_bytes)
{
    if (trace->kdebug)
        snprintf(buffer, buffer_bytes, "%s", trace->kdebug->name);
    else
        snprintf(buffer, buffer_bytes, "%u.%u", trace->header.version_major,
                 trace->header.version_minor);
    return buffer;
}

bool argus_trace_is_kdebug(const struct argus_trace *trace)
{
    return trace->kdebug != NULL;
}

const struct argus_trace_header *argus_trace_header(const struct argus_trace *trace)
{
    return &trace->header;
}

uint64_t argus_trace_file_bytes(const struct argus_trace *trace)
{
    return trace->file_bytes;
}

struct argus_error *argus_trace_check_memory(const struct argus_trace *trace, uint64_t offset_bytes)
{
    return file_bound_check_memory(&trace->bound, trace->path, trace->file_bytes, offset_bytes);
}

uint64_t argus_trace_most_memory(uint64_t file_bytes)
{
    struct file_bound bound;
    file_bound_init(&bound, file_bytes);
    return bound.most_bytes;
}

uint64_t argus_trace_identity(const struct argus_trace *trace)
{
    return trace->identity;
}

bool argus_trace_complete(const struct argus_trace *trace)
{
    return trace->complete;
}

uint64_t argus_trace_record_count(const struct argus_trace *trace)
{
    return trace->record_count;
}

uint64_t argus_trace_lost_count(const struct argus_trace *trace)
{
    return trace->lost_count;
}

uint64_t argus_trace_ticks_to_ns(const struct argus_trace *trace, uint64_t ticks)
{
    unsigned __int128 ns = (unsigned __int128)ticks * trace->header.timebase_numer;
    ns /= trace->header.timebase_denom;
    return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

void argus_trace_time_range(const struct argus_trace *trace, uint64_t *ret_start_ns,
                            uint64_t *ret_end_ns)
{
    *ret_start_ns = argus_trace_ticks_to_ns(trace, trace->first_ticks);
    *ret_end_ns = argus_trace_ticks_to_ns(trace, trace->last_ticks);
}

/* The anchor is exact at its own time. Each step of the wall clock between that time and `ns` is
 * added or subtracted. */
uint64_t argus_trace_ns_to_wall_ns(const struct argus_trace *trace, uint64_t ns)
{
    uint64_t anchor_ns = argus_trace_ticks_to_ns(trace, trace->header.anchor_ticks);
    uint64_t wall_ns = ns - anchor_ns +
                       trace->header.anchor_wall_ns; /* modulo 2^64: ns may be before the anchor */
    for (size_t i = 0; i < trace->clock_steps.length; i++) {
        const struct trace_clock_step *step = &trace->clock_steps.data[i];
        if (step->since_ns > anchor_ns && step->since_ns <= ns)
            wall_ns += step->change_ns;
        else if (step->since_ns <= anchor_ns && step->since_ns > ns)
            wall_ns -= step->change_ns;
    }
    return wall_ns;
}

size_t argus_trace_chunks(const struct argus_trace *trace, const struct argus_chunk **ret)
{
    *ret = trace->chunks.data;
    return trace->chunks.length;
}

size_t argus_trace_threads(const struct argus_trace *trace, const struct argus_thread_entry **ret)
{
    *ret = trace->tables.threads.data;
    return trace->tables.threads.length;
}

size_t argus_trace_images(const struct argus_trace *trace, const struct argus_image_entry **ret)
{
    *ret = trace->tables.images.data;
    return trace->tables.images.length;
}

size_t argus_trace_kernel_symbols(const struct argus_trace *trace,
                                  const struct argus_kernel_symbol **ret)
{
    *ret = trace->tables.symbols.data;
    return trace->tables.symbols.length;
}

size_t argus_trace_counters(const struct argus_trace *trace, const struct argus_counter **ret)
{
    *ret = trace->tables.counters.data;
    return trace->tables.counters.length;
}

size_t argus_trace_flags(const struct argus_trace *trace, const struct argus_flag_entry **ret)
{
    *ret = trace->tables.flags.data;
    return trace->tables.flags.length;
}

size_t argus_trace_probes(const struct argus_trace *trace, const struct argus_probe_entry **ret)
{
    *ret = trace->tables.probes.data;
    return trace->tables.probes.length;
}

size_t argus_trace_code(const struct argus_trace *trace, const struct argus_code_entry **ret)
{
    *ret = trace->tables.code.data;
    return trace->tables.code.length;
}

/* The first entry of a later process, or of this one that begins after `address`. */
static size_t code_behind(const struct trace_tables *tables, uint64_t pid, uint64_t address)
{
    size_t low = 0, high = tables->code.length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct argus_code_entry *code = &tables->code.data[middle];
        if (code->pid < pid || (code->pid == pid && code->start <= address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool argus_trace_is_interpreted(const struct argus_trace *trace, uint64_t pid, uint64_t address)
{
    enum { MOST_BEFORE = 64 }; /* reused memory may also lie in a code object that begins before */
    size_t at = code_behind(&trace->tables, pid, address);
    for (size_t looked = 0; at > 0 && looked < MOST_BEFORE; looked++) {
        const struct argus_code_entry *code = &trace->tables.code.data[--at];
        if (code->pid != pid)
            break;
        if (address - code->start < code->bytes)
            /* an instruction is 2 bytes, so it begins at an even offset */
            return (address - code->start) % 2 == 0;
    }
    return false;
}

size_t argus_trace_notes(const struct argus_trace *trace, const char *const **ret)
{
    *ret = trace->tables.notes.data;
    return trace->tables.notes.length;
}

size_t argus_trace_damage(const struct argus_trace *trace, const struct argus_damage **ret)
{
    *ret = trace->damage.data;
    return trace->damage.length;
}

size_t argus_trace_losses(const struct argus_trace *trace, const struct argus_loss **ret)
{
    *ret = trace->losses.data;
    return trace->losses.length;
}

size_t argus_trace_stack_count(const struct argus_trace *trace)
{
    return trace->tables.stacks.length;
}

size_t argus_trace_stack_at(const struct argus_trace *trace, size_t index, uint64_t *ret_id,
                            const uint64_t **ret)
{
    const struct trace_stack *stack = &trace->tables.stacks.data[index];
    *ret_id = stack->id;
    *ret = trace->tables.frames.data + stack->first;
    return stack->count;
}

size_t argus_trace_stack(const struct argus_trace *trace, uint64_t id, const uint64_t **ret)
{
    uint32_t index = idmap_get(&trace->tables.stack_index, id);
    uint64_t same_id;
    return index == IDMAP_NONE ? 0 : argus_trace_stack_at(trace, index, &same_id, ret);
}
