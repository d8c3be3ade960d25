/* Finds the frames of PHP (the Zend engine), as interpreter_walk.h, which includes this file, does
 * for CPython. A global variable leads to the innermost frame, and each frame to its caller's. A
 * function in C also has such a frame, which is skipped: it is on the C stack.
 *
 * An instruction has 32 bytes, one of which is its line. So a function needs no table of lines: its
 * instructions get addresses that are made from the line, ZEND_LINE_BYTES for each line from the
 * function's first. They are outside of any memory, at ZEND_BASE + (start of the instructions <<
 * ZEND_SHIFT): then different functions never have the same address (zend_base()). The room is 1024
 * lines for each instruction (for Ruby, whose instructions and operands have 8 bytes, 256 for each
 * of these). Its last ZEND_LINE_BYTES stand for a line that is not known, or has no room. A code
 * object's table is ARGUS_CODE_EVEN_LINES.
 *
 * Nothing of the interpreter is on the C stack. But all frames up to one that has the mark were
 * interpreted by one call of the C function, so marks of the kind INSIDE say where they belong.
 *
 * Validity is as in interpreter_walk.h: the code object is a user's function, its instructions
 * contain the frame's. The innermost function may just have been entered: then the frame's
 * instruction is not yet written, and the line is the function's first.
 */
#ifndef ARGUS_RECORDER_LINUX_ZEND_WALK_H
#define ARGUS_RECORDER_LINUX_ZEND_WALK_H

enum {
    ZEND_FRAME_BYTES = 64, /* as far as a layout's offsets reach: in a frame, */
    ZEND_CODE_BYTES = 192, /* a code object, */
    ZEND_TEXT_BYTES = 24,  /* and a text */
    ZEND_USER_CODE = 2,    /* types of code objects: a function of a program, */
    ZEND_EVAL_CODE = 4,    /* or a text that it executes; 1 is a function in C */
    ZEND_INTERNAL_CODE = 1,
    ZEND_INSTRUCTION_BYTES = 32,
    ZEND_SHIFT = 6,
    ZEND_LINE_BYTES = 2,
    ZEND_MOST_UNITS = 1 << 20, /* instructions of a function */
};

#define ZEND_BASE         (1ull << 59)
#define ZEND_MOST_ADDRESS (1ull << 47)
#define ZEND_TAG_BITS     6 /* between the start of the instructions and ZEND_BASE */
#define ZEND_TAG_SHIFT    53

static __always_inline void zend_code_of(const struct interpreter_layout *layout,
                                         const struct interpreter_block *code,
                                         struct zend_code *ret)
{
    uint32_t units = (uint32_t)interpreter_field(code, layout->units);
    ret->start = interpreter_field(code, layout->code_start);
    ret->bytes = (uint64_t)units * ZEND_INSTRUCTION_BYTES;
    ret->line = (uint32_t)interpreter_field(code, layout->line);
    ret->type = (uint8_t)interpreter_field(code, layout->type);
}

static __always_inline bool zend_is_user_code(const struct zend_code *code)
{
    return (code->type == ZEND_USER_CODE || code->type == ZEND_EVAL_CODE) && code->start &&
           code->start < ZEND_MOST_ADDRESS &&
           code->bytes <= (uint64_t)ZEND_MOST_UNITS * ZEND_INSTRUCTION_BYTES;
}

/* An ID of the code object, including its texts. Copies of one function (closures) have the same.
 */
static __always_inline uint64_t zend_code_key(const struct interpreter_layout *layout,
                                              const struct interpreter_block *code, uint32_t pid)
{
    uint64_t key = interpreter_field(code, layout->code_start);
    key = interpreter_mix(key, (uint64_t)pid << 40);
    key = interpreter_mix(key, interpreter_field(code, layout->name));
    key = interpreter_mix(key, interpreter_field(code, layout->scope));
    uint32_t line = interpreter_field(code, layout->line);
    key = interpreter_mix(key, interpreter_field(code, layout->units) << 32 | line);
    return interpreter_mix(key, interpreter_field(code, layout->file));
}

/* The first of the addresses made for a code object's lines. Its memory may have belonged to
 * another one before, of an earlier request for example, with the same addresses. So six bits are
 * of the ID. */
static __always_inline uint64_t zend_base(const struct zend_code *code, uint64_t code_key)
{
    return ZEND_BASE + (code->start << ZEND_SHIFT) +
           (code_key >> (64 - ZEND_TAG_BITS) << ZEND_TAG_SHIFT);
}

/* The length of the text at `address`; 0: there is none. */
static __always_inline uint64_t zend_text_length(const struct interpreter_reader *reader,
                                                 const struct interpreter_layout *layout,
                                                 struct interpreter_block *text, uint64_t address)
{
    bool found = address && !INTERPRETER_READ(reader, text, ZEND_TEXT_BYTES, address);
    return found ? interpreter_field(text, layout->length) : 0;
}

/* Copies the names of the code object whose head is in `code`. ret->pid is set. */
static __always_inline void zend_copy_code(const struct interpreter_reader *reader,
                                           const struct interpreter_layout *layout,
                                           const struct interpreter_block *code,
                                           struct interpreter_block *text,
                                           const struct zend_code *head, struct bpf_code *ret)
{
    uint64_t text_bytes = layout->text_bytes;
    ret->kind = INTERPRETER_ZEND;
    ret->start = zend_base(head, zend_code_key(layout, code, ret->pid));
    ret->bytes = head->bytes << ZEND_SHIFT;
    ret->line = head->line;
    uint64_t name = interpreter_field(code, layout->name);
    uint64_t length = zend_text_length(reader, layout, text, name);
    ret->name_bytes =
        INTERPRETER_COPY(reader, ret->name, length, INTERPRETER_NAME_BYTES, name + text_bytes);
    uint64_t scope = interpreter_field(code, layout->scope);
    name = scope ? interpreter_word(reader, scope + layout->scope_name) : 0;
    length = zend_text_length(reader, layout, text, name);
    ret->scope_bytes =
        INTERPRETER_COPY(reader, ret->scope, length, INTERPRETER_SCOPE_BYTES, name + text_bytes);
    uint64_t file = interpreter_field(code, layout->file);
    length = zend_text_length(reader, layout, text, file);
    if (length > INTERPRETER_FILE_BYTES) /* a truncated path would name another file */
        length = 0;
    ret->file_bytes =
        INTERPRETER_COPY(reader, ret->file, length, INTERPRETER_FILE_BYTES, file + text_bytes);
    ret->table[0] = ARGUS_CODE_EVEN_LINES;
    ret->table_bytes = 1;
}

static __always_inline void zend_begin(const struct interpreter_reader *reader,
                                       const struct bpf_interpreter *interpreter,
                                       struct interpreter_walk *walk)
{
    walk->place.frame = interpreter_word(reader, interpreter->runtime + interpreter->layout.main);
    walk->place.holder = 0;
    walk->mark = interpreter->function | ARGUS_FRAME_MARK_INSIDE;
    walk->hash = 1;
    walk->stack.count = 0;
}

/* The offset in the code object, which has instructions, that stands for `line` (0: not known);
 * lines before the first one stand for it. */
static __always_inline uint64_t zend_offset(const struct zend_code *code, uint32_t line)
{
    uint64_t unknown = (code->bytes << ZEND_SHIFT) - ZEND_LINE_BYTES;
    uint64_t lines = line > code->line ? line - code->line : 0, offset = lines * ZEND_LINE_BYTES;
    return line && offset < unknown ? offset : unknown;
}

/* Adds walk->frame, if it is a user's function. False: it is invalid. */
static __always_inline bool zend_add_frame(const struct interpreter_reader *reader,
                                           const struct bpf_interpreter *interpreter,
                                           struct interpreter_walk *walk, uint32_t pid)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    if (INTERPRETER_READ(reader, &walk->block, ZEND_CODE_BYTES, walk->frame.code))
        return false;
    struct zend_code *code = &walk->zend;
    zend_code_of(layout, &walk->block, code);
    uint64_t offset = 0;
    walk->frame.is_shim = code->type == ZEND_INTERNAL_CODE;
    if (walk->frame.is_shim)
        return true;
    if (!zend_is_user_code(code))
        return false;
    if (walk->frame.instruction - code->start < code->bytes)
        offset = zend_offset(code, (uint32_t)interpreter_word(
                                       reader, walk->frame.instruction + layout->instruction_line));
    else if (walk->stack.count)
        return false;
    if (walk->mark)
        interpreter_add(walk, walk->mark, 0);
    walk->mark = 0;
    uint64_t key = zend_code_key(layout, &walk->block, pid);
    interpreter_add(walk, zend_base(code, key) + offset, walk->frame.code);
    walk->hash = interpreter_mix(walk->hash, key);
    return true;
}

/* The first half of a step: reads the frame at walk->place. Two halves, because a BPF program has
 * little room for the values of both. */
static __always_inline bool zend_read_frame(const struct interpreter_reader *reader,
                                            const struct interpreter_layout *layout,
                                            struct interpreter_walk *walk)
{
    struct interpreter_frame *frame = &walk->frame;
    if (INTERPRETER_READ(reader, &walk->block, ZEND_FRAME_BYTES, walk->place.frame)) {
        walk->stack.count = 0;
        return false;
    }
    frame->code = interpreter_field(&walk->block, layout->code);
    frame->instruction = interpreter_field(&walk->block, layout->instruction);
    frame->previous = interpreter_field(&walk->block, layout->previous);
    frame->is_outermost = (interpreter_field(&walk->block, layout->mark) & layout->outermost) != 0;
    frame->is_shim = true;
    return true;
}

/* The second half, as interpreter_step_over(). A frame without code only links to others. */
static __always_inline bool zend_step_over(const struct interpreter_reader *reader,
                                           const struct bpf_interpreter *interpreter,
                                           struct interpreter_walk *walk, uint32_t pid)
{
    const struct interpreter_frame *frame = &walk->frame;
    if (frame->code && !zend_add_frame(reader, interpreter, walk, pid)) {
        walk->stack.count = 0;
        return false;
    }
    if (frame->is_outermost && !frame->is_shim)
        walk->mark = interpreter->function | ARGUS_FRAME_MARK_INSIDE;
    walk->place.frame = frame->previous;
    return walk->place.frame && walk->stack.count < BPF_STACK_FRAMES;
}

/* Reads the head of the user's function at `address`; false: it is none. */
static __always_inline bool zend_read_code(const struct interpreter_reader *reader,
                                           const struct interpreter_layout *layout,
                                           struct interpreter_walk *walk, uint64_t address)
{
    if (!address || INTERPRETER_READ(reader, &walk->block, ZEND_CODE_BYTES, address))
        return false;
    zend_code_of(layout, &walk->block, &walk->zend);
    return zend_is_user_code(&walk->zend);
}

#endif
