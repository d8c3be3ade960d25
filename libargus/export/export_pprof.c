/* pprof's format: one gzip-packed message Profile of github.com/google/pprof/proto/profile.proto.
 * Parts of a message may be written one after the other, so each sample, location and function is
 * written as soon as it is complete.
 *
 * Values of a sample: CPU samples, time on a CPU, time in waits. Labels: process, thread, and their
 * numbers. A location is a frame, and has the number of the frame plus 1; so has its function. */
#include <string.h>

#include "export/export_edges.h"
#include "export/export_writers.h"
#include "export/gzip_sink.h"
#include "export/profile.h"

/* Numbers of the fields. */
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION };
enum { PROFILE_STRING = 6, PROFILE_TIME_NS = 9, PROFILE_DURATION_NS = 10, PROFILE_DEFAULT = 14 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };
enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* The items of one thread in one stack. */
struct sum {
    uint64_t samples, cpu_ns, wait_ns;
    uint32_t node, thread;
};

struct message {
    VEC(uint8_t) bytes;
    bool failed; /* no memory */
};

struct pprof {
    struct profile profile;
    const struct argus_sink *sink;
    VEC(struct sum) sums;
    struct idmap sum_numbers, mappings;
    struct message message, inner; /* what is being written */
    bool closed;                   /* the sink accepts no more */
    bool failed;
};

/* --- the encoding --- */

static void put_varint(struct message *message, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        message->failed |= !vec_push(&message->bytes, byte);
        value >>= 7;
    } while (value);
}

static void put_number(struct message *message, int field, uint64_t value)
{
    put_varint(message, (uint64_t)field << 3 | WIRE_VARINT);
    put_varint(message, value);
}

static void put_bytes(struct message *message, int field, const void *bytes, size_t length)
{
    put_varint(message, (uint64_t)field << 3 | WIRE_BYTES);
    put_varint(message, length);
    if (length && !vec_reserve(&message->bytes, length)) {
        message->failed = true;
        return;
    }
    if (length)
        memcpy(message->bytes.data + message->bytes.length, bytes, length);
    message->bytes.length += length;
}

/* Puts `inner` into `outer`, and empties it. */
static void put_message(struct message *outer, int field, struct message *inner)
{
    put_bytes(outer, field, inner->bytes.data, inner->bytes.length);
    outer->failed |= inner->failed;
    inner->bytes.length = 0;
}

static void flush(struct pprof *pprof)
{
    pprof->failed |= pprof->message.failed;
    if (!pprof->failed && !pprof->closed)
        pprof->closed =
            !pprof->sink->write(pprof->sink->context, (const char *)pprof->message.bytes.data,
                                pprof->message.bytes.length);
    pprof->message.bytes.length = 0;
}

/* --- the parts --- */

static uint32_t text_number(struct pprof *pprof, const char *text)
{
    uint32_t number = 0;
    struct argus_error *error = strtab_intern(pprof->profile.names, text, strlen(text), &number);
    pprof->failed |= error != NULL;
    argus_error_destroy(error);
    return number;
}

static void put_types(struct pprof *pprof)
{
    static const char *const types[][2] = {
        {"samples", "count"}, {"cpu", "nanoseconds"}, {"waits", "nanoseconds"}};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        put_number(&pprof->inner, TYPE_TYPE, text_number(pprof, types[i][0]));
        put_number(&pprof->inner, TYPE_UNIT, text_number(pprof, types[i][1]));
        put_message(&pprof->message, PROFILE_TYPE, &pprof->inner);
    }
    const struct argus_graph *graph = pprof->profile.context->graph;
    uint64_t start_ns = argus_graph_start_ns(graph);
    put_number(&pprof->message, PROFILE_TIME_NS,
               argus_trace_ns_to_wall_ns(argus_graph_trace(graph), start_ns));
    put_number(&pprof->message, PROFILE_DURATION_NS, argus_graph_end_ns(graph) - start_ns);
    put_number(&pprof->message, PROFILE_DEFAULT, text_number(pprof, "cpu"));
    flush(pprof);
}

static void put_label(struct pprof *pprof, struct message *sample, const char *key,
                      const char *text, uint64_t number)
{
    put_number(&pprof->inner, LABEL_KEY, text_number(pprof, key));
    if (text)
        put_number(&pprof->inner, LABEL_TEXT, text_number(pprof, text));
    else
        put_number(&pprof->inner, LABEL_NUMBER, number);
    put_message(sample, SAMPLE_LABEL, &pprof->inner);
}

static void put_sum(struct pprof *pprof, const struct sum *sum, struct message *sample)
{
    const struct profile *profile = &pprof->profile;
    const struct argus_thread *thread = &profile->view.threads[sum->thread];
    const struct argus_process *process = &profile->view.processes[thread->process];
    for (uint32_t node = sum->node; node != ARGUS_NONE; node = profile->nodes.data[node].parent)
        put_number(sample, SAMPLE_LOCATION, (uint64_t)profile->nodes.data[node].frame + 1);
    put_number(sample, SAMPLE_VALUE, sum->samples);
    put_number(sample, SAMPLE_VALUE, sum->cpu_ns);
    put_number(sample, SAMPLE_VALUE, sum->wait_ns);
    put_label(pprof, sample, "process", process->name, 0);
    put_label(pprof, sample, "thread", thread->name, 0);
    put_label(pprof, sample, "pid", NULL, process->pid);
    put_label(pprof, sample, "tid", NULL, thread->tid);
    put_message(&pprof->message, PROFILE_SAMPLE, sample);
    flush(pprof);
}

static void sum_up(struct pprof *pprof)
{
    for (size_t i = 0; i < pprof->profile.items.length && !pprof->failed; i++) {
        const struct profile_item *item = &pprof->profile.items.data[i];
        uint64_t id = (uint64_t)item->node << 32 | item->thread;
        uint32_t number = idmap_get(&pprof->sum_numbers, id);
        if (number == IDMAP_NONE) {
            number = (uint32_t)pprof->sums.length;
            pprof->failed |=
                !vec_push(&pprof->sums, (struct sum){.node = item->node, .thread = item->thread}) ||
                !idmap_put(&pprof->sum_numbers, id, number);
        }
        if (pprof->failed)
            return;
        struct sum *sum = &pprof->sums.data[number];
        sum->samples += item->is_sample;
        sum->cpu_ns += item->cpu_ns;
        sum->wait_ns += item->wait_ns;
    }
}

/* A file is one mapping; 0: the frame is in none. */
static uint32_t put_mapping(struct pprof *pprof, uint32_t image)
{
    uint32_t number = image ? idmap_get(&pprof->mappings, image) : 0;
    if (number != IDMAP_NONE)
        return number;
    number = (uint32_t)pprof->mappings.count + 1;
    pprof->failed |= !idmap_put(&pprof->mappings, image, number);
    put_number(&pprof->inner, MAPPING_ID, number);
    put_number(&pprof->inner, MAPPING_FILE, image);
    put_number(&pprof->inner, MAPPING_HAS_FUNCTIONS, 1);
    put_message(&pprof->message, PROFILE_MAPPING, &pprof->inner);
    return number;
}

static void put_frame(struct pprof *pprof, uint32_t at, struct message *location)
{
    const struct profile_frame *frame = &pprof->profile.frames.data[at];
    uint32_t mapping = put_mapping(pprof, frame->image);
    put_number(&pprof->inner, FUNCTION_ID, (uint64_t)at + 1);
    put_number(&pprof->inner, FUNCTION_NAME, frame->name);
    put_number(&pprof->inner, FUNCTION_SYSTEM_NAME, frame->name);
    put_message(&pprof->message, PROFILE_FUNCTION, &pprof->inner);
    put_number(location, LOCATION_ID, (uint64_t)at + 1);
    if (mapping)
        put_number(location, LOCATION_MAPPING, mapping);
    put_number(&pprof->inner, LINE_FUNCTION, (uint64_t)at + 1);
    put_message(location, LOCATION_LINE, &pprof->inner);
    put_message(&pprof->message, PROFILE_LOCATION, location);
    flush(pprof);
}

/* Last, because the parts before add strings. */
static void put_strings(struct pprof *pprof)
{
    for (uint32_t i = 0; i < strtab_count(pprof->profile.names) && !pprof->failed; i++) {
        const char *text = strtab_get(pprof->profile.names, i);
        put_bytes(&pprof->message, PROFILE_STRING, text, strlen(text));
        flush(pprof);
    }
}

static void write_all(struct pprof *pprof)
{
    struct message part = {.failed = false};
    put_types(pprof);
    sum_up(pprof);
    for (size_t i = 0; i < pprof->sums.length && !pprof->failed && !pprof->closed; i++)
        put_sum(pprof, &pprof->sums.data[i], &part);
    for (uint32_t i = 0; i < pprof->profile.frames.length && !pprof->failed; i++)
        put_frame(pprof, i, &part);
    put_strings(pprof);
    vec_deinit(&part.bytes);
}

struct argus_error *argus_export_pprof(const struct argus_report_context *context,
                                       const struct argus_export *part, uint64_t *ret_edges_cut)
{
    struct pprof pprof = {.failed = false};
    struct gzip_sink packed;
    struct argus_error *error = profile_collect(context, part, &pprof.profile);
    if (!error)
        error = gzip_sink_init(&packed, context->sink);
    if (!error) {
        pprof.sink = &packed.sink;
        write_all(&pprof);
        gzip_sink_end(&packed);
        error = pprof.failed ? argus_error_memory() : NULL;
    }
    *ret_edges_cut = export_count_cut(context->graph, part);
    vec_deinit(&pprof.message.bytes);
    vec_deinit(&pprof.inner.bytes);
    vec_deinit(&pprof.sums);
    idmap_deinit(&pprof.sum_numbers);
    idmap_deinit(&pprof.mappings);
    profile_deinit(&pprof.profile);
    return error;
}
