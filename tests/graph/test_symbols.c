/* Symbols of this program itself: the test makes a trace with its mappings. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "argus/frame_names.h"
#include "argus/symbols.h"
#include "event/binary/elf_file.h"

static char trace_path[] = "/tmp/argus-symbols-XXXXXX";
static char own_path[4096];
static int found_line;
enum { STACK_ID = 77 };

/* The function that the test looks up. */
__attribute__((noinline)) int argus_test_landmark(int number);
int argus_test_landmark(int number)
{
    found_line = __LINE__ + 1;
    return number * 3 + found_line;
}

/* Its source file has a line break in its name; see the end of this file. */
int argus_test_two_lines(int number);

/* Two functions that are inlined into a third, and a call from the inner one. */
static uint64_t return_address;
static uint32_t inner_line, middle_line, outer_line;

__attribute__((noinline)) static int note_caller(int number)
{
    return_address = (uint64_t)(uintptr_t)__builtin_return_address(0);
    __asm__ volatile("" ::: "memory");
    return number + 1;
}

__attribute__((always_inline)) static inline int test_inner(int number)
{
    inner_line = __LINE__ + 1;
    return note_caller(number) + found_line;
}

__attribute__((always_inline)) static inline int test_middle(int number)
{
    middle_line = __LINE__ + 1;
    return test_inner(number) * 3 + found_line;
}

__attribute__((noinline)) static int test_outer(int number)
{
    outer_line = __LINE__ + 1;
    return test_middle(number) * 5 + found_line;
}

static uint64_t own_base(void)
{
    uint64_t start = 0, offset;
    char line[8192], path[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    bool found = false;
    while (!found && fgets(line, sizeof(line), maps))
        found = sscanf(line, "%lx-%*x %*s %lx %*s %*s %4095s", &start, &offset, path) == 3 &&
                !strcmp(path, own_path) && offset == 0;
    fclose(maps);
    assert_true(found);
    return start;
}

static struct argus_image_entry own_image(uint64_t pid)
{
    struct argus_image_entry image = {.pid = pid, .start = own_base(), .path = own_path};
    struct stat status;
    assert_int_equal(stat(own_path, &status), 0);
    image.inode = status.st_ino; /* another inode is another file */
    image.end = image.start + (1 << 24);
    return image;
}

/* A trace with one process whose image is `image`, one that was forked from it without an exec, and
 * a stack with the return address of note_caller(). */
static void write_trace(const struct argus_image_entry *image)
{
    int fd = open(trace_path, O_RDWR | O_TRUNC | O_CREAT, 0600);
    struct argus_trace_header header = {
        .version_major = 1,
        .os = ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_X86_64,
        .timebase_numer = 1,
        .timebase_denom = 1,
        .page_bytes = 4096,
        .cpu_count = 1,
        .anchor_wall_ns = 2000000000ull * 1000000000ull, /* after this program was built */
    };
    struct argus_thread_entry thread = {.tid = 10, .pid = 10, .name = "ten"};
    struct argus_record records[] = {
        {.timestamp = 5000, .tid = 10, .debugid = ARGUS_ID_SYSCALL(39) | ARGUS_FUNC_START},
        {.timestamp = 6000, .tid = 10, .debugid = ARGUS_ID_NEW_THREAD, .arg = {11, 11, 1, 10}},
        {.timestamp = 6500, .tid = 10, .debugid = ARGUS_ID_SAMPLE, .arg = {STACK_ID, 0, 0, 0}},
    };
    uint64_t frames[] = {(uint64_t)(uintptr_t)argus_test_landmark, return_address};
    struct argus_writer *writer;
    assert_null(argus_writer_create(fd, &header, &writer));
    assert_null(argus_writer_threads(writer, &thread, 1));
    assert_null(argus_writer_images(writer, image, 1));
    assert_null(argus_writer_stack(writer, STACK_ID, frames, 2));
    assert_null(argus_writer_records(writer, 0, records, 3, 0));
    assert_null(argus_writer_end(writer, NULL, 0));
    argus_writer_destroy(writer);
    close(fd);
}

struct loaded {
    struct argus_trace *trace;
    struct argus_graph *graph;
    struct argus_symbols *symbols;
};

static struct loaded load(void)
{
    struct loaded loaded;
    assert_null(argus_trace_open(trace_path, &loaded.trace));
    assert_null(argus_graph_build(loaded.trace, NULL, NULL, NULL, &loaded.graph));
    assert_null(argus_symbols_create(loaded.graph, &loaded.symbols));
    return loaded;
}

static void unload(struct loaded loaded)
{
    argus_symbols_destroy(loaded.symbols);
    argus_graph_destroy(loaded.graph);
    argus_trace_close(loaded.trace);
}

static uint32_t process_of(const struct argus_graph *graph, uint64_t pid)
{
    const struct argus_process *processes;
    size_t count = argus_graph_processes(graph, &processes);
    for (size_t i = 0; i < count; i++)
        if (processes[i].pid == pid)
            return (uint32_t)i;
    fail_msg("no process %lu", pid);
    return ARGUS_NONE;
}

static void finds_function_and_line(void **state)
{
    (void)state;
    struct argus_image_entry image = own_image(10);
    write_trace(&image);
    struct loaded loaded = load();
    uint64_t address = (uint64_t)(uintptr_t)argus_test_landmark;
    for (uint64_t pid = 10; pid <= 11; pid++) { /* the second has the images of the first */
        struct argus_symbol symbol = argus_symbols_find(
            loaded.symbols, process_of(loaded.graph, pid), 7000, address + 1, false);
        assert_string_equal(symbol.function, "argus_test_landmark");
        assert_string_equal(symbol.image, own_path);
        assert_int_equal(symbol.offset, 1);
        assert_false(symbol.stale);
        assert_non_null(symbol.file);
        assert_non_null(strstr(symbol.file, "test_symbols.c"));
        argus_test_landmark(1);
        int line = (int)symbol.line;
        assert_true(line >= found_line - 4 && line <= found_line);
        char text[100];
        assert_string_equal(argus_symbol_text(&symbol, address, text, sizeof(text)),
                            "argus_test_landmark");
    }
    unload(loaded);
}

/* A return address directly after a function belongs to the call in it, not to the next
 * function. */
static void source_paths_have_one_line(void **state)
{
    (void)state;
    struct argus_image_entry image = own_image(10);
    write_trace(&image);
    struct loaded loaded = load();
    uint64_t address = (uint64_t)(uintptr_t)argus_test_two_lines;
    struct argus_symbol symbol =
        argus_symbols_find(loaded.symbols, process_of(loaded.graph, 10), 7000, address + 1, false);
    assert_string_equal(symbol.function, "argus_test_two_lines");
    assert_non_null(symbol.file);
    assert_non_null(strstr(symbol.file, "lines.c"));
    assert_null(strchr(symbol.file, '\n'));
    unload(loaded);
}

static void return_address_means_the_call(void **state)
{
    (void)state;
    struct argus_image_entry image = own_image(10);
    write_trace(&image);
    struct loaded loaded = load();
    uint64_t address = (uint64_t)(uintptr_t)argus_test_landmark;
    uint32_t process = process_of(loaded.graph, 10);
    struct argus_symbol before = argus_symbols_find(loaded.symbols, process, 7000, address, true);
    assert_true(!before.function || strcmp(before.function, "argus_test_landmark") != 0);
    struct argus_symbol inside =
        argus_symbols_find(loaded.symbols, process, 7000, address + 1, true);
    assert_string_equal(inside.function, "argus_test_landmark");
    assert_int_equal(inside.offset, 1);
    unload(loaded);
}

static void another_build_is_not_used(void **state)
{
    (void)state;
    struct argus_image_entry image = own_image(10);
    image.build_id_bytes = 20;
    memset(image.build_id, 0xee, sizeof(image.build_id));
    write_trace(&image);
    struct loaded loaded = load();
    uint64_t address = (uint64_t)(uintptr_t)argus_test_landmark;
    struct argus_symbol symbol =
        argus_symbols_find(loaded.symbols, process_of(loaded.graph, 10), 7000, address, false);
    assert_null(symbol.function);
    assert_true(symbol.stale);
    assert_int_equal(symbol.offset, address - image.start);
    char text[300], expected[300];
    snprintf(expected, sizeof(expected), "%s+0x%lx", strrchr(own_path, '/') + 1,
             address - image.start);
    assert_string_equal(argus_symbol_text(&symbol, address, text, sizeof(text)), expected);
    unload(loaded);
}

static void build_ids_are_added(void **state)
{
    (void)state;
    uint8_t expected[ELF_BUILD_ID_MAX];
    uint32_t bytes = elf_file_build_id(own_path, 0, 0, expected);
    assert_int_equal(bytes, 20);
    struct argus_image_entry image = own_image(10);
    write_trace(&image);
    assert_null(argus_build_ids_append(trace_path));
    struct loaded loaded = load();
    const struct argus_image_entry *images;
    assert_int_equal(argus_trace_images(loaded.trace, &images), 1);
    assert_int_equal(images[0].build_id_bytes, 20);
    assert_memory_equal(images[0].build_id, expected, 20);
    struct argus_symbol symbol =
        argus_symbols_find(loaded.symbols, process_of(loaded.graph, 10), 7000,
                           (uint64_t)(uintptr_t)argus_test_landmark, false);
    assert_string_equal(symbol.function, "argus_test_landmark");
    unload(loaded);
}

static void assert_function(const struct argus_symbol *symbol, const char *function, uint32_t line,
                            bool is_inlined)
{
    assert_string_equal(symbol->function, function);
    assert_non_null(strstr(symbol->file, "test_symbols.c"));
    assert_int_equal(symbol->line, line);
    assert_int_equal(symbol->is_inlined, is_inlined);
    assert_string_equal(symbol->image, own_path);
}

static void assert_inlined_functions(void)
{
    struct loaded loaded = load();
    struct argus_functions functions;
    uint32_t process = process_of(loaded.graph, 10);
    argus_symbols_find_all(loaded.symbols, process, 7000, return_address, true, &functions);
    assert_int_equal(functions.count, 3);
    assert_function(&functions.symbols[0], "test_inner", inner_line, true);
    assert_function(&functions.symbols[1], "test_middle", middle_line, true);
    assert_function(&functions.symbols[2], "test_outer", outer_line, false);
    assert_true(argus_trace_complete(loaded.trace));
    argus_symbols_find_all(loaded.symbols, process, 7000, (uint64_t)(uintptr_t)argus_test_landmark,
                           false, &functions);
    assert_int_equal(functions.count, 1);
    assert_string_equal(functions.symbols[0].function, "argus_test_landmark");
    unload(loaded);
}

/* First by the file, then by the names in the trace, when the file is gone. */
static void inlined_functions_are_found(void **state)
{
    (void)state;
    static char copy[] = "/tmp/argus-symbols-copy-XXXXXX";
    char command[8400], program[sizeof(own_path)];
    assert_int_not_equal(test_outer(found_line), 0);
    struct argus_image_entry image = own_image(10);
    write_trace(&image);
    assert_inlined_functions();
    int fd = mkstemp(copy);
    assert_true(fd >= 0);
    snprintf(command, sizeof(command), "cp '%s' %s", own_path, copy);
    assert_int_equal(system(command), 0);
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    close(fd);
    image.path = copy;
    image.inode = status.st_ino;
    write_trace(&image);
    struct argus_names_totals totals;
    assert_null(argus_names_append(trace_path, NULL, NULL, &totals));
    assert_int_equal(totals.named, 2);
    assert_int_equal(unlink(copy), 0);
    snprintf(program, sizeof(program), "%s", own_path);
    snprintf(own_path, sizeof(own_path), "%s", copy); /* what the symbols name */
    assert_inlined_functions();
    snprintf(own_path, sizeof(own_path), "%s", program);
}

static void nothing_covers_it(void **state)
{
    (void)state;
    struct argus_image_entry image = own_image(10);
    write_trace(&image);
    struct loaded loaded = load();
    uint32_t process = process_of(loaded.graph, 10);
    char text[100];
    struct argus_symbol symbol = argus_symbols_find(loaded.symbols, process, 7000, 0x1234, false);
    assert_null(symbol.image);
    assert_string_equal(argus_symbol_text(&symbol, 0x1234, text, sizeof(text)), "0x1234");
    symbol = argus_symbols_find(loaded.symbols, ARGUS_NONE, 7000, 0, true);
    assert_null(symbol.image);
    unload(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_function_and_line),
        cmocka_unit_test(source_paths_have_one_line),
        cmocka_unit_test(return_address_means_the_call),
        cmocka_unit_test(another_build_is_not_used),
        cmocka_unit_test(build_ids_are_added),
        cmocka_unit_test(inlined_functions_are_found),
        cmocka_unit_test(nothing_covers_it),
    };
    ssize_t length = readlink("/proc/self/exe", own_path, sizeof(own_path) - 1);
    int fd = mkstemp(trace_path);
    if (length < 0 || fd < 0)
        return 1;
    close(fd);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(trace_path);
    return failed;
}

#line 7 "two\nlines.c"
__attribute__((noinline)) int argus_test_two_lines(int number)
{
    return number * 7 + found_line;
}
