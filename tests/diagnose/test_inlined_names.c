/* Names of code in which functions were inlined: loops, and the signature of a hang. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "argus/diagnose.h"
#include "argus/symbols.h"
#include "diagnose/suspects/code_place.h"

enum {
    CODE = 0x10000,
    CALL = 0x100,
    HEAD = 0x140,
    OUTSIDE = 0x180,
    AGAIN = 0x1c0,
    ALIEN = 0x200,
    STORE = 0x240,
    SWAP = 0x280,
    HELPER = 0x2c0,
    FOLDER = 0x300,
    RUST = 0x340,
};

static char path[] = "/tmp/argus-inlined-names-XXXXXX";

static struct argus_image_entry image = {
    .pid = 10, .start = CODE, .end = CODE + 0x1000, .path = "/nowhere/app"};

static struct argus_name_entry name(uint64_t place, uint32_t level, const char *function,
                                    const char *source, uint32_t line)
{
    return (struct argus_name_entry){.file = &image,
                                     .place = place,
                                     .function = function,
                                     .source = source,
                                     .called = "",
                                     .line = line,
                                     .level = level};
}

/* The covering function's row has the innermost line, the others have that of their call. */
static void write_trace(void)
{
    const char *source = "/src/app/main.c", *folder = "/home/me/rustc/main.c";
    const char *rust =
        "/rustc/90b35a6239c3d8bdabc530a6a0816f7ff89a0aaf/library/core/src/sync/atomic.rs";
    struct argus_trace_header header = {.version_major = 1,
                                        .os = ARGUS_OS_LINUX,
                                        .arch = ARGUS_ARCH_X86_64,
                                        .timebase_numer = 1,
                                        .timebase_denom = 1,
                                        .page_bytes = 4096,
                                        .cpu_count = 1};
    struct argus_thread_entry thread = {.tid = 10, .pid = 10, .name = "ten"};
    struct argus_record record = {
        .timestamp = 5000, .tid = 10, .debugid = ARGUS_ID_SYSCALL(39) | ARGUS_FUNC_START};
    struct argus_name_entry names[] = {
        name(CALL, 0, "run", source, 31),
        name(HEAD, 0, "run", source, 22),
        name(OUTSIDE, 0, "run", source, 49),
        name(AGAIN, 0, "run", source, 21),
        name(ALIEN, 0, "run", "/usr/include/list.h", 3),
        name(STORE, 0, "finish_work", source, 80),
        name(SWAP, 0, "finish_work", source, 80),
        name(HELPER, 0, "finish_work", source, 80),
        name(FOLDER, 0, "finish_work", folder, 80),
        name(RUST, 0, "finish_work", rust, 80),
    };
    struct argus_name_entry inlined[] = {
        name(CALL, 1, "look_once", source, 20),
        name(CALL, 2, "wait_ready", source, 50),
        name(HEAD, 1, "wait_ready", source, 50),
        name(AGAIN, 1, "wait_ready", source, 60),
        name(ALIEN, 1, "list_next", source, 70),
        name(STORE, 1, "std::atomic<bool>::store(bool, std::memory_order)", source, 90),
        name(SWAP, 1, "bool core::sync::atomic::atomic_swap<u8>(u8)", source, 90),
        name(HELPER, 1, "__help", source, 90),
        name(FOLDER, 1, "help", folder, 90),
        name(RUST, 1, "store", rust, 90),
    };
    struct argus_writer *writer;
    int fd = open(path, O_RDWR | O_TRUNC | O_CREAT, 0600);
    assert_null(argus_writer_create(fd, &header, &writer));
    assert_null(argus_writer_threads(writer, &thread, 1));
    assert_null(argus_writer_images(writer, &image, 1));
    assert_null(argus_writer_records(writer, 0, &record, 1, 0));
    assert_null(argus_writer_names(writer, names, sizeof(names) / sizeof(*names)));
    assert_null(argus_writer_inlined(writer, inlined, sizeof(inlined) / sizeof(*inlined)));
    assert_null(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    close(fd);
}

struct loaded {
    struct argus_trace *trace;
    struct argus_graph *graph;
    struct argus_symbols *symbols;
};

static int load(void **state)
{
    struct loaded *loaded = calloc(1, sizeof(*loaded));
    int fd = mkstemp(path);
    close(fd);
    write_trace();
    assert_null(argus_trace_open(path, &loaded->trace));
    assert_null(argus_graph_build(loaded->trace, NULL, NULL, NULL, &loaded->graph));
    assert_null(argus_symbols_create(loaded->graph, &loaded->symbols));
    *state = loaded;
    return 0;
}

static int unload(void **state)
{
    struct loaded *loaded = *state;
    argus_symbols_destroy(loaded->symbols);
    argus_graph_destroy(loaded->graph);
    argus_trace_close(loaded->trace);
    free(loaded);
    return unlink(path);
}

static void assert_code_place(const struct loaded *loaded, uint64_t place, const char *expected)
{
    struct diagnoser d = {.view = view_of(loaded->graph), .symbols = loaded->symbols};
    char *text = text_code_place(&d, &d.view.vertices[0], CODE + place, false);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_place(const struct loaded *loaded, uint64_t head, const char *expected)
{
    struct diagnoser d = {.view = view_of(loaded->graph), .symbols = loaded->symbols};
    char *text = head ? text_loop_place(&d, &d.view.vertices[0], CODE + CALL, false, CODE + head)
                      : text_code_place(&d, &d.view.vertices[0], CODE + CALL, false);
    assert_string_equal(text, expected);
    free(text);
}

static void a_place_is_in_the_innermost_function(void **state)
{
    assert_place(*state, 0, "look_once (main.c:31)");
}

/* The program's own may have such a name, or be in a folder of that name. */
static void functions_of_the_compiler_are_passed_over(void **state)
{
    assert_code_place(*state, STORE, "finish_work (main.c:90)");
    assert_code_place(*state, SWAP, "finish_work (main.c:90)");
    assert_code_place(*state, RUST, "finish_work (atomic.rs:90)");
    assert_code_place(*state, HELPER, "__help (main.c:80)");
    assert_code_place(*state, FOLDER, "help (main.c:80)");
}

/* The address is in a function that was inlined into the loop. */
static void a_loop_is_in_the_function_that_loops(void **state)
{
    assert_place(*state, HEAD, "wait_ready (main.c:20)");
    assert_place(*state, OUTSIDE, "run (main.c:50)");
}

/* The loop begins in wait_ready(), but where it was inlined elsewhere. */
static void another_instance_is_another_function(void **state)
{
    assert_place(*state, AGAIN, "run (main.c:50)");
}

static void functions_of_other_trees_are_left_out(void **state)
{
    const struct loaded *loaded = *state;
    struct argus_functions functions;
    argus_symbols_named(loaded->symbols, 0, 6000, CODE + ALIEN, false, &functions);
    assert_int_equal(functions.count, 1);
    assert_string_equal(functions.symbols[0].function, "run");
    assert_int_equal(functions.symbols[0].line, 70);
    argus_symbols_named(loaded->symbols, 0, 6000, CODE + CALL, false, &functions);
    assert_int_equal(functions.count, 3);
    assert_string_equal(functions.symbols[0].function, "look_once");
    assert_string_equal(functions.symbols[1].function, "wait_ready");
    assert_string_equal(functions.symbols[2].function, "run");
}

static uint64_t signature(const struct loaded *loaded, char *function, char *code_function)
{
    struct argus_costly_function functions[] = {{.name = function, .inlined = code_function}};
    struct argus_culprit culprit = {
        .functions = functions, .function_count = 1, .code_function = code_function};
    struct argus_diagnosis diagnosis = {
        .hang = {.type = ARGUS_TYPE_LONG_RUNNING}, .culprits = &culprit, .culprit_count = 1};
    return argus_hang_signature(loaded->graph, loaded->symbols, &diagnosis);
}

static void a_signature_needs_no_debug_information(void **state)
{
    char inner[] = "wait_ready", outer[] = "run";
    assert_int_equal(signature(*state, inner, outer), signature(*state, outer, NULL));
    assert_int_not_equal(signature(*state, inner, NULL), signature(*state, outer, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_is_in_the_innermost_function),
        cmocka_unit_test(functions_of_the_compiler_are_passed_over),
        cmocka_unit_test(a_loop_is_in_the_function_that_loops),
        cmocka_unit_test(another_instance_is_another_function),
        cmocka_unit_test(functions_of_other_trees_are_left_out),
        cmocka_unit_test(a_signature_needs_no_debug_information),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
