/* Walks the frames of Ruby in memory that this test fills: sound, odd and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "argus/record.h"
#include "recorder/interpreter_spec.h"

struct interpreter_reader {
    uint32_t unused;
};

/* All memory of the process that is read begins at BASE. */
#define BASE 0x10000u
static uint64_t memory[0x1000];
static uint64_t reads; /* how many there were */

static int read_memory(void *to, uint64_t bytes, uint64_t from)
{
    reads++;
    if (from < BASE || from - BASE > sizeof(memory) || bytes > sizeof(memory) - (from - BASE))
        return -1;
    memcpy(to, (const char *)memory + (from - BASE), bytes);
    return 0;
}

static uint32_t copy_memory(void *to, uint64_t bytes, uint64_t most, uint64_t from)
{
    uint64_t wanted = bytes < most ? bytes : most;
    return !wanted || read_memory(to, wanted, from) ? 0 : (uint32_t)wanted;
}

#define INTERPRETER_READ(reader, to, bytes, from)                                                  \
    ((void)(reader), read_memory((to), (bytes), (from)))
#define INTERPRETER_COPY(reader, to, bytes, most, from)                                            \
    ((void)(reader), copy_memory((to), (bytes), (most), (from)))
#define bounded(index, size) ((index) & ((size)-1))
#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#include "recorder/linux/interpreter_walk.h"

/* Where the structs are, and what is in them. */
enum {
    RUNTIME = BASE,
    MACHINE = BASE + 0x100,
    RACTOR = BASE + 0x200,
    THREADS = BASE + 0x400,
    THREAD_BYTES = 0x80,
    CONTEXT = BASE + 0x5000,
    ARRAY = BASE + 0x5100,
    ARRAY_WORDS = 64,
    HEADS = BASE + 0x5400, /* of code objects: 3 words; bodies and instructions follow */
    BODIES = BASE + 0x5500,
    CODE = BASE + 0x6000,
    CODE_WORDS = 4, /* of each */
    FLAGS = BASE + 0x6100,
    TEXT = BASE + 0x6200,
    LIST = BASE + 0x6300,
    ROWS = BASE + 0x6400,
    INDEX = BASE + 0x6500,
    FUNCTION = 0x4000,
    POINTER = 0x7700, /* of the thread that is searched */
    LINE = 10,
    OUTERMOST = 0x20,
    IN_C = 0x80,
    BODY_BYTES = 0xa0,
    TYPE = YARV_INTERNAL | YARV_INTERNAL_CODE << YARV_INTERNAL_SHIFT,
};

static struct bpf_interpreter interpreter;
static struct interpreter_walk walk;
static const struct interpreter_reader reader;
static struct bpf_code names;

static const struct interpreter_layout layouts[] = {
#define INTERPRETER(number, ...) {__VA_ARGS__},
#include "argus/interpreter_layouts.def"
#undef INTERPRETER
};

static void set(uint64_t address, uint64_t word)
{
    memcpy((char *)memory + (address - BASE), &word, sizeof(word));
}

static void set_u32(uint64_t address, uint32_t word)
{
    memcpy((char *)memory + (address - BASE), &word, sizeof(word));
}

static uint64_t frame_at(unsigned frame)
{
    return ARRAY + (uint64_t)frame * interpreter.layout.previous;
}

/* Frame 0 is the innermost one; its code object is `frame`, too. */
static void set_frame(unsigned frame, uint64_t flags)
{
    const struct interpreter_layout *layout = &interpreter.layout;
    set(frame_at(frame) + layout->code, HEADS + frame * 24);
    set(frame_at(frame) + layout->instruction, CODE + frame * CODE_WORDS * 8 + 8);
    set(frame_at(frame) + layout->mark, FLAGS + frame * 8);
    set(FLAGS + frame * 8, flags);
}

static void set_code(unsigned code)
{
    const struct interpreter_layout *layout = &interpreter.layout;
    uint64_t body = BODIES + code * BODY_BYTES;
    set(HEADS + code * 24, TYPE);
    set(HEADS + code * 24 + 16, body);
    set_u32(body + layout->units, CODE_WORDS);
    set(body + layout->code_start, CODE + code * CODE_WORDS * 8);
    set(body + layout->line, (uint64_t)LINE << layout->line_shift);
    set(body + layout->name, TEXT);
    set(body + layout->file, LIST);
    set(body + layout->line_rows, ROWS);
    set_u32(body + layout->line_count, 1);
    set(body + layout->line_index, INDEX);
    set_u32(ROWS, LINE + 2);
}

static void set_text(uint64_t address, const char *text)
{
    const struct interpreter_layout *layout = &interpreter.layout;
    uint64_t length = strlen(text);
    set(address, YARV_TEXT | (layout->text_mask ? length << layout->text_state : 0));
    if (!layout->text_mask)
        set(address + layout->length, length);
    memcpy((char *)memory + (address - BASE) + layout->text_bytes, text, length);
}

/* `count` threads in a ring, the one that is searched at `wanted`; 0 is the oldest. */
static void set_threads(unsigned count, unsigned wanted)
{
    const struct interpreter_layout *layout = &interpreter.layout;
    uint64_t list = RACTOR + layout->threads, before = list;
    for (unsigned i = 0; i < count;
         i++, before = before == list ? THREADS : before + THREAD_BYTES) {
        uint64_t thread = THREADS + (uint64_t)i * THREAD_BYTES, id = i == wanted ? POINTER : i + 1;
        set(thread + 8, before);
        set(thread + layout->frame, CONTEXT);
        if (layout->native) { /* one word of its own, in the padding of this thread */
            set(thread + layout->native, thread + THREAD_BYTES - 8 - layout->thread_id);
            set(thread + THREAD_BYTES - 8, id);
        } else
            set(thread + layout->thread_id, id);
    }
    set(list + 8, before);
}

/* Three functions: frames 0 and 1 in one call of the interpreter, 2 in another. */
static void fill(const struct interpreter_layout *layout)
{
    memset(memory, 0, sizeof(memory));
    memset(&walk, 0, sizeof(walk));
    memset(&names, 0, sizeof(names));
    interpreter = (struct bpf_interpreter){.runtime = RUNTIME, .function = FUNCTION};
    interpreter.layout = *layout;
    set(RUNTIME, MACHINE);
    set(MACHINE + layout->main, RACTOR);
    set_threads(3, 1);
    set(CONTEXT, ARRAY);
    set(CONTEXT + 8, (uint64_t)layout->previous * 3 / 8);
    set(CONTEXT + layout->holder_frame, frame_at(0));
    for (unsigned i = 0; i < 3; i++) {
        set_code(i);
        set_frame(i, i ? OUTERMOST : 0);
    }
    set_text(TEXT, "block in \303\244");
    set(LIST, YARV_LIST | YARV_OBJECT_FLAG);
    set(LIST + YARV_LIST_INSIDE, TEXT);
}

/* Returns the number of entries. */
static uint64_t walk_all(void)
{
    const struct interpreter_layout *layout = &interpreter.layout;
    if (!yarv_begin(&reader, &interpreter, &walk, POINTER))
        return 0;
    for (unsigned i = 0; i < 2 * BPF_STACK_FRAMES; i++)
        if (!yarv_read_frame(&reader, layout, &walk) ||
            !yarv_step_over(&reader, &interpreter, &walk, 1))
            break;
    return walk.stack.count;
}

/* The line of the stack's entry `at`, as a reader of the trace sees it; 0: not known. */
static uint64_t line_at(unsigned at)
{
    struct bpf_code code = {.pid = 1};
    assert_true(yarv_read_code(&reader, &interpreter.layout, &walk, walk.codes[at]));
    yarv_copy_code(&reader, &interpreter.layout, &walk, &code);
    uint64_t offset = walk.stack.frames[at] - code.start;
    assert_true(offset < code.bytes);
    return offset + ZEND_LINE_BYTES < code.bytes ? code.line + offset / ZEND_LINE_BYTES : 0;
}

#define EACH_RUBY(layout)                                                                          \
    for (const struct interpreter_layout *layout = layouts;                                        \
         layout < layouts + sizeof(layouts) / sizeof(*layouts); layout++)                          \
        if (layout->kind == INTERPRETER_YARV)

static void sound(void **state)
{
    (void)state;
    EACH_RUBY(layout)
    {
        fill(layout);
        assert_int_equal(walk_all(), 5); /* mark, two frames, mark, frame */
        assert_int_equal(walk.stack.frames[0], FUNCTION | ARGUS_FRAME_MARK_INSIDE);
        assert_int_equal(walk.stack.frames[3], FUNCTION | ARGUS_FRAME_MARK_INSIDE);
        assert_int_equal(walk.codes[4], HEADS + 2 * 24);
        assert_int_equal(line_at(1), LINE + 2);
        set_frame(1, IN_C);
        assert_int_equal(walk_all(), 3);
    }
}

/* Ruby compiles a file that was required: a frame whose code object has no instructions. */
static void compiling(void **state)
{
    (void)state;
    EACH_RUBY(layout)
    {
        fill(layout);
        uint64_t body = BODIES + BODY_BYTES;
        set_u32(body + layout->units, 0);
        set(body + layout->code_start, 0);
        set(frame_at(1) + layout->instruction, 0);
        assert_int_equal(walk_all(), 3);
        assert_int_equal(walk.codes[1], HEADS);
        assert_int_equal(walk.codes[2], HEADS + 2 * 24);
    }
}

/* The newest threads are found, the main thread of very many is not; a ring without a head ends. */
static void threads(void **state)
{
    (void)state;
    EACH_RUBY(layout)
    {
        fill(layout);
        set_threads(INTERPRETER_THREADS + 10, 10);
        assert_int_equal(walk_all(), 5);
        set_threads(INTERPRETER_THREADS + 10, 9);
        assert_int_equal(walk_all(), 0);
        set_threads(2, 5);
        assert_int_equal(walk_all(), 0);
        set(THREADS + 8, THREADS + THREAD_BYTES);
        reads = 0;
        assert_int_equal(walk_all(), 0);
        assert_true(reads < 3 * INTERPRETER_THREADS);
    }
}

static void outside_of_array(void **state)
{
    (void)state;
    EACH_RUBY(layout)
    {
        fill(layout);
        set(CONTEXT, frame_at(1)); /* begins behind the innermost frame */
        set(CONTEXT + 8, (uint64_t)layout->previous * 2 / 8);
        assert_int_equal(walk_all(), 0);
        fill(layout);
        set(CONTEXT + 8, (uint64_t)layout->previous * 2 / 8 + 1); /* ends within frame 2 */
        assert_int_equal(walk_all(), 0);
        fill(layout);
        set(CONTEXT + 8, UINT64_MAX);
        assert_int_equal(walk_all(), 0);
    }
}

static void invalid_frames(void **state)
{
    (void)state;
    EACH_RUBY(layout)
    {
        fill(layout);
        set(frame_at(1) + layout->mark, 8); /* flags that cannot be read */
        assert_int_equal(walk_all(), 0);
        fill(layout);
        set(HEADS + 24, YARV_TEXT);
        assert_int_equal(walk_all(), 0);
        fill(layout);
        set(frame_at(1) + layout->instruction, CODE - 8);
        assert_int_equal(walk_all(), 0);
        fill(layout);
        set_u32(BODIES + layout->units, UINT32_MAX);
        assert_int_equal(walk_all(), 0);
    }
}

static void unknown_lines(void **state)
{
    (void)state;
    EACH_RUBY(layout)
    {
        fill(layout);
        set_u32(BODIES + layout->line_count, UINT32_MAX); /* more rows than memory has */
        set(BODIES + layout->line_rows, 8);
        set(INDEX, 5);
        assert_int_equal(walk_all(), 5);
        assert_int_equal(line_at(1), 0);
        set(BODIES + layout->line_index, 8);
        assert_int_equal(walk_all(), 5);
        assert_int_equal(line_at(1), 0);
        set_u32(BODIES + layout->line_count, 0);
        assert_int_equal(walk_all(), 5);
        assert_int_equal(line_at(1), 0);
        set_u32(ROWS, 1 << 20); /* no room for so many lines */
        assert_int_equal(walk_all(), 5);
        assert_int_equal(line_at(2), 0);
        set_u32(ROWS, 1); /* before the function's first */
        assert_int_equal(walk_all(), 5);
        assert_int_equal(line_at(2), LINE);
    }
}

static void copy_names(void)
{
    memset(&names, 0, sizeof(names));
    assert_true(yarv_read_code(&reader, &interpreter.layout, &walk, HEADS));
    yarv_copy_code(&reader, &interpreter.layout, &walk, &names);
}

static void odd_texts(void **state)
{
    (void)state;
    EACH_RUBY(layout)
    {
        fill(layout);
        copy_names();
        assert_string_equal(names.name, "block in \303\244");
        assert_string_equal(names.file, names.name); /* the absolute path is nil */
        set(LIST + YARV_LIST_INSIDE + 8, 8);         /* nil in Ruby 3.1: no text either */
        copy_names();
        assert_int_equal(names.file_bytes, strlen(names.name));
        set(LIST + YARV_LIST_INSIDE, 8);
        copy_names();
        assert_int_equal(names.file_bytes, 0);
        set(TEXT, YARV_TEXT | YARV_OBJECT_FLAG);
        set(TEXT + layout->length, 1ull << 63);
        set(TEXT + YARV_OUTSIDE, TEXT);
        copy_names();
        assert_int_equal(names.name_bytes, INTERPRETER_NAME_BYTES);
        set(TEXT + YARV_OUTSIDE, BASE + sizeof(memory) - 1);
        copy_names();
        assert_int_equal(names.name_bytes, 0);
        set(BODIES + layout->file, TEXT); /* a text instead of a list; a truncated path is none */
        set(TEXT + YARV_OUTSIDE, TEXT);
        copy_names();
        assert_int_equal(names.file_bytes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound),          cmocka_unit_test(compiling),
        cmocka_unit_test(threads),        cmocka_unit_test(outside_of_array),
        cmocka_unit_test(invalid_frames), cmocka_unit_test(unknown_lines),
        cmocka_unit_test(odd_texts),
    };
    return cmocka_run_group_tests_name("yarv_walk", tests, NULL, NULL);
}
