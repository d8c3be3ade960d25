/* Decodes the payloads of a step file into arrays, and checks every number. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "steps/steps_file.h"
#include "steps/steps_layout.h"
#include "trace/reason.h"

static bool take_text(struct cursor *cursor, const char **ret)
{
    uint64_t length;
    uint32_t id;
    if (!take_varint(cursor, &length) || length > cursor->end - cursor->at)
        return false;
    char *text = (char *)cursor->payload + cursor->at;
    cursor->at += length;
    utf8_repair_name(text, length);
    struct argus_error *error = strtab_intern(cursor->strings, text, length, &id);
    cursor->no_memory |= error != NULL;
    argus_error_destroy(error);
    *ret = error ? "" : strtab_get(cursor->strings, id);
    return !error;
}

static bool keep(struct cursor *cursor, bool pushed)
{
    cursor->no_memory |= !pushed;
    return pushed;
}

/* An ID, stored as itself + 1; 0: none. */
static bool take_frame_id(struct cursor *cursor, uint32_t *ret)
{
    uint32_t value;
    if (!take_u32(cursor, &value))
        return false;
    *ret = value == 0 ? ARGUS_NONE : value - 1;
    return true;
}

/* --- one entry of each kind; false: it is damaged --- */

static bool take_about(struct cursor *cursor, struct argus_steps *steps)
{
    struct argus_steps_about *about = &steps->about;
    uint32_t engine, begin;
    if (about->comm || !take_u32(cursor, &engine) || !take_u32(cursor, &begin) ||
        !take_u32(cursor, &about->vertex) || !take_varint(cursor, &about->trace_identity) ||
        !take_varint(cursor, &about->pid) || !take_varint(cursor, &about->tid) ||
        !take_varint(cursor, &about->wall_ns) || !take_varint(cursor, &about->begin_address) ||
        !take_text(cursor, &about->comm) || !take_text(cursor, &about->exe) ||
        !take_text(cursor, &about->trace) || !take_text(cursor, &about->begin_text))
        return false;
    about->engine =
        engine <= ARGUS_STEP_ENGINE_LLDB ? (enum argus_step_engine)engine : ARGUS_STEP_ENGINE_OTHER;
    about->begin =
        begin == ARGUS_STEP_BEGIN_ANYWHERE ? ARGUS_STEP_BEGIN_ANYWHERE : ARGUS_STEP_BEGIN_PLACE;
    return true;
}

static bool take_image(struct cursor *cursor, struct argus_steps *steps)
{
    struct argus_step_image image = {0};
    uint64_t length, flags;
    if (!take_varint(cursor, &image.start) || !take_varint(cursor, &length) ||
        !take_varint(cursor, &image.file_offset) || !take_varint(cursor, &flags) ||
        !take_u32(cursor, &image.build_id_bytes) || image.build_id_bytes > STEPS_BUILD_ID_BYTES ||
        image.build_id_bytes > cursor->end - cursor->at)
        return false;
    memcpy(image.build_id, cursor->payload + cursor->at, image.build_id_bytes);
    cursor->at += image.build_id_bytes;
    image.executable = flags & 1;
    image.writable = flags & 2;
    image.stepped = flags & 4;
    if (!take_text(cursor, &image.path) || !length ||
        __builtin_add_overflow(image.start, length, &image.end))
        return false;
    bool ascends = steps->images.length == 0 ||
                   steps->images.data[steps->images.length - 1].end <= image.start;
    return ascends && keep(cursor, vec_push(&steps->images, image));
}

static bool take_code(struct cursor *cursor, struct argus_steps *steps)
{
    struct steps_code piece = {.order = (uint32_t)steps->code.length,
                               .at = steps->code_bytes.length};
    uint64_t last;
    if (!take_varint(cursor, &piece.address) || !take_u32(cursor, &piece.bytes) ||
        piece.bytes == 0 || piece.bytes > STEPS_CODE_BYTES ||
        piece.bytes > cursor->end - cursor->at ||
        __builtin_add_overflow(piece.address, piece.bytes - 1, &last))
        return false;
    if (!keep(cursor, vec_reserve(&steps->code_bytes, piece.bytes)))
        return false;
    memcpy(steps->code_bytes.data + piece.at, cursor->payload + cursor->at, piece.bytes);
    steps->code_bytes.length += piece.bytes;
    cursor->at += piece.bytes;
    return keep(cursor, vec_push(&steps->code, piece));
}

static bool take_pc(struct cursor *cursor, struct argus_steps *steps)
{
    uint64_t difference;
    if (steps->pcs.length >= ARGUS_STEPS_MOST || !take_varint(cursor, &difference))
        return false;
    cursor->address += unzigzag(difference);
    return keep(cursor, vec_push(&steps->pcs, cursor->address));
}

static bool take_stack_frame(struct cursor *cursor, struct argus_steps *steps)
{
    struct argus_step_frame frame;
    if (!take_varint(cursor, &frame.return_address) || !take_varint(cursor, &frame.function) ||
        !take_frame_id(cursor, &frame.caller))
        return false;
    bool is_earlier = frame.caller == ARGUS_NONE || frame.caller < steps->frames.length;
    return is_earlier && keep(cursor, vec_push(&steps->frames, frame));
}

static bool take_event(struct cursor *cursor, struct argus_steps *steps)
{
    struct argus_step_event event = {0};
    uint64_t kind, returned;
    uint32_t later;
    uint32_t before = steps->events.length ? steps->events.data[steps->events.length - 1].step : 0;
    if (!take_varint(cursor, &kind) || kind < ARGUS_STEP_CALL || kind > ARGUS_STEP_SIGNAL ||
        !take_u32(cursor, &later) || __builtin_add_overflow(before, later, &event.step) ||
        !take_frame_id(cursor, &event.frame) || !take_varint(cursor, &returned) ||
        !take_varint(cursor, &event.address) || !take_varint(cursor, &event.value))
        return false;
    event.kind = (uint8_t)kind;
    event.returned = returned & 1;
    bool has_arguments = kind == ARGUS_STEP_CALL || kind == ARGUS_STEP_SKIP;
    for (int i = 0; i < 6 && has_arguments; i++)
        if (!take_varint(cursor, &event.arguments[i]))
            return false;
    return keep(cursor, vec_push(&steps->events, event));
}

static bool take_end(struct cursor *cursor, struct argus_steps *steps)
{
    uint32_t end;
    if (!take_u32(cursor, &end) || !take_varint(cursor, &steps->elapsed_ns) ||
        !take_frame_id(cursor, &steps->first_frame) || !take_text(cursor, &steps->end_text))
        return false;
    steps->end = end >= ARGUS_STEP_END_MOST && end <= ARGUS_STEP_END_ERROR
                     ? (enum argus_step_end)end
                     : ARGUS_STEP_END_ERROR;
    return true;
}

/* --- registers --- */

static bool decode_row(struct cursor *cursor, uint32_t register_count, uint64_t *row,
                       bool *ret_there)
{
    uint64_t bits, difference;
    if (!take_varint(cursor, &bits))
        return false;
    *ret_there = bits & 1;
    bits >>= 1;
    if ((bits && !*ret_there) || bits >> register_count)
        return false;
    for (uint32_t i = 0; bits; i++, bits >>= 1) {
        if (!(bits & 1))
            continue;
        if (!take_varint(cursor, &difference))
            return false;
        row[i] += unzigzag(difference);
    }
    return true;
}

bool steps_registers_decode(const struct argus_steps *steps, const struct steps_registers *chunk,
                            uint64_t *rows, bool *there)
{
    uint64_t row[ARGUS_STEP_REGISTERS] = {0};
    struct cursor cursor = {.payload = chunk->payload, .end = chunk->bytes};
    for (uint32_t i = 0; i < chunk->count; i++) {
        bool is_there;
        if (!decode_row(&cursor, steps->register_count, row, &is_there))
            return false;
        if (!rows)
            continue;
        memcpy(rows + (size_t)i * steps->register_count, row,
               steps->register_count * sizeof(row[0]));
        there[i] = is_there;
    }
    return cursor.at == cursor.end;
}

/* Registers belong to the last steps so far. */
static const char *take_registers(struct argus_steps *steps, struct steps_payload *payload)
{
    struct steps_registers chunk = {.count = payload->count,
                                    .payload = payload->cursor.payload,
                                    .bytes = (uint32_t)payload->cursor.end};
    const struct steps_registers *last =
        steps->registers.length ? &steps->registers.data[steps->registers.length - 1] : NULL;
    if (chunk.count > steps->pcs.length || chunk.count > STEPS_CHUNK_STEPS)
        return "there are registers of steps that do not exist";
    chunk.first_step = (uint32_t)(steps->pcs.length - chunk.count);
    if (last && last->first_step + last->count > chunk.first_step)
        return "a step has registers twice";
    if (!steps_registers_decode(steps, &chunk, NULL, NULL))
        return "registers are cut off or not possible";
    chunk.payload =
        vec_reserve(&steps->registers, 1) ? malloc((size_t)chunk.bytes + VARINT_SLACK) : NULL;
    if (!chunk.payload)
        return REASON_MEMORY;
    memcpy(chunk.payload, payload->cursor.payload, (size_t)chunk.bytes + VARINT_SLACK);
    steps->registers.data[steps->registers.length++] = chunk;
    return NULL;
}

/* --- all --- */

/* To add a kind of chunk: its number in steps_layout.h and in the format's text, a take_… function
 * here, and a row. Kinds without a row come from a newer minor version and are skipped. */
static const struct {
    bool (*take)(struct cursor *cursor, struct argus_steps *steps);
    const char *reason;
} kinds[] = {
    [STEPS_CHUNK_ABOUT] = {take_about, "the chunk that says what was stepped is damaged"},
    [STEPS_CHUNK_IMAGES] = {take_image, "an image is damaged"},
    [STEPS_CHUNK_CODE] = {take_code, "a piece of code is damaged"},
    [STEPS_CHUNK_PCS] = {take_pc, "steps are cut off, or too many"},
    [STEPS_CHUNK_FRAMES] = {take_stack_frame, "a stack frame is damaged"},
    [STEPS_CHUNK_EVENTS] = {take_event, "an event is damaged"},
    [STEPS_CHUNK_END] = {take_end, "its end is damaged"},
};

const char *steps_take(struct argus_steps *steps, unsigned kind, struct steps_payload *payload)
{
    if (kind == STEPS_CHUNK_REGISTERS)
        return take_registers(steps, payload);
    if (kind >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[kind].take)
        return NULL;
    for (uint32_t i = 0; i < payload->count; i++)
        if (!kinds[kind].take(&payload->cursor, steps))
            return payload->cursor.no_memory ? REASON_MEMORY : kinds[kind].reason;
    return payload->cursor.at == payload->cursor.end ? NULL : kinds[kind].reason;
}

static int compare_code(const void *left, const void *right)
{
    const struct steps_code *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

const char *steps_finish(struct argus_steps *steps)
{
    if (!steps->about.comm)
        return "no chunk says what was stepped";
    if (steps->code.length)
        qsort(steps->code.data, steps->code.length, sizeof(*steps->code.data), compare_code);
    for (size_t i = 1; i < steps->code.length; i++)
        if (steps->code.data[i].address - steps->code.data[i - 1].address <
            steps->code.data[i - 1].bytes)
            return "two pieces of code overlap";
    for (size_t i = 0; i < steps->events.length; i++) {
        const struct argus_step_event *event = &steps->events.data[i];
        if (event->step >= steps->pcs.length)
            return "an event follows a step that does not exist";
        if (event->frame != ARGUS_NONE && event->frame >= steps->frames.length)
            return "an event names a stack frame that does not exist";
    }
    if (steps->first_frame != ARGUS_NONE && steps->first_frame >= steps->frames.length)
        return "the first step is in a stack frame that does not exist";
    return NULL;
}
