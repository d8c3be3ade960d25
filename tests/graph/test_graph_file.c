/* Saved graphs: the loaded graph equals the built one; a graph of another trace or a damaged one is
 * refused with its reason. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash64.h"
#include "graph/file/graph_arrays.h"
#include "step_trace.h"

static char folder[] = "/tmp/argus-graph-file-XXXXXX";
static char trace_path[64], graph_path[64];

/* A trace with some thousand records, always the same one. */
static void write_trace(void)
{
    static uint8_t steps[8 * 4000];
    uint64_t state = 88172645463325252u;
    for (size_t i = 0; i < sizeof(steps); i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        steps[i] = i % 8 == 2 ? state >> 24 & 127 : (uint8_t)(state >> 24);
    }
    steps[0] = 0;
    int fd = open(trace_path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    step_trace_write(fd, steps, sizeof(steps));
    close(fd);
}

static void expect_done(struct argus_error *error)
{
    if (error)
        fail_msg("%s", error->message);
}

static struct argus_trace *open_trace(void)
{
    struct argus_trace *trace = NULL;
    expect_done(argus_trace_open(trace_path, &trace));
    return trace;
}

static void save(void)
{
    struct argus_trace *trace = open_trace();
    struct argus_graph *graph;
    expect_done(argus_graph_build(trace, NULL, NULL, NULL, &graph));
    assert_null(argus_graph_loaded_from(graph));
    expect_done(argus_graph_save(graph, graph_path, NULL, NULL));
    argus_graph_destroy(graph);
    argus_trace_close(trace);
}

/* The reason for which the saved graph is refused; "" if it is accepted. The text is valid until
 * the next call. */
static const char *refusal(void)
{
    static char reason[300];
    struct argus_trace *trace = open_trace();
    struct argus_graph *graph;
    struct argus_error *error = argus_graph_load(trace, NULL, graph_path, &graph);
    snprintf(reason, sizeof(reason), "%s", error ? error->message : "");
    if (!error)
        argus_graph_destroy(graph);
    argus_error_destroy(error);
    argus_trace_close(trace);
    return reason;
}

static void expect_refusal(const char *part)
{
    const char *reason = refusal();
    if (!strstr(reason, part))
        fail_msg("\"%s\" does not say \"%s\"", reason, part);
}

static void read_at(void *data, size_t bytes, uint64_t offset)
{
    int fd = open(graph_path, O_RDONLY);
    assert_int_equal(pread(fd, data, bytes, (off_t)offset), bytes);
    close(fd);
}

static void write_at(const void *data, size_t bytes, uint64_t offset)
{
    int fd = open(graph_path, O_WRONLY);
    assert_int_equal(pwrite(fd, data, bytes, (off_t)offset), bytes);
    close(fd);
}

static struct graph_file_header header_of_file(void)
{
    struct graph_file_header header;
    read_at(&header, sizeof(header), 0);
    return header;
}

static void mend_header(struct graph_file_header *header)
{
    header->checksum = hash64(0, header, offsetof(struct graph_file_header, checksum));
    write_at(header, sizeof(*header), 0);
}

static void test_loaded_is_built(void **state)
{
    (void)state;
    struct argus_trace *trace = open_trace();
    struct argus_graph *built, *loaded;
    save();
    expect_done(argus_graph_build(trace, NULL, NULL, NULL, &built));
    expect_done(argus_graph_load(trace, NULL, graph_path, &loaded));
    assert_string_equal(argus_graph_loaded_from(loaded), graph_path);
    assert_true(built->vertices.length > 100 && built->edges.length > 100);
    assert_int_equal(loaded->vertices.length, built->vertices.length);
    assert_memory_equal(loaded->vertices.data, built->vertices.data,
                        built->vertices.length * sizeof(*built->vertices.data));
    for (size_t i = 0; i < built->machine.threads.length; i++)
        assert_string_equal(loaded->machine.threads.data[i].name,
                            built->machine.threads.data[i].name);
    char why[200];
    assert_null(graph_check(loaded, why, sizeof(why)));
    /* A loaded graph can be saved again, and is the same file. */
    struct graph_file_header first = header_of_file(), second;
    expect_done(argus_graph_save(loaded, graph_path, NULL, NULL));
    second = header_of_file();
    assert_int_equal(first.arrays[GRAPH_ARRAY_vertices].checksum,
                     second.arrays[GRAPH_ARRAY_vertices].checksum);
    argus_graph_destroy(built);
    argus_graph_destroy(loaded);
    argus_trace_close(trace);
}

static void test_file_is_the_users_alone(void **state)
{
    (void)state;
    struct stat status;
    mode_t before = umask(0);
    save();
    umask(before);
    assert_int_equal(stat(graph_path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void test_links_are_not_followed(void **state)
{
    (void)state;
    char target[80];
    struct stat status;
    snprintf(target, sizeof(target), "%s/precious", folder);
    FILE *precious = fopen(target, "w");
    assert_non_null(precious);
    fputs("precious", precious);
    fclose(precious);
    unlink(graph_path);
    assert_int_equal(symlink(target, graph_path), 0);
    expect_refusal("cannot open");
    save(); /* replaces the link */
    assert_int_equal(lstat(graph_path, &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_int_equal(stat(target, &status), 0);
    assert_int_equal(status.st_size, 8);
    unlink(target);
}

static void test_not_there(void **state)
{
    (void)state;
    struct argus_trace *trace = open_trace();
    struct argus_graph *graph;
    unlink(graph_path);
    struct argus_error *error = argus_graph_load(trace, NULL, graph_path, &graph);
    assert_non_null(error);
    assert_int_equal(error->code, ARGUS_ERROR_NOT_FOUND);
    argus_error_destroy(error);
    argus_trace_close(trace);
}

static void change_byte_of_trace(off_t offset)
{
    int fd = open(trace_path, O_RDWR);
    uint8_t byte;
    assert_int_equal(pread(fd, &byte, 1, offset), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
    close(fd);
}

static void test_any_change_of_the_trace_is_seen(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(stat(trace_path, &status), 0);
    for (int i = 1; i < 8; i++) {
        save();
        assert_string_equal(refusal(), "");
        usleep(10000); /* the file system's clock has ticks of up to 10 ms */
        off_t offset = 4096 + (status.st_size - 4096) * i / 8;
        change_byte_of_trace(offset);
        expect_refusal("the trace has changed");
        change_byte_of_trace(offset);
    }
}

static void test_a_copy_of_the_trace_is_another_one(void **state)
{
    (void)state;
    save();
    usleep(10000);
    write_trace();
    expect_refusal("the trace has changed");
}

static void test_other_builds_and_rules(void **state)
{
    (void)state;
    save();
    struct graph_file_header header = header_of_file();
    header.sources++;
    mend_header(&header);
    expect_refusal("another version of Argus");
    header.sources--;
    header.rule_set++;
    mend_header(&header);
    expect_refusal("other rules");
    header.rule_set--;
    mend_header(&header);
    assert_string_equal(refusal(), "");
}

static void test_every_cut_is_seen(void **state)
{
    (void)state;
    struct stat status;
    save();
    assert_int_equal(stat(graph_path, &status), 0);
    for (off_t length = status.st_size - 1; length > 0; length = length * 9 / 10) {
        assert_int_equal(truncate(graph_path, length), 0);
        assert_string_not_equal(refusal(), "");
    }
    assert_int_equal(truncate(graph_path, 0), 0);
    expect_refusal("too short");
}

/* A mapped file would end the process by SIGBUS. */
static void test_a_later_cut_does_no_harm(void **state)
{
    (void)state;
    char buffer[200];
    save();
    struct argus_trace *trace = open_trace();
    struct argus_graph *graph;
    expect_done(argus_graph_load(trace, NULL, graph_path, &graph));
    assert_int_equal(truncate(graph_path, 0), 0);
    assert_null(graph_check(graph, buffer, sizeof(buffer)));
    argus_graph_destroy(graph);
    argus_trace_close(trace);
}

/* One flipped bit in the header or in any array. */
static void test_damage_is_seen(void **state)
{
    (void)state;
    save();
    struct graph_file_header header = header_of_file();
    for (size_t offset = 0; offset < sizeof(header); offset++) {
        uint8_t byte;
        read_at(&byte, 1, offset);
        byte ^= 4;
        write_at(&byte, 1, offset);
        assert_string_not_equal(refusal(), "");
        byte ^= 4;
        write_at(&byte, 1, offset);
    }
    for (int i = 0; i < GRAPH_ARRAYS; i++) {
        uint64_t bytes = header.arrays[i].count * graph_array_bytes[i];
        for (uint64_t at = 0; at < bytes; at += bytes / 5 + 1) {
            uint64_t offset = header.arrays[i].offset_bytes + at;
            uint8_t byte;
            read_at(&byte, 1, offset);
            byte ^= 64;
            write_at(&byte, 1, offset);
            expect_refusal("checksum");
            byte ^= 64;
            write_at(&byte, 1, offset);
        }
    }
    assert_string_equal(refusal(), "");
}

/* Replaces the `index`th element of an array by `element`, with correct checksums, as an attacker
 * could. */
static void forge(enum graph_array_id id, size_t index, const void *element)
{
    struct graph_file_header header = header_of_file();
    struct graph_file_array *array = &header.arrays[id];
    size_t bytes = graph_array_bytes[id];
    write_at(element, bytes, array->offset_bytes + index * bytes);
    void *all = malloc(array->count * bytes);
    assert_non_null(all);
    read_at(all, array->count * bytes, array->offset_bytes);
    struct graph_array data = {all, array->count};
    array->checksum = 0;
    for (size_t block = 0; block < graph_array_blocks(data.count); block++)
        array->checksum += graph_block_checksum(&data, bytes, block);
    free(all);
    mend_header(&header);
}

#define FORGE(name, type, index, ...)                                                              \
    do {                                                                                           \
        type element;                                                                              \
        save();                                                                                    \
        struct graph_file_header header = header_of_file();                                        \
        assert_true((index) < header.arrays[GRAPH_ARRAY_##name].count);                            \
        read_at(&element, sizeof(element),                                                         \
                header.arrays[GRAPH_ARRAY_##name].offset_bytes + (index) * sizeof(element));       \
        __VA_ARGS__;                                                                               \
        forge(GRAPH_ARRAY_##name, (index), &element);                                              \
        expect_refusal("of its " #name " is impossible");                                          \
    } while (0)

static void test_forged_elements_are_refused(void **state)
{
    (void)state;
    FORGE(vertices, struct argus_vertex, 7, element.thread = 1 << 20);
    FORGE(vertices, struct argus_vertex, 7, element.op_count = 1 << 30);
    FORGE(vertices, struct argus_vertex, 7, element.wait.first_detail = 1 << 30);
    FORGE(vertices, struct argus_vertex, 7, element.wait.user_stack = 1 << 30);
    FORGE(vertices, struct argus_vertex, 7, memset(&element.wait.has_result, 2, 1));
    FORGE(vertices, struct argus_vertex, 7, element.end_ns = UINT64_MAX);
    FORGE(vertices, struct argus_vertex, 7, element.start_ns = element.end_ns + 1);
    FORGE(edges, struct argus_edge, 5, element.from = 1 << 30);
    FORGE(edges, struct argus_edge, 5, element.to ^= 1);
    FORGE(edges, struct argus_edge, 5, element.rule = RULE_COUNT);
    FORGE(edges, struct argus_edge, 5, element.kind = ARGUS_EDGE_KINDS);
    FORGE(edges, struct argus_edge, 5, element.from_ns = element.to_ns + 1);
    FORGE(in_first, uint32_t, 3, element = UINT32_MAX);
    FORGE(out_first, uint32_t, 0, element = 1);
    FORGE(out_edges, uint32_t, 3, element = UINT32_MAX);
    FORGE(threads, struct argus_thread, 1, element.process = 1 << 30);
    FORGE(threads, struct argus_thread, 1, element.vertex_count = 1 << 30);
    FORGE(threads, struct argus_thread, 1, element.name = (const char *)(uintptr_t)(1 << 30));
    FORGE(processes, struct argus_process, 1, element.forked_from = 1);
    FORGE(processes, struct argus_process, 1, element.name = (const char *)(uintptr_t)(1 << 30));
    FORGE(details, struct argus_wait_detail, 1, element.next = 1);
    FORGE(uses, struct argus_object_use, 0, element.thread = 1 << 30);
    FORGE(texts, char, header.arrays[GRAPH_ARRAY_texts].count - 1, element = 'x');
}

static bool count_down(void *context, const char *what, double share)
{
    int *left = context;
    assert_non_null(what);
    assert_true(share >= 0.0 && share <= 1.0);
    return (*left)-- > 0;
}

/* Interrupts at each check for an interrupt in turn, until the load completes. */
static void test_building_and_saving_can_be_stopped(void **state)
{
    (void)state;
    struct argus_trace *trace = open_trace();
    struct argus_graph *graph = NULL;
    int stops = 0;
    for (; !graph; stops++) {
        int left = stops;
        struct argus_error *error = argus_graph_build(trace, NULL, count_down, &left, &graph);
        assert_true(!error == (graph != NULL));
        assert_true(!error || error->code == ARGUS_ERROR_INTERRUPTED);
        argus_error_destroy(error);
    }
    assert_true(stops > 5);
    unlink(graph_path);
    int left = 2;
    struct argus_error *error = argus_graph_save(graph, graph_path, count_down, &left);
    assert_non_null(error);
    assert_int_equal(error->code, ARGUS_ERROR_INTERRUPTED);
    argus_error_destroy(error);
    assert_int_equal(access(graph_path, F_OK), -1);
    argus_graph_destroy(graph);
    argus_trace_close(trace);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(trace_path, sizeof(trace_path), "%s/a.argus", folder);
    snprintf(graph_path, sizeof(graph_path), "%s/a.argus.graph", folder);
    write_trace();
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(trace_path);
    unlink(graph_path);
    return rmdir(folder); /* no other file was left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loaded_is_built),
        cmocka_unit_test(test_file_is_the_users_alone),
        cmocka_unit_test(test_links_are_not_followed),
        cmocka_unit_test(test_not_there),
        cmocka_unit_test(test_any_change_of_the_trace_is_seen),
        cmocka_unit_test(test_a_copy_of_the_trace_is_another_one),
        cmocka_unit_test(test_other_builds_and_rules),
        cmocka_unit_test(test_every_cut_is_seen),
        cmocka_unit_test(test_a_later_cut_does_no_harm),
        cmocka_unit_test(test_damage_is_seen),
        cmocka_unit_test(test_forged_elements_are_refused),
        cmocka_unit_test(test_building_and_saving_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
