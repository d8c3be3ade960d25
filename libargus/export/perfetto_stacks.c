/* CPU samples with their call stacks. Functions, files, frames and stacks are interned: each is
 * written once, with a number, in front of the first sample that needs it. */
#include <string.h>

#include "base/strtab.h"
#include "base/utf8.h"
#include "export/perfetto_writer.h"

enum { MOST_FRAMES = 256 };

/* sequence_flags */
enum { STATE_CLEARED = 1, STATE_NEEDED = 2 };

/* What one sample adds to the interned data. */
struct added {
    ArgusPerfetto__InternedData data;
    ArgusPerfetto__InternedString functions[MOST_FRAMES], images[MOST_FRAMES];
    ArgusPerfetto__InternedString *function_pointers[MOST_FRAMES], *image_pointers[MOST_FRAMES];
    ArgusPerfetto__Mapping mappings[MOST_FRAMES], *mapping_pointers[MOST_FRAMES];
    uint64_t path_numbers[MOST_FRAMES];
    ArgusPerfetto__Frame frames[MOST_FRAMES], *frame_pointers[MOST_FRAMES];
    ArgusPerfetto__Callstack stack, *stack_pointer;
    uint64_t numbers[MOST_FRAMES]; /* of the frames, innermost first */
    size_t function_count, image_count, frame_count, number_count;
};

/* Puts an ID into a table of numbers if it is new; the number, from 1 on. 0 without memory. */
static uint32_t number_of(struct idmap *map, uint64_t id, bool *ret_is_new)
{
    uint32_t number = idmap_get(map, id);
    *ret_is_new = number == IDMAP_NONE;
    if (!*ret_is_new)
        return number;
    number = (uint32_t)map->count + 1;
    return idmap_put(map, id, number) ? number : 0;
}

static uint32_t text_number(struct perfetto *out, const char *text)
{
    uint32_t number = 0;
    struct argus_error *error =
        out->names ? strtab_intern(out->names, text, strlen(text), &number) : NULL;
    out->failed |= error != NULL || !out->names;
    argus_error_destroy(error);
    return number;
}

static void fill_string(ArgusPerfetto__InternedString *string, uint32_t number, const char *text)
{
    argus_perfetto__interned_string__init(string);
    string->has_iid = string->has_str = true;
    string->iid = number;
    string->str = (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
}

/* The number of a function's name, which is added if it is new. */
static uint32_t add_function(struct perfetto *out, struct added *added, uint32_t name)
{
    bool is_new;
    uint32_t number = number_of(&out->functions, name, &is_new);
    if (is_new) {
        size_t at = added->function_count++;
        fill_string(&added->functions[at], number, strtab_get(out->names, name));
        added->function_pointers[at] = &added->functions[at];
    }
    return number;
}

/* The number of a file's mapping. Its address is left out: a file is one mapping in all processes.
 */
static uint32_t add_image(struct perfetto *out, struct added *added, uint32_t name)
{
    bool is_new;
    uint32_t number = number_of(&out->images, name, &is_new);
    if (is_new) {
        size_t at = added->image_count++;
        ArgusPerfetto__Mapping *mapping = &added->mappings[at];
        fill_string(&added->images[at], number, strtab_get(out->names, name));
        added->image_pointers[at] = &added->images[at];
        argus_perfetto__mapping__init(mapping);
        mapping->has_iid = true;
        mapping->iid = number;
        added->path_numbers[at] = number;
        mapping->path_string_ids = &added->path_numbers[at];
        mapping->n_path_string_ids = 1;
        added->mapping_pointers[at] = mapping;
    }
    return number;
}

static void add_frame(struct perfetto *out, struct added *added, const char *function,
                      const char *image)
{
    bool is_new;
    uint32_t name = text_number(out, function), file = text_number(out, image);
    uint32_t number = number_of(&out->frames, (uint64_t)name << 32 | file, &is_new);
    if (is_new) {
        ArgusPerfetto__Frame *frame = &added->frames[added->frame_count];
        argus_perfetto__frame__init(frame);
        frame->has_iid = frame->has_function_name_id = frame->has_mapping_id = true;
        frame->iid = number;
        frame->function_name_id = add_function(out, added, name);
        frame->mapping_id = add_image(out, added, file);
        added->frame_pointers[added->frame_count++] = frame;
    }
    out->failed |= number == 0;
    added->numbers[added->number_count++] = number;
}

/* Adds the functions at one address. */
static void add_address(struct perfetto *out, struct added *added, uint32_t process,
                        uint64_t time_ns, uint64_t address, bool is_return)
{
    struct argus_functions functions = {.symbols = {{.offset = address}}, .count = 1};
    char text[4096]; /* C++ has names of some thousand bytes */
    if (address < ARGUS_FRAME_ENDS)
        return;
    if (out->context->symbols)
        argus_symbols_named(out->context->symbols, process, time_ns, address, is_return,
                            &functions);
    for (uint32_t i = 0; i < functions.count && added->number_count < MOST_FRAMES; i++) {
        const struct argus_symbol *symbol = &functions.symbols[i];
        argus_symbol_text(symbol, address, text, sizeof(text));
        utf8_repair_name(text, strlen(text));
        add_frame(out, added, text, symbol->image ? symbol->image : "[unknown]");
    }
}

/* Adds the stack of a sample under `number`, outermost frame first. */
static void add_stack(struct perfetto *out, struct added *added, uint32_t process,
                      const struct argus_sample *sample, uint32_t number)
{
    const uint32_t stacks[] = {sample->kernel_stack, sample->user_stack};
    uint32_t first = 0;
    for (int k = 0; k < 2; k++) {
        struct argus_stack stack = argus_graph_stack(out->context->graph, stacks[k]);
        for (uint32_t i = 0; stacks[k] != ARGUS_NONE && i < stack.count; i++)
            add_address(out, added, process, sample->time_ns, stack.frames[i], i > 0);
    }
    if (!added->number_count)
        add_address(out, added, process, sample->time_ns, sample->pc, false);
    for (size_t last = added->number_count; first + 1 < last; first++) {
        uint64_t outer = added->numbers[--last];
        added->numbers[last] = added->numbers[first];
        added->numbers[first] = outer;
    }
    argus_perfetto__callstack__init(&added->stack);
    added->stack.has_iid = true;
    added->stack.iid = number;
    added->stack.frame_ids = added->numbers;
    added->stack.n_frame_ids = added->number_count;
    added->stack_pointer = &added->stack;
}

static void fill_data(struct added *added)
{
    ArgusPerfetto__InternedData *data = &added->data;
    argus_perfetto__interned_data__init(data);
    data->function_names = added->function_pointers;
    data->n_function_names = added->function_count;
    data->mapping_paths = added->image_pointers;
    data->n_mapping_paths = added->image_count;
    data->mappings = added->mapping_pointers;
    data->n_mappings = added->image_count;
    data->frames = added->frame_pointers;
    data->n_frames = added->frame_count;
    data->callstacks = &added->stack_pointer;
    data->n_callstacks = 1;
}

/* Stacks are numbered by process and frames; a stack that is only an address, by that. */
static uint64_t stack_key(uint32_t process, const struct argus_sample *sample)
{
    uint64_t place = sample->user_stack == ARGUS_NONE && sample->kernel_stack == ARGUS_NONE
                         ? sample->pc
                         : (uint64_t)sample->user_stack << 32 | sample->kernel_stack;
    return place ^ (uint64_t)process * 0x9e3779b97f4a7c15u;
}

static void put_sample(struct perfetto *out, struct added *added, uint32_t thread,
                       const struct argus_sample *sample)
{
    const struct argus_thread *t = &out->view.threads[thread];
    ArgusPerfetto__TracePacket packet = ARGUS_PERFETTO__TRACE_PACKET__INIT;
    ArgusPerfetto__PerfSample item = ARGUS_PERFETTO__PERF_SAMPLE__INIT;
    bool is_new, is_first = out->stacks.count == 0;
    uint32_t number = number_of(&out->stacks, stack_key(t->process, sample), &is_new);
    out->failed |= number == 0;
    added->function_count = added->image_count = added->frame_count = added->number_count = 0;
    if (is_new) {
        add_stack(out, added, t->process, sample, number);
        fill_data(added);
        packet.interned_data = &added->data;
    }
    item.has_pid = item.has_tid = item.has_callstack_iid = true;
    item.pid = (uint32_t)out->view.processes[t->process].pid;
    item.tid = (uint32_t)t->tid;
    item.callstack_iid = number;
    packet.perf_sample = &item;
    packet.has_timestamp = packet.has_sequence_flags = true;
    packet.timestamp = sample->time_ns;
    packet.sequence_flags = STATE_NEEDED | (is_first ? STATE_CLEARED : 0);
    perfetto_put(out, &packet, PERFETTO_STACKS);
}

void perfetto_put_samples(struct perfetto *out)
{
    const struct argus_sample *samples;
    argus_graph_samples(out->context->graph, &samples);
    struct added *added = malloc(sizeof(*added));
    out->names = strtab_create();
    out->failed |= !added || !out->names;
    for (size_t i = 0; i < out->part->count && !perfetto_stopped(out); i++) {
        const struct argus_vertex *v = &out->view.vertices[out->part->vertices[i]];
        for (uint32_t k = 0; k < v->sample_count && !perfetto_stopped(out); k++)
            put_sample(out, added, v->thread, &samples[v->first_sample + k]);
    }
    free(added);
}
