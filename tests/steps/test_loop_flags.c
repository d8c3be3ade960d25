/* The variable that ends a loop, found in code of real compilers. test_loop_flags PROGRAM STRIPPED:
 * loop_shapes.c, with and without symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "steps/loops/code_calls.h"
#include "steps/loops/code_slice.h"
#include "steps/loops/loop_flags.h"

static const char *program_path, *stripped_path;

/* The expected first variable, or several with " or "; "?" if more may end the loop; NULL: no
 * answer. */
static const struct shape {
    const char *name;
    bool has_caller; /* go_NAME() is in the stack, too */
    const char *expected;
} shapes[] = {
    {"global", false, "did_reconfigure"},
    {"bounded", false, "did_reconfigure"},
    {"while_handling", false, "did_reconfigure"},
    {"field_of_struct", false, "settings+0xc"},
    {"bit", false, "settings+0x10"},
    {"atomic", false, "is_atomic"},
    {"count", false, "work_left"},
    {"spin", false, "spin_lock"},
    {"sequence", false, "decoded"},
    {"cleared", false, "did_reconfigure"},
    {"interrupted", false, "did_reconfigure"},
    {"checked", false, "did_reconfigure"},
    {"pointer", false, "window->0x10"},
    {"pointers", false, "window->0x8->0x18"},
    {"argument", true, "window->0x10"},
    {"argument", false, NULL},
    {"address", true, "main_window+0x10"},
    {"inlined", false, "is_ready_flag"},
    {"function", false, "is_ready_flag"},
    {"two_functions", false, "window->0x8->0x18"},
    {"state", false, "answer"},
    {"either", false, "is_first or is_second"},
    {"both", false, "is_first or is_second"},
    {"or_device", false, "is_first?"},
    {"own_thread", false, "arrived"},
    {"counter", false, NULL},
    {"counter", true, NULL},
    {"global_counter", false, NULL},
    {"once", false, NULL},
    {"for_ever", false, NULL},
    {"device", false, NULL},
    {"device", true, NULL},
    {"clock", false, NULL},
    {"list", false, NULL},
    {"list", true, NULL},
    {"stack", false, NULL},
};

static bool find_symbol(struct elf_file *file, const char *name, uint64_t *ret)
{
    /* In a small program functions are in the last megabyte. */
    uint64_t end = elf_file_end(file), room = 1 << 20;
    for (uint64_t at = end > room ? end - room : 0; at < end; at++) {
        uint64_t offset;
        const char *found = elf_file_function(file, at, &offset);
        if (found && offset == 0 && strcmp(found, name) == 0) {
            *ret = at;
            return true;
        }
    }
    return false;
}

static bool is_wait(const char *name)
{
    return name && (strcmp(name, "usleep") == 0 || strstr(name, "nanosleep") ||
                    strcmp(name, "sched_yield") == 0);
}

/* The last call in function `of` of `called` (0: of a function that waits), or a jump to it as a
 * tail call. */
static uint64_t call_in(struct code_library *library, struct elf_file *file, const char *of,
                        uint64_t called)
{
    uint64_t start, found = 0;
    assert_true(find_symbol(file, of, &start));
    const struct code_function *function =
        code_library_function(library, code_library_image(library, file), start);
    assert_non_null(function);
    for (uint32_t i = 0; i < function->nodes.length; i++) {
        struct code_target target;
        if (code_is_call(&function->nodes.data[i]) && code_call_target(function, i, &target) &&
            (called ? target.is_here && target.address == called : is_wait(target.name)))
            found = function->nodes.data[i].address + function->nodes.data[i].length - 1;
    }
    return found;
}

static struct elf_file *open_file(const char *path)
{
    bool stale;
    struct elf_file *file = elf_file_open(path, &(struct elf_identity){0}, &stale);
    assert_non_null(file);
    return file;
}

static bool is_arm64(const struct elf_file *file)
{
    return elf_file_machine(file) == ELF_MACHINE_AARCH64;
}

/* A library finds its thread-local variables by calling the dynamic linker. */
static const char *expected_of(struct elf_file *file, const struct shape *shape)
{
    bool is_thread_local = strcmp(shape->name, "own_thread") == 0;
    return is_thread_local && !elf_file_is_program(file) ? NULL : shape->expected;
}

/* `names` has the symbols, `code` the code. */
static uint32_t take_frames(struct elf_file *names, struct elf_file *code,
                            const struct shape *shape, struct loop_frame *ret)
{
    char wait[64], go[64];
    uint64_t start;
    uint32_t count = 1;
    struct instruction_decoder *decoder;
    assert_null(instruction_decoder_create(is_arm64(names) ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64,
                                           &decoder));
    struct code_library *library = code_library_create(decoder);
    snprintf(wait, sizeof(wait), "wait_%s", shape->name);
    snprintf(go, sizeof(go), "go_%s", shape->name);
    ret[0] = (struct loop_frame){code, call_in(library, names, wait, 0)};
    if (shape->has_caller) {
        assert_true(find_symbol(names, wait, &start));
        ret[count++] = (struct loop_frame){code, call_in(library, names, go, start)};
    }
    code_library_destroy(library);
    instruction_decoder_destroy(decoder);
    return count;
}

static void describe(const struct loop_flags *flags, char *buffer, size_t bytes)
{
    buffer[0] = '\0';
    for (uint32_t i = 0; i < flags->count; i++) {
        char name[128];
        loop_flag_text(&flags->all[i], name, sizeof(name));
        size_t length = strlen(buffer);
        snprintf(buffer + length, bytes - length, "%s%s", i ? " or " : "", name);
    }
    size_t length = strlen(buffer);
    snprintf(buffer + length, bytes - length, "%s", flags->is_whole ? "" : "?");
}

static bool is_same(const char *found, const char *expected)
{
    char turned[256];
    const char * or = expected ? strstr(expected, " or ") : NULL;
    if (or) /* either order */
        snprintf(turned, sizeof(turned), "%s or %.*s", or +4, (int)(or -expected), expected);
    return expected && (strcmp(found, expected) == 0 || (or &&strcmp(found, turned) == 0));
}

static void test_shapes(void **state)
{
    (void)state;
    unsigned wrong = 0;
    struct elf_file *file = open_file(program_path);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        char text[512] = "nothing";
        struct loop_frame frames[2];
        struct loop_flags flags;
        uint32_t count = take_frames(file, file, &shapes[i], frames);
        bool found = loop_flags_find(frames, count, is_arm64(file), &flags);
        if (found)
            describe(&flags, text, sizeof(text));
        const char *expected = expected_of(file, &shapes[i]);
        if (found ? is_same(text, expected) : !expected)
            continue;
        wrong++;
        print_error("%s%s: expected %s, found %s\n", shapes[i].name,
                    shapes[i].has_caller ? " with its caller" : "", expected ? expected : "nothing",
                    text);
    }
    elf_file_close(file);
    assert_int_equal(wrong, 0);
}

/* Without symbols the address is the same. */
static void test_stripped(void **state)
{
    (void)state;
    struct elf_file *file = open_file(program_path), *stripped = open_file(stripped_path);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct loop_frame frames[2];
        struct loop_flags flags, named;
        char text[128];
        uint32_t count = take_frames(file, file, &shapes[i], frames);
        bool found = loop_flags_find(frames, count, is_arm64(file), &named);
        take_frames(file, stripped, &shapes[i], frames);
        assert_int_equal(loop_flags_find(frames, count, is_arm64(file), &flags), found);
        assert_int_equal(flags.count, named.count);
        for (uint32_t k = 0; k < flags.count; k++) {
            assert_int_equal(flags.all[k].address, named.all[k].address);
            assert_int_equal(flags.all[k].links, named.all[k].links);
            if (flags.all[k].is_thread_local)
                continue;
            assert_false(loop_flag_text(&flags.all[k], text, sizeof(text)));
            assert_memory_equal(text, "0x", 2);
        }
    }
    elf_file_close(stripped);
    elf_file_close(file);
}

/* Addresses outside of code, and frames without a file. */
static void test_nonsense(void **state)
{
    (void)state;
    struct elf_file *file = open_file(program_path);
    struct loop_flags flags;
    for (uint64_t address = 0; address < 0x8000; address += 7) {
        struct loop_frame frames[] = {{NULL, 0}, {file, address}, {file, UINT64_MAX - address}};
        loop_flags_find(frames, 3, is_arm64(file), &flags);
    }
    struct loop_frame wrong = {file, 0x1200};
    assert_false(loop_flags_find(&wrong, 1, !is_arm64(file), &flags));
    assert_false(loop_flags_find(NULL, 0, is_arm64(file), &flags));
    elf_file_close(file);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    program_path = argv[1];
    stripped_path = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
