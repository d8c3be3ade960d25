/* From a thread to the frames of the interpreter that it runs, in the memory of its process. For the BPF programs, and for the
 * recorder, which looks at threads that still wait when a recording ends. Each defines, before it includes this:
 *
 *   INTERPRETER_READ(reader, to, from)               fills what `to` points to; not 0: the memory is not there
 *   INTERPRETER_COPY(reader, to, bytes, most, from)  copies `bytes`, at most `most`; returns how many, 0 if they are not there
 *
 * Nothing read here is trusted: an address that is none cannot be read, and a code object counts only if its type and those of its
 * texts are what the interpreter's file says.
 */
#ifndef ARGUS_RECORDER_LINUX_INTERPRETER_WALK_H
#define ARGUS_RECORDER_LINUX_INTERPRETER_WALK_H

#include "shared.h"

#define INTERPRETER_THREADS 128 /* of a process that are looked through */

static __always_inline uint64_t interpreter_word(const struct interpreter_reader *reader,
                                                 uint64_t from)
{
    uint64_t word = 0;
    (void)INTERPRETER_READ(reader, &word, from); /* else it stays 0, in BPF as well */
    return word;
}

/* The thread state of the thread with this thread pointer; 0: none. */
static __always_inline uint64_t interpreter_thread(const struct interpreter_reader *reader,
                                                   const struct bpf_interpreter *interpreter,
                                                   uint64_t thread_pointer)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint64_t main = interpreter_word(reader, interpreter->runtime + layout->main);
    uint64_t thread = main ? interpreter_word(reader, main + layout->threads) : 0;
    for (uint64_t i = 0; i < INTERPRETER_THREADS && thread; i++) {
        if (interpreter_word(reader, thread + layout->thread_id) == thread_pointer)
            return thread;
        thread = interpreter_word(reader, thread + layout->next);
    }
    return 0;
}

/* A place between two frames. */
struct interpreter_place {
    uint64_t frame, holder;
};

static __always_inline struct interpreter_place
interpreter_innermost(const struct interpreter_reader *reader,
                      const struct bpf_interpreter *interpreter, uint64_t thread)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint64_t found = interpreter_word(reader, thread + layout->frame);
    struct interpreter_place place = {found, 0};
    if (layout->has_holder && found) {
        place.holder = found;
        place.frame = interpreter_word(reader, found + layout->holder_frame);
    }
    return place;
}

/* One frame. */
struct interpreter_frame {
    uint64_t code, instruction, previous;
    uint8_t is_outermost, is_shim;
};

static __always_inline struct interpreter_frame
interpreter_read_frame(const struct interpreter_reader *reader,
                       const struct interpreter_layout *layout, uint64_t frame)
{
    struct interpreter_frame ret = {0};
    uint8_t mark = 0;
    ret.code = interpreter_word(reader, frame + layout->code);
    ret.instruction = interpreter_word(reader, frame + layout->instruction);
    ret.previous = interpreter_word(reader, frame + layout->previous);
    if (INTERPRETER_READ(reader, &mark, frame + layout->mark))
        ret.previous = 0;
    ret.is_outermost = mark == layout->outermost;
    ret.is_shim = ret.is_outermost && layout->is_shim;
    return ret;
}

/* What names a code object: when its memory is used again, one of them is another one. */
struct interpreter_texts {
    uint64_t file, name, qualified_name, table;
};

static __always_inline uint64_t interpreter_code_key(uint32_t pid, uint64_t code,
                                                     const struct interpreter_texts *texts)
{
    uint64_t key = (code ^ (uint64_t)pid << 40) * 0x9e3779b97f4a7c15ull;
    key = (key ^ key >> 32 ^ texts->qualified_name) * 0x9e3779b97f4a7c15ull;
    key = (key ^ key >> 32 ^ texts->table) * 0x9e3779b97f4a7c15ull;
    return key ^ key >> 32 ^ texts->file;
}

/* The length of the object at `from` if it has this type; UINT64_MAX: it has another one. */
static __always_inline uint64_t interpreter_length(const struct interpreter_reader *reader,
                                                   const struct interpreter_layout *layout,
                                                   uint64_t from, uint64_t type)
{
    uint64_t length = UINT64_MAX;
    if (!from || interpreter_word(reader, from + layout->type) != type ||
        INTERPRETER_READ(reader, &length, from + layout->length))
        return UINT64_MAX;
    return length;
}

/* The length of the plain text at `from`; 0: it is none. */
static __always_inline uint64_t interpreter_text_length(const struct interpreter_reader *reader,
                                                        const struct bpf_interpreter *interpreter,
                                                        uint64_t from)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint64_t length = interpreter_length(reader, layout, from, interpreter->text_type);
    uint32_t state = 0;
    if (length == UINT64_MAX || INTERPRETER_READ(reader, &state, from + layout->text_state) ||
        (state & layout->text_mask) != layout->text_mask)
        return 0;
    return length;
}

/* Copies what names the code object, as far as its texts are plain ASCII; 0: it is none. */
static __always_inline uint32_t interpreter_copy_code(const struct interpreter_reader *reader,
                                                      const struct bpf_interpreter *interpreter,
                                                      uint64_t code,
                                                      const struct interpreter_texts *texts,
                                                      struct bpf_code *ret)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint64_t units = interpreter_length(reader, layout, code, interpreter->code_type);
    if (units > INTERPRETER_MOST_UNITS)
        return 0;
    ret->start = code + layout->instructions;
    ret->bytes = units * 2;
    if (INTERPRETER_READ(reader, &ret->line, code + layout->line))
        ret->line = 0;
    uint64_t length = interpreter_text_length(reader, interpreter, texts->qualified_name);
    ret->name_bytes = INTERPRETER_COPY(reader, ret->name, length, INTERPRETER_NAME_BYTES,
                                       texts->qualified_name + layout->text_bytes);
    length = interpreter_text_length(reader, interpreter, texts->file);
    if (length > INTERPRETER_FILE_BYTES) /* a part of a path names another file */
        length = 0;
    ret->file_bytes = INTERPRETER_COPY(reader, ret->file, length, INTERPRETER_FILE_BYTES,
                                       texts->file + layout->text_bytes);
    length = interpreter_length(reader, layout, texts->table, interpreter->bytes_type);
    if (length == UINT64_MAX)
        length = 0;
    ret->table_bytes = INTERPRETER_COPY(reader, ret->table, length, INTERPRETER_TABLE_BYTES,
                                        texts->table + layout->table_bytes);
    return 1;
}

#endif
