/* Finds the interpreter frames of a thread in the memory of its process. For the BPF programs, and
 * for the recorder, which reads threads that are still blocked when a recording ends. Each includer
 * first defines:
 *
 *   INTERPRETER_READ(reader, to, bytes, from)        copies `bytes`, a constant; not 0: the memory is not there
 *   INTERPRETER_COPY(reader, to, bytes, most, from)  copies `bytes`, at most `most`; returns how many, 0 if they are not there
 *   bounded(index, size)                             `index`, cut to below `size`, a power of two
 *
 * Each struct of the interpreter is read as a whole, because each read is expensive and access to a
 * field of the copy is not.
 *
 * Nothing read here is trusted. Reading an invalid address fails. A frame is valid only if its code
 * object has the type that the interpreter's file defines, and its instruction lies in that object.
 * One invalid frame makes all frames of the thread invalid.
 */
#ifndef ARGUS_RECORDER_LINUX_INTERPRETER_WALK_H
#define ARGUS_RECORDER_LINUX_INTERPRETER_WALK_H

#include "shared.h"

enum {
    INTERPRETER_THREADS = 128,  /* threads of a process that are searched */
    INTERPRETER_UNIT_BYTES = 2, /* of an instruction */
    INTERPRETER_CONSTANTS = 24, /* in a code object of CPython: behind its head; then its names */
    /* addresses of programs are below (4 levels of page tables), marks above */
    INTERPRETER_TAG_SHIFT = 48,
    INTERPRETER_TAG_BITS = 12,
    /* The bytes that a layout's offsets can reach: in a thread state,. */
    INTERPRETER_THREAD_BYTES = 160,
    INTERPRETER_FRAME_BYTES = 72,  /* a frame, */
    INTERPRETER_CODE_BYTES = 144,  /* a code object, */
    INTERPRETER_TEXT_BYTES = 40,   /* a text, */
    INTERPRETER_OBJECT_BYTES = 24, /* and an object with a length */
    INTERPRETER_BLOCK_WORDS = 32,  /* room for any of them */
};

#define INTERPRETER_HASH 0x9e3779b97f4a7c15ull

/* A copy of a struct of the interpreter. */
struct interpreter_block {
    uint64_t words[INTERPRETER_BLOCK_WORDS];
};

/* A mark between two frames. */
struct interpreter_place {
    uint64_t frame, holder;
};

struct interpreter_frame {
    uint64_t code, instruction, previous;
    uint8_t is_outermost, is_shim;
};

/* The head of a code object of INTERPRETER_ZEND and INTERPRETER_YARV. */
struct zend_code {
    uint64_t start, bytes; /* of the instructions */
    uint32_t line;
    uint32_t type;
};

/* The state of a walk. All of it is here because the stack of a BPF program is small. */
struct interpreter_walk {
    struct bpf_stack stack; /* marks and instructions so far */
    /* The code object of each entry of the stack; 0: it is a mark. */
    uint64_t codes[BPF_STACK_FRAMES];
    struct interpreter_block block, text;
    struct interpreter_place place;
    struct interpreter_frame frame; /* at `place` */
    struct zend_code zend;          /* of `frame` */
    uint64_t mark;                  /* of the following frames; 0: it was written */
    uint64_t hash;                  /* of all entries so far, and of the names of their code */
};

/* The field at `offset`, in the lower bits. A field is within one word. */
static __always_inline uint64_t interpreter_field(const struct interpreter_block *block,
                                                  uint64_t offset)
{
    uint64_t word = block->words[bounded(offset / 8, INTERPRETER_BLOCK_WORDS)];
    return word >> offset % 8 * 8;
}

static __always_inline uint64_t interpreter_word(const struct interpreter_reader *reader,
                                                 uint64_t from)
{
    uint64_t word = 0;
    /* Otherwise it stays 0, in BPF as well. */
    (void)INTERPRETER_READ(reader, &word, sizeof(word), from);
    return word;
}

static __always_inline uint64_t interpreter_mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * INTERPRETER_HASH;
    return hash ^ hash >> 32;
}

/* --- the thread --- */

/* Searches for the state of the thread with this thread pointer. Returns its innermost frame, or
 * the struct that holds it; 0: none. */
static __always_inline uint64_t interpreter_thread(const struct interpreter_reader *reader,
                                                   const struct bpf_interpreter *interpreter,
                                                   struct interpreter_block *block,
                                                   uint64_t thread_pointer)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint64_t main = interpreter_word(reader, interpreter->runtime + layout->main);
    uint64_t thread = main ? interpreter_word(reader, main + layout->threads) : 0;
    for (uint64_t i = 0; i < INTERPRETER_THREADS; i++) {
        if (!thread || INTERPRETER_READ(reader, block, INTERPRETER_THREAD_BYTES, thread))
            return 0;
        if (interpreter_field(block, layout->thread_id) == thread_pointer)
            return interpreter_field(block, layout->frame);
        thread = interpreter_field(block, layout->next);
    }
    return 0;
}

/* `found`: result of interpreter_thread(). */
static __always_inline void interpreter_begin(const struct interpreter_reader *reader,
                                              const struct bpf_interpreter *interpreter,
                                              struct interpreter_walk *walk, uint64_t found)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint64_t holder = layout->has_holder ? found : 0;
    walk->place.frame = holder ? interpreter_word(reader, holder + layout->holder_frame) : found;
    walk->place.holder = holder;
    walk->mark = holder ? holder | ARGUS_FRAME_MARK_BEFORE : 0;
    walk->hash = 1;
    walk->stack.count = 0;
}

/* --- code objects --- */

/* Computes an ID of the code object whose head is in `code`, including its constants, names, texts,
 * first line and length: if its memory is used again, even the texts may be at the addresses of the
 * earlier ones, but then at least one of the others differs. */
static __always_inline uint64_t interpreter_code_key(const struct interpreter_layout *layout,
                                                     const struct interpreter_block *code,
                                                     uint32_t pid, uint64_t address)
{
    uint64_t texts = layout->texts;
    uint32_t line = interpreter_field(code, layout->line);
    uint64_t key = interpreter_mix(address, (uint64_t)pid << 40);
    key = interpreter_mix(key, interpreter_field(code, texts + 16));
    key = interpreter_mix(key, interpreter_field(code, texts + 24));
    key = interpreter_mix(key, interpreter_field(code, texts));
    key = interpreter_mix(key, interpreter_field(code, layout->units) << 32 | line);
    key = interpreter_mix(key, interpreter_field(code, INTERPRETER_CONSTANTS));
    return interpreter_mix(key, interpreter_field(code, INTERPRETER_CONSTANTS + 8));
}

/* Added to the addresses of a code object's instructions, in bits that no address of a program has.
 * Memory of one code object is often used again for another one: that of a module, for a function
 * made later. With this, the two have different addresses, except one time in 4096. */
static __always_inline uint64_t interpreter_tag(uint64_t code_key)
{
    return code_key >> (64 - INTERPRETER_TAG_BITS) << INTERPRETER_TAG_SHIFT;
}

/* Reads the head of the code object at `address`; false if it is not a code object. */
static __always_inline bool interpreter_read_code(const struct interpreter_reader *reader,
                                                  const struct bpf_interpreter *interpreter,
                                                  struct interpreter_block *ret, uint64_t address)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    return address && !INTERPRETER_READ(reader, ret, INTERPRETER_CODE_BYTES, address) &&
           interpreter_field(ret, layout->type) == interpreter->code_type &&
           interpreter_field(ret, layout->units) <= INTERPRETER_MOST_UNITS;
}

/* Reads the head of the text or bytes object at `address`, if it has this type. */
static __always_inline bool interpreter_read_object(const struct interpreter_reader *reader,
                                                    const struct interpreter_layout *layout,
                                                    struct interpreter_block *ret, uint64_t address,
                                                    uint64_t type)
{
    return address && !INTERPRETER_READ(reader, ret, INTERPRETER_OBJECT_BYTES, address) &&
           interpreter_field(ret, layout->type) == type;
}

/* The length of the ASCII text at `address`; 0: not such a text. */
static __always_inline uint64_t interpreter_text_length(const struct interpreter_reader *reader,
                                                        const struct bpf_interpreter *interpreter,
                                                        struct interpreter_block *text,
                                                        uint64_t address)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    if (!address || INTERPRETER_READ(reader, text, INTERPRETER_TEXT_BYTES, address) ||
        interpreter_field(text, layout->type) != interpreter->text_type)
        return 0;
    uint32_t state = interpreter_field(text, layout->text_state);
    bool is_plain = (state & layout->text_mask) == layout->text_mask;
    return is_plain ? interpreter_field(text, layout->length) : 0;
}

/* Copies the names of the code object whose head is in `code`, if they are plain ASCII. ret->pid is
 * set. */
static __always_inline void interpreter_copy_code(const struct interpreter_reader *reader,
                                                  const struct bpf_interpreter *interpreter,
                                                  const struct interpreter_block *code,
                                                  struct interpreter_block *text, uint64_t address,
                                                  struct bpf_code *ret)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    ret->kind = INTERPRETER_CPYTHON;
    ret->scope_bytes = 0;
    ret->start = address + layout->instructions +
                 interpreter_tag(interpreter_code_key(layout, code, ret->pid, address));
    ret->bytes = interpreter_field(code, layout->units) * INTERPRETER_UNIT_BYTES;
    ret->line = interpreter_field(code, layout->line);
    uint64_t name = interpreter_field(code, layout->texts + 16);
    uint64_t length = interpreter_text_length(reader, interpreter, text, name);
    ret->name_bytes = INTERPRETER_COPY(reader, ret->name, length, INTERPRETER_NAME_BYTES,
                                       name + layout->text_bytes);
    uint64_t file = interpreter_field(code, layout->texts);
    length = interpreter_text_length(reader, interpreter, text, file);
    if (length > INTERPRETER_FILE_BYTES) /* a truncated path would name another file */
        length = 0;
    ret->file_bytes = INTERPRETER_COPY(reader, ret->file, length, INTERPRETER_FILE_BYTES,
                                       file + layout->text_bytes);
    uint64_t table = interpreter_field(code, layout->texts + 24);
    bool has_table = interpreter_read_object(reader, layout, text, table, interpreter->bytes_type);
    length = has_table ? interpreter_field(text, layout->length) : 0;
    ret->table_bytes = INTERPRETER_COPY(reader, ret->table, length, INTERPRETER_TABLE_BYTES,
                                        table + layout->table_bytes);
}

/* --- frames --- */

/* The number of entries is volatile, in memory: otherwise the verifier would analyse each value
 * separately. */
static __always_inline void interpreter_add(struct interpreter_walk *walk, uint64_t entry,
                                            uint64_t code)
{
    uint64_t at = *(volatile uint64_t *)&walk->stack.count;
    if (at >= BPF_STACK_FRAMES)
        return;
    walk->stack.frames[bounded(at, BPF_STACK_FRAMES)] = entry;
    walk->codes[bounded(at, BPF_STACK_FRAMES)] = code;
    *(volatile uint64_t *)&walk->stack.count = at + 1;
    walk->hash = interpreter_mix(walk->hash, entry);
}

/* The frame at walk->place. */
static __always_inline bool interpreter_read_frame(const struct interpreter_reader *reader,
                                                   const struct interpreter_layout *layout,
                                                   struct interpreter_walk *walk)
{
    struct interpreter_frame *frame = &walk->frame;
    const struct interpreter_block *block = &walk->block;
    if (INTERPRETER_READ(reader, &walk->block, INTERPRETER_FRAME_BYTES, walk->place.frame))
        return false;
    frame->code = interpreter_field(block, layout->code);
    frame->instruction = interpreter_field(block, layout->instruction);
    frame->previous = interpreter_field(block, layout->previous);
    frame->is_outermost = (uint8_t)interpreter_field(block, layout->mark) == layout->outermost;
    frame->is_shim = frame->is_outermost && layout->is_shim;
    return true;
}

/* Adds walk->frame if its instruction lies in its code object. In a function that has just been
 * entered, it may be the instruction before the first. */
static __always_inline bool interpreter_add_frame(const struct interpreter_reader *reader,
                                                  const struct bpf_interpreter *interpreter,
                                                  struct interpreter_walk *walk, uint32_t pid)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint64_t code = walk->frame.code;
    if (!interpreter_read_code(reader, interpreter, &walk->block, code))
        return false;
    uint64_t start = code + layout->instructions, instruction = walk->frame.instruction;
    uint64_t bytes = interpreter_field(&walk->block, layout->units) * INTERPRETER_UNIT_BYTES;
    if (instruction + INTERPRETER_UNIT_BYTES == start)
        instruction = start;
    if (instruction - start >= bytes)
        return false;
    if (walk->mark)
        interpreter_add(walk, walk->mark, 0);
    walk->mark = 0;
    uint64_t key = interpreter_code_key(layout, &walk->block, pid, code);
    interpreter_add(walk, instruction + interpreter_tag(key), code);
    walk->hash = interpreter_mix(walk->hash, key);
    return true;
}

/* Goes to the next frame. False: there is none, the stack is full, or the frame is invalid (then
 * the stack has no entries). */
static __always_inline bool interpreter_step_over(const struct interpreter_reader *reader,
                                                  const struct bpf_interpreter *interpreter,
                                                  struct interpreter_walk *walk, uint32_t pid)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    struct interpreter_place *place = &walk->place;
    if (!interpreter_read_frame(reader, layout, walk) ||
        (!walk->frame.is_shim && !interpreter_add_frame(reader, interpreter, walk, pid))) {
        walk->stack.count = 0;
        return false;
    }
    if (walk->frame.is_outermost && place->holder) {
        place->holder = interpreter_word(reader, place->holder + layout->holder_previous);
        walk->mark = place->holder | ARGUS_FRAME_MARK_BEFORE;
    } else if (walk->frame.is_shim) {
        interpreter_add(walk, place->frame | ARGUS_FRAME_MARK_AFTER, 0);
    }
    place->frame = walk->frame.previous;
    return place->frame && walk->stack.count < BPF_STACK_FRAMES;
}

#include "zend_walk.h"

#include "yarv_walk.h"

#endif
