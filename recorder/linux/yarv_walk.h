/* Finds the frames of Ruby (YARV), as interpreter_walk.h, which includes this file, does for
 * CPython. A global variable leads to the virtual machine, whose main ractor has the list of
 * threads, which is walked from its end: the newest thread is the last one. A thread has an
 * execution context (that of the fiber that runs), and this has an array of control frames that
 * grows to lower addresses: the caller's frame is behind that of the callee. Frames of functions in
 * C are skipped, because these are on the C stack; so are those that Ruby pushes while it compiles
 * a file, whose code objects have no instructions.
 *
 * A frame's flags are at its environment pointer. All frames up to one with the flag FINISH were
 * interpreted by one call of rb_vm_exec(), so marks of the kind INSIDE say where they belong.
 *
 * The line of an instruction is in a table, whose row is the rank of a bit in a bit vector
 * (succ_index_lookup() in Ruby's iseq.c, Ruby 2.6 and later). As for PHP, addresses are made from
 * lines.
 *
 * Validity: the code object has the type of instruction sequences, the frame's instruction lies in
 * it, the frame lies in the array, and its flags can be read. The threads of other ractors are not
 * found.
 */
#ifndef ARGUS_RECORDER_LINUX_YARV_WALK_H
#define ARGUS_RECORDER_LINUX_YARV_WALK_H

enum {
    YARV_THREAD_BYTES = 128, /* as far as a layout's offsets reach: in a thread, */
    YARV_CONTEXT_BYTES = 24, /* an execution context, */
    YARV_FRAME_BYTES = 40,   /* a frame, */
    YARV_HEAD_BYTES = 24,    /* an instruction sequence, */
    YARV_CODE_BYTES = 152,   /* its body, */
    YARV_TEXT_BYTES = 40,    /* and a text or list */
    YARV_WORD_BYTES = 8,     /* of an instruction and of each of its operands */
    /* The lower bits of any object's first word are its type; an internal object has a type of its
     * own. */
    YARV_TYPE_MASK = 0x1f,
    YARV_TEXT = 5,
    YARV_LIST = 7,
    YARV_INTERNAL = 0x1a,
    YARV_INTERNAL_SHIFT = 12,
    YARV_INTERNAL_MASK = 0xf,
    YARV_INTERNAL_CODE = 7,
    YARV_OBJECT_FLAG = 1 << 13, /* a text: not inside its object; a list: inside */
    YARV_OUTSIDE = 24,          /* where a text outside of its object has its address */
    YARV_LIST_INSIDE = 16,      /* the same for the items of a list */
    YARV_LIST_OUTSIDE = 32,
    YARV_MOST_SPECIAL = 0x14, /* false, nil, true and undefined are no addresses */
    /* The bit vector: ranks of the first bits, 9 in a word, each of 7 bits; then blocks of 512
     * bits: rank, ranks of 64 bits each, of 9 bits, and the bits. */
    YARV_FIRST_BITS = 54,
    YARV_FIRST_BYTES = 48,
    YARV_BLOCK_BITS = 512,
    YARV_BLOCK_BYTES = 80,
};

/* --- the thread --- */

/* Whether the thread in `block` is the one with this thread pointer. */
static __always_inline bool yarv_is_thread(const struct interpreter_reader *reader,
                                           const struct interpreter_layout *layout,
                                           const struct interpreter_block *block,
                                           uint64_t thread_pointer)
{
    if (!layout->native)
        return interpreter_field(block, layout->thread_id) == thread_pointer;
    uint64_t native = interpreter_field(block, layout->native);
    return native && interpreter_word(reader, native + layout->thread_id) == thread_pointer;
}

/* The execution context of the thread with this thread pointer; 0: none. */
static __always_inline uint64_t yarv_context(const struct interpreter_reader *reader,
                                             const struct bpf_interpreter *interpreter,
                                             struct interpreter_block *block,
                                             uint64_t thread_pointer)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint64_t machine = interpreter_word(reader, interpreter->runtime);
    uint64_t ractor = machine ? interpreter_word(reader, machine + layout->main) : 0;
    uint64_t list = ractor + layout->threads;
    uint64_t thread = ractor ? interpreter_word(reader, list + layout->next) : 0;
    for (uint64_t i = 0; i < INTERPRETER_THREADS; i++) {
        if (!thread || thread == list || INTERPRETER_READ(reader, block, YARV_THREAD_BYTES, thread))
            return 0;
        if (yarv_is_thread(reader, layout, block, thread_pointer))
            return interpreter_field(block, layout->frame);
        thread = interpreter_field(block, layout->next);
    }
    return 0;
}

/* place->holder is the end of the array. */
static __always_inline bool yarv_begin(const struct interpreter_reader *reader,
                                       const struct bpf_interpreter *interpreter,
                                       struct interpreter_walk *walk, uint64_t thread_pointer)
{
    const struct interpreter_layout *layout = &interpreter->layout;
    uint64_t context = yarv_context(reader, interpreter, &walk->block, thread_pointer);
    walk->place.frame = 0;
    walk->stack.count = 0;
    walk->hash = 1;
    walk->mark = interpreter->function | ARGUS_FRAME_MARK_INSIDE;
    if (!context || INTERPRETER_READ(reader, &walk->block, YARV_CONTEXT_BYTES, context))
        return false;
    uint64_t array = walk->block.words[0];
    uint64_t frame = interpreter_field(&walk->block, layout->holder_frame);
    walk->place.holder = array + walk->block.words[1] * YARV_WORD_BYTES;
    walk->place.frame = frame >= array ? frame : 0; /* the walk leads to higher addresses */
    return walk->place.frame != 0;
}

/* --- code objects --- */

/* Reads the body of the instruction sequence at `address`; false: it is none. One of 0 bytes has no
 * instructions (yet), and walk->zend.start may be 0. */
static __always_inline bool yarv_read_code(const struct interpreter_reader *reader,
                                           const struct interpreter_layout *layout,
                                           struct interpreter_walk *walk, uint64_t address)
{
    if (!address || INTERPRETER_READ(reader, &walk->block, YARV_HEAD_BYTES, address))
        return false;
    uint64_t flags = walk->block.words[0], body = walk->block.words[2];
    if ((flags & YARV_TYPE_MASK) != YARV_INTERNAL ||
        (flags >> YARV_INTERNAL_SHIFT & YARV_INTERNAL_MASK) != YARV_INTERNAL_CODE ||
        INTERPRETER_READ(reader, &walk->block, YARV_CODE_BYTES, body))
        return false;
    struct zend_code *code = &walk->zend;
    code->start = interpreter_field(&walk->block, layout->code_start);
    code->bytes =
        (uint64_t)(uint32_t)interpreter_field(&walk->block, layout->units) * YARV_WORD_BYTES;
    code->line = (uint32_t)(interpreter_field(&walk->block, layout->line) >> layout->line_shift);
    if (!code->bytes)
        return true;
    return code->start && code->start < ZEND_MOST_ADDRESS &&
           code->bytes <= (uint64_t)ZEND_MOST_UNITS * ZEND_INSTRUCTION_BYTES;
}

static __always_inline uint64_t yarv_code_key(const struct interpreter_layout *layout,
                                              const struct interpreter_block *code, uint32_t pid)
{
    uint64_t key = interpreter_field(code, layout->code_start);
    key = interpreter_mix(key, (uint64_t)pid << 40);
    key = interpreter_mix(key, interpreter_field(code, layout->name));
    key = interpreter_mix(key, interpreter_field(code, layout->file));
    uint32_t line = interpreter_field(code, layout->line);
    return interpreter_mix(key, interpreter_field(code, layout->units) << 32 | line);
}

/* Copies a text of at most `MOST` bytes at `address`. Returns how many; 0: it is none, or not in
 * memory. */
#define YARV_COPY_TEXT(reader, layout, text, to, MOST, address)                                    \
    ({                                                                                             \
        uint64_t text_flags = 0, text_length = 0, text_start = (address) + (layout)->text_bytes;   \
        if ((address) && !INTERPRETER_READ(reader, text, YARV_TEXT_BYTES, address))                \
            text_flags = (text)->words[0];                                                         \
        bool is_outside = text_flags & YARV_OBJECT_FLAG;                                           \
        if ((text_flags & YARV_TYPE_MASK) == YARV_TEXT)                                            \
            text_length = (is_outside || !(layout)->text_mask)                                     \
                              ? interpreter_field(text, (layout)->length)                          \
                              : text_flags >> (layout)->text_state & (layout)->text_mask;          \
        if (is_outside)                                                                            \
            text_start = interpreter_field(text, YARV_OUTSIDE);                                    \
        INTERPRETER_COPY(reader, to, text_length, MOST, text_start);                               \
    })

/* The text of a file: of a list of two, the second one, which is absolute, or the first one if that
 * is nil (a file that is part of Ruby); otherwise `address`. */
static __always_inline uint64_t yarv_file(const struct interpreter_reader *reader,
                                          struct interpreter_block *text, uint64_t address)
{
    if (!address || INTERPRETER_READ(reader, text, YARV_TEXT_BYTES, address) ||
        (text->words[0] & YARV_TYPE_MASK) != YARV_LIST)
        return address;
    bool is_inside = text->words[0] & YARV_OBJECT_FLAG;
    uint64_t items =
        is_inside ? address + YARV_LIST_INSIDE : interpreter_field(text, YARV_LIST_OUTSIDE);
    uint64_t absolute = interpreter_word(reader, items + YARV_WORD_BYTES);
    return absolute > YARV_MOST_SPECIAL ? absolute : interpreter_word(reader, items);
}

/* Copies the names of the code object whose body is in walk->block. ret->pid is set. */
static __always_inline void yarv_copy_code(const struct interpreter_reader *reader,
                                           const struct interpreter_layout *layout,
                                           struct interpreter_walk *walk, struct bpf_code *ret)
{
    ret->kind = INTERPRETER_YARV;
    ret->start = zend_base(&walk->zend, yarv_code_key(layout, &walk->block, ret->pid));
    ret->bytes = walk->zend.bytes << ZEND_SHIFT;
    ret->line = walk->zend.line;
    ret->scope_bytes = 0;
    uint64_t name = interpreter_field(&walk->block, layout->name);
    ret->name_bytes =
        YARV_COPY_TEXT(reader, layout, &walk->text, ret->name, INTERPRETER_NAME_BYTES, name);
    uint64_t file = yarv_file(reader, &walk->text, interpreter_field(&walk->block, layout->file));
    ret->file_bytes =
        YARV_COPY_TEXT(reader, layout, &walk->text, ret->file, INTERPRETER_FILE_BYTES, file);
    if (ret->file_bytes == INTERPRETER_FILE_BYTES) /* a truncated path would name another file */
        ret->file_bytes = 0;
    ret->table[0] = ARGUS_CODE_EVEN_LINES;
    ret->table_bytes = 1;
}

/* --- lines --- */

static __always_inline uint64_t yarv_ones(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555ull;
    word = (word & 0x3333333333333333ull) + (word >> 2 & 0x3333333333333333ull);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return word * 0x0101010101010101ull >> 56;
}

/* How many bits of the vector at `table` are set up to bit `at`. */
static __always_inline uint64_t yarv_rank(const struct interpreter_reader *reader,
                                          struct interpreter_block *block, uint64_t table,
                                          uint64_t at)
{
    if (at < YARV_FIRST_BITS)
        return interpreter_word(reader, table + at / 9 * YARV_WORD_BYTES) >> at % 9 * 7 & 0x7f;
    at -= YARV_FIRST_BITS;
    uint64_t from = table + YARV_FIRST_BYTES + at / YARV_BLOCK_BITS * YARV_BLOCK_BYTES;
    if (INTERPRETER_READ(reader, block, YARV_BLOCK_BYTES, from))
        return 0;
    uint64_t small = at % YARV_BLOCK_BITS / 64;
    uint64_t bits = interpreter_field(block, 16 + small * YARV_WORD_BYTES) << (63 - at % 64);
    uint64_t before = small ? block->words[1] >> (small - 1) * 9 & 0x1ff : 0;
    return (uint32_t)block->words[0] + before + yarv_ones(bits);
}

/* The line of the instruction that a frame at `instruction` executes: the one before it, except in
 * a function that has just been entered. walk->block has the body. 0: not known. */
static __always_inline uint32_t yarv_line(const struct interpreter_reader *reader,
                                          const struct interpreter_layout *layout,
                                          struct interpreter_walk *walk, uint64_t instruction)
{
    const struct interpreter_block *code = &walk->block;
    uint64_t at = (instruction - walk->zend.start) / YARV_WORD_BYTES;
    uint32_t rows = (uint32_t)interpreter_field(code, layout->line_count);
    uint64_t row = rows == 1;
    if (rows > 1)
        row = yarv_rank(reader, &walk->text, interpreter_field(code, layout->line_index),
                        at ? at - 1 : 0);
    if (!row || row > rows)
        return 0;
    uint64_t table = interpreter_field(code, layout->line_rows);
    return (uint32_t)interpreter_word(reader, table + (row - 1) * layout->line_bytes);
}

/* --- frames --- */

/* The first half of a step: reads the frame at walk->place, as zend_read_frame(). */
static __always_inline bool yarv_read_frame(const struct interpreter_reader *reader,
                                            const struct interpreter_layout *layout,
                                            struct interpreter_walk *walk)
{
    struct interpreter_frame *frame = &walk->frame;
    uint64_t next = walk->place.frame + layout->previous;
    if (next > walk->place.holder ||
        INTERPRETER_READ(reader, &walk->block, YARV_FRAME_BYTES, walk->place.frame)) {
        walk->stack.count = 0;
        return false;
    }
    frame->code = interpreter_field(&walk->block, layout->code);
    frame->instruction = interpreter_field(&walk->block, layout->instruction);
    frame->previous = next < walk->place.holder ? next : 0;
    uint64_t flags_at = interpreter_field(&walk->block, layout->mark);
    if (INTERPRETER_READ(reader, &walk->text, YARV_WORD_BYTES, flags_at)) {
        walk->stack.count = 0;
        return false;
    }
    uint64_t flags = walk->text.words[0];
    frame->is_outermost = (flags & layout->outermost) != 0;
    frame->is_shim = !frame->code || (flags & layout->is_shim);
    return true;
}

/* Adds walk->frame, if its code has instructions. False: it is invalid. */
static __always_inline bool yarv_add_frame(const struct interpreter_reader *reader,
                                           const struct interpreter_layout *layout,
                                           struct interpreter_walk *walk, uint32_t pid)
{
    if (!yarv_read_code(reader, layout, walk, walk->frame.code))
        return false;
    const struct zend_code *code = &walk->zend;
    walk->frame.is_shim = !code->bytes;
    if (walk->frame.is_shim)
        return true;
    if (walk->frame.instruction - code->start > code->bytes)
        return false;
    if (walk->mark)
        interpreter_add(walk, walk->mark, 0);
    walk->mark = 0;
    uint64_t key = yarv_code_key(layout, &walk->block, pid);
    uint32_t line = yarv_line(reader, layout, walk, walk->frame.instruction);
    interpreter_add(walk, zend_base(code, key) + zend_offset(code, line), walk->frame.code);
    walk->hash = interpreter_mix(walk->hash, key);
    return true;
}

/* The second half, as zend_step_over(). */
static __always_inline bool yarv_step_over(const struct interpreter_reader *reader,
                                           const struct bpf_interpreter *interpreter,
                                           struct interpreter_walk *walk, uint32_t pid)
{
    const struct interpreter_frame *frame = &walk->frame;
    if (!frame->is_shim && !yarv_add_frame(reader, &interpreter->layout, walk, pid)) {
        walk->stack.count = 0;
        return false;
    }
    if (frame->is_outermost && !frame->is_shim)
        walk->mark = interpreter->function | ARGUS_FRAME_MARK_INSIDE;
    walk->place.frame = frame->previous;
    return walk->place.frame && walk->stack.count < BPF_STACK_FRAMES;
}

#endif
