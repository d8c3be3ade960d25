/* A packet names functions, files and call stacks by numbers, for later packets of its sequence
 * (protos/perfetto/trace/interned_data/interned_data.proto in Perfetto's sources, v56).
 *
 * Most frames have a function's name and a file, but no address in the process. So each function of
 * a file gets made-up addresses of its own, and an entry of code that has its name (argus-trace(5),
 * CODE), as functions of interpreters have.
 */
#include "perfetto_samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"
#include "base/idmap.h"
#include "base/vec.h"

/* Addresses of frames: above all user space of x86_64 and aarch64 with 47 and 48 bits, below bit
 * 56, which marks of interpreters use. A frame is in the middle of its bytes. */
#define FIRST_ADDRESS 0x0001000000000000ull
enum { FUNCTION_BYTES = 16, FRAME_AT = 8, BOOTTIME_CLOCK = 6, BUILTIN_CLOCKS = 64 };

enum { MOST_FUNCTIONS = 1 << 24, STATE_CLEARED = 1 };
/* A few bytes of a file can ask for very many long names: what is cut, and what all entries of code
 * may need. */
enum { MOST_TEXT_BYTES = 4096, MOST_CODE_BYTES = 64 << 20 };

enum kind { FUNCTION_NAME, PATH, MAPPING, FRAME, STACK, GENERATION, CLOCK };

struct function {
    const char *name, *path; /* in `texts` */
};

/* Frames of a call stack, innermost first: a part of `frames` below. */
struct frames_of {
    size_t first, count;
};

struct perfetto_samples {
    struct sink *sink;
    VEC(char *) texts;              /* owned */
    VEC(struct function) functions; /* the address is FIRST_ADDRESS and 16 times the place */
    VEC(uint64_t) frames;           /* addresses */
    VEC(struct frames_of) stacks;
    struct idmap known;       /* kind, sequence, generation and number → place, text or address */
    struct idmap function_of; /* name and path → place in `functions` */
    struct idmap written;     /* process and function */
    int64_t to_boottime[BUILTIN_CLOCKS]; /* to be added */
    bool has_clock[BUILTIN_CLOCKS];
    uint64_t code_bytes; /* of the entries that were written */
    uint64_t timeless_count, skipped_count;
    uint64_t placeless_count; /* frames left out, because there are too many functions */
    uint64_t nameless_count;  /* frames of samples without an entry of code, which are too many */
};

struct perfetto_samples *perfetto_samples_create(struct sink *sink)
{
    struct perfetto_samples *samples = calloc(1, sizeof(*samples));
    if (samples) {
        samples->sink = sink;
        samples->has_clock[BOOTTIME_CLOCK] = true;
    }
    return samples;
}

void perfetto_samples_destroy(struct perfetto_samples *samples)
{
    if (!samples)
        return;
    for (size_t i = 0; i < samples->texts.length; i++)
        free(samples->texts.data[i]);
    vec_deinit(&samples->texts);
    vec_deinit(&samples->functions);
    vec_deinit(&samples->frames);
    vec_deinit(&samples->stacks);
    idmap_deinit(&samples->known);
    idmap_deinit(&samples->function_of);
    idmap_deinit(&samples->written);
    free(samples);
}

static void keep(struct perfetto_samples *samples, bool kept)
{
    if (!kept)
        sink_fail(samples->sink, argus_error_memory());
}

/* --- numbers of a sequence --- */

static uint64_t key_of(const struct perfetto_samples *samples, enum kind kind, uint32_t sequence,
                       uint64_t number)
{
    const uint64_t generation[] = {GENERATION, sequence};
    uint32_t age = idmap_get(&samples->known, hash64(0, generation, sizeof(generation)));
    const uint64_t words[] = {kind, sequence, age == IDMAP_NONE ? 0 : age, number};
    return hash64(0, words, sizeof(words));
}

static uint32_t get(const struct perfetto_samples *samples, enum kind kind, uint32_t sequence,
                    uint64_t number)
{
    return idmap_get(&samples->known, key_of(samples, kind, sequence, number));
}

static void set(struct perfetto_samples *samples, enum kind kind, uint32_t sequence,
                uint64_t number, uint32_t value)
{
    keep(samples, idmap_put(&samples->known, key_of(samples, kind, sequence, number), value));
}

static void forget_all(struct perfetto_samples *samples, uint32_t sequence)
{
    const uint64_t generation[] = {GENERATION, sequence};
    uint64_t key = hash64(0, generation, sizeof(generation));
    uint32_t age = idmap_get(&samples->known, key);
    keep(samples, idmap_put(&samples->known, key, age == IDMAP_NONE ? 1 : age + 1));
}

/* --- names --- */

/* Cut at MOST_TEXT_BYTES, between two characters of UTF-8. */
static char *copy_text(const ProtobufCBinaryData *from)
{
    size_t length = from->len;
    if (length > MOST_TEXT_BYTES)
        for (length = MOST_TEXT_BYTES; length && (from->data[length] & 0xc0) == 0x80;)
            length--;
    return length ? strndup((const char *)from->data, length) : strdup("");
}

/* Takes `text`; NULL: there was no memory. */
static const char *keep_text(struct perfetto_samples *samples, char *text)
{
    if (text && vec_push(&samples->texts, text))
        return text; // cppcheck-suppress memleak // the vector has it
    free(text);
    keep(samples, false);
    return NULL;
}

static void take_texts(struct perfetto_samples *samples, enum kind kind, uint32_t sequence,
                       PerfettoPart__InternedString **list, size_t count)
{
    for (size_t i = 0; i < count && !sink_failed(samples->sink); i++)
        if (keep_text(samples, copy_text(&list[i]->str)))
            set(samples, kind, sequence, list[i]->iid, (uint32_t)samples->texts.length - 1);
}

/* "": not known. */
static const char *text_of(const struct perfetto_samples *samples, enum kind kind,
                           uint32_t sequence, uint64_t number)
{
    uint32_t place = get(samples, kind, sequence, number);
    return place < samples->texts.length ? samples->texts.data[place] : "";
}

/* A mapping is known by its file: the last part of the path, which may come in parts. */
static void take_mappings(struct perfetto_samples *samples, uint32_t sequence,
                          const PerfettoPart__InternedData *data)
{
    for (size_t i = 0; i < data->n_mappings; i++) {
        const PerfettoPart__Mapping *mapping = data->mappings[i];
        size_t parts = mapping->n_path_string_ids;
        uint32_t path =
            parts ? get(samples, PATH, sequence, mapping->path_string_ids[parts - 1]) : IDMAP_NONE;
        if (path != IDMAP_NONE)
            set(samples, MAPPING, sequence, mapping->iid, path);
    }
}

/* The address of a function that is new; 0: not kept. */
static uint64_t new_function(struct perfetto_samples *samples, const char *name, const char *path)
{
    const struct function function = {name, path};
    if (samples->functions.length == MOST_FUNCTIONS) {
        samples->placeless_count++;
        return 0;
    }
    keep(samples, vec_push(&samples->functions, function));
    return sink_failed(samples->sink)
               ? 0
               : FIRST_ADDRESS + (samples->functions.length - 1) * FUNCTION_BYTES + FRAME_AT;
}

/* The address that stands for the function; 0: none. Texts: in `texts`, or `name` is `made`, which
 * is copied if the function is new. */
static uint64_t function_address(struct perfetto_samples *samples, const char *name,
                                 const char *path, const char *made)
{
    uint64_t id = hash64(hash64(0, name, strlen(name)), path, strlen(path));
    uint32_t place = idmap_get(&samples->function_of, id);
    if (place != IDMAP_NONE)
        return FIRST_ADDRESS + (uint64_t)place * FUNCTION_BYTES + FRAME_AT;
    if (name == made && samples->functions.length < MOST_FUNCTIONS)
        name = keep_text(samples, strdup(made));
    uint64_t address = name ? new_function(samples, name, path) : 0;
    if (address)
        keep(samples,
             idmap_put(&samples->function_of, id, (uint32_t)samples->functions.length - 1));
    return address;
}

/* A frame without a function's name has that of its file, and its place there. */
static uint64_t frame_address(struct perfetto_samples *samples, uint32_t sequence,
                              const PerfettoPart__Frame *frame)
{
    uint32_t mapping = get(samples, MAPPING, sequence, frame->mapping_id);
    const char *path = mapping < samples->texts.length ? samples->texts.data[mapping] : "";
    const char *name = text_of(samples, FUNCTION_NAME, sequence, frame->function_name_id);
    char made[300];
    snprintf(made, sizeof(made), "%.200s+0x%" PRIx64,
             *path ? kernel_events_last_part(path) : "unknown", frame->rel_pc);
    return function_address(samples, *name ? name : made, path, made);
}

static void take_frames(struct perfetto_samples *samples, uint32_t sequence,
                        const PerfettoPart__InternedData *data)
{
    for (size_t i = 0; i < data->n_frames && !sink_failed(samples->sink); i++) {
        uint64_t address = frame_address(samples, sequence, data->frames[i]);
        if (address)
            set(samples, FRAME, sequence, data->frames[i]->iid,
                (uint32_t)((address - FIRST_ADDRESS) / FUNCTION_BYTES));
    }
}

/* The file has the outermost frame first. Of a deep stack the innermost ones are kept. */
static void take_stacks(struct perfetto_samples *samples, uint32_t sequence,
                        const PerfettoPart__InternedData *data)
{
    for (size_t i = 0; i < data->n_callstacks && !sink_failed(samples->sink); i++) {
        const PerfettoPart__Callstack *from = data->callstacks[i];
        size_t first = samples->frames.length, last = first + ARGUS_STACK_MAX_FRAMES;
        for (size_t j = from->n_frame_ids; j-- > 0 && samples->frames.length < last;) {
            uint32_t place = get(samples, FRAME, sequence, from->frame_ids[j]);
            if (place != IDMAP_NONE)
                keep(samples,
                     vec_push(&samples->frames,
                              FIRST_ADDRESS + (uint64_t)place * FUNCTION_BYTES + FRAME_AT));
        }
        set(samples, STACK, sequence, from->iid, (uint32_t)samples->stacks.length);
        const struct frames_of stack = {first, samples->frames.length - first};
        keep(samples, vec_push(&samples->stacks, stack));
    }
}

static void take_names(struct perfetto_samples *samples, uint32_t sequence,
                       const PerfettoPart__InternedData *data)
{
    take_texts(samples, FUNCTION_NAME, sequence, data->function_names, data->n_function_names);
    take_texts(samples, PATH, sequence, data->mapping_paths, data->n_mapping_paths);
    take_mappings(samples, sequence, data);
    take_frames(samples, sequence, data);
    take_stacks(samples, sequence, data);
}

/* --- clocks --- */

static void take_clocks(struct perfetto_samples *samples,
                        const PerfettoPart__ClockSnapshot *snapshot)
{
    uint64_t boottime_ns = 0;
    for (size_t i = 0; i < snapshot->n_clocks; i++)
        if (snapshot->clocks[i]->clock_id == BOOTTIME_CLOCK)
            boottime_ns = snapshot->clocks[i]->timestamp;
    for (size_t i = 0; boottime_ns && i < snapshot->n_clocks; i++) {
        uint32_t clock = snapshot->clocks[i]->clock_id;
        if (clock >= BUILTIN_CLOCKS)
            continue;
        samples->to_boottime[clock] = (int64_t)(boottime_ns - snapshot->clocks[i]->timestamp);
        samples->has_clock[clock] = true;
    }
}

static bool time_of(const struct perfetto_samples *samples, const PerfettoPart__TracePacket *packet,
                    uint64_t *ret_ns)
{
    uint32_t usual = get(samples, CLOCK, packet->trusted_packet_sequence_id, 0);
    uint32_t clock = packet->has_timestamp_clock_id ? packet->timestamp_clock_id
                     : usual != IDMAP_NONE          ? usual
                                                    : BOOTTIME_CLOCK;
    if (!packet->has_timestamp || clock >= BUILTIN_CLOCKS || !samples->has_clock[clock])
        return false;
    *ret_ns = packet->timestamp + (uint64_t)samples->to_boottime[clock];
    return true;
}

/* --- samples --- */

/* Each process has entries of its own for its functions. */
static void write_code(struct perfetto_samples *samples, uint64_t process, uint64_t address)
{
    size_t place = (size_t)((address - FIRST_ADDRESS) / FUNCTION_BYTES);
    const uint64_t words[] = {process, place};
    uint64_t id = hash64(0, words, sizeof(words));
    if (idmap_get(&samples->written, id) != IDMAP_NONE)
        return;
    const struct function *function = &samples->functions.data[place];
    const struct argus_code_entry code = {.pid = process,
                                          .start = FIRST_ADDRESS + place * FUNCTION_BYTES,
                                          .bytes = FUNCTION_BYTES,
                                          .function = function->name,
                                          .source = function->path};
    if (!samples->nameless_count)
        samples->code_bytes += sizeof(code) + strlen(function->name) + strlen(function->path);
    if (samples->code_bytes > MOST_CODE_BYTES) {
        samples->nameless_count++;
        return;
    }
    keep(samples, idmap_put(&samples->written, id, 0));
    sink_code(samples->sink, &code);
}

static uint64_t stack_of(struct perfetto_samples *samples, uint32_t sequence,
                         const PerfettoPart__PerfSample *sample)
{
    uint32_t place = get(samples, STACK, sequence, sample->callstack_iid);
    if (!sample->has_callstack_iid || place >= samples->stacks.length)
        return 0;
    const uint64_t *frames = samples->frames.data + samples->stacks.data[place].first;
    size_t count = samples->stacks.data[place].count;
    for (size_t i = 0; i < count; i++)
        write_code(samples, sample->pid, frames[i]);
    return sink_stack(samples->sink, frames, count);
}

static bool no_field(const struct foreign_event *event, const char *name, uint64_t *ret)
{
    return (void)event, (void)name, (void)ret, false;
}

static const char *no_text(const struct foreign_event *event, const char *name)
{
    return (void)event, (void)name, NULL;
}

static const struct foreign_fields no_fields = {no_field, no_text, NULL};

static void take_sample(struct perfetto_samples *samples, struct kernel_events *events,
                        const PerfettoPart__TracePacket *packet)
{
    const PerfettoPart__PerfSample *sample = packet->perf_sample;
    struct foreign_event event = {.name = "cpu_sample",
                                  .tid = sample->tid,
                                  .cpu = sample->cpu,
                                  .context = ARGUS_CONTEXT_UNKNOWN,
                                  .fields = &no_fields};
    bool has_time = time_of(samples, packet, &event.time_ns);
    if (sample->kernel_records_lost)
        sink_lost(samples->sink, sample->cpu,
                  has_time ? event.time_ns : sink_last_ns(samples->sink),
                  sample->kernel_records_lost);
    if (sample->has_sample_skipped_reason) {
        samples->skipped_count++;
        return;
    }
    if (!sample->tid)
        return; /* only a loss, or the end of the data source */
    if (!has_time) {
        samples->timeless_count++;
        return;
    }
    event.user_stack = stack_of(samples, packet->trusted_packet_sequence_id, sample);
    sink_thread(samples->sink, sample->tid, sample->pid, 0, NULL, false);
    kernel_events_take(events, &event);
}

void perfetto_samples_take(struct perfetto_samples *samples, struct kernel_events *events,
                           const PerfettoPart__TracePacket *packet)
{
    uint32_t sequence = packet->trusted_packet_sequence_id;
    if (packet->clock_snapshot)
        take_clocks(samples, packet->clock_snapshot);
    if (packet->sequence_flags & STATE_CLEARED)
        forget_all(samples, sequence);
    if (packet->trace_packet_defaults && packet->trace_packet_defaults->has_timestamp_clock_id)
        set(samples, CLOCK, sequence, 0, packet->trace_packet_defaults->timestamp_clock_id);
    if (packet->interned_data)
        take_names(samples, sequence, packet->interned_data);
    if (packet->perf_sample)
        take_sample(samples, events, packet);
}

void perfetto_samples_note(const struct perfetto_samples *samples)
{
    if (samples->timeless_count)
        sink_note(samples->sink,
                  "imported: %" PRIu64 " samples were left out, because the file does not relate "
                  "their clock to that of the kernel's events",
                  samples->timeless_count);
    if (samples->skipped_count)
        sink_note(samples->sink,
                  "imported: %" PRIu64 " samples were left out, because the profiler skipped them",
                  samples->skipped_count);
    if (samples->placeless_count)
        sink_note(samples->sink,
                  "imported: %" PRIu64 " frames of call stacks were left out, because the file has "
                  "more than %d functions",
                  samples->placeless_count, MOST_FUNCTIONS);
    if (samples->nameless_count)
        sink_note(samples->sink,
                  "imported: %" PRIu64 " frames of samples have no name, because the names of all "
                  "processes' functions need more than %d MB",
                  samples->nameless_count, MOST_CODE_BYTES >> 20);
}
