/* Step files: written data is read back, and truncated or damaged files are reported. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "argus/steps.h"

static const struct argus_steps_about about = {.arch = ARGUS_ARCH_X86_64,
                                               .engine = ARGUS_STEP_ENGINE_PTRACE,
                                               .vertex = 12,
                                               .trace_identity = 0xfedcba9876543210u,
                                               .pid = 100,
                                               .tid = 101,
                                               .comm = "main",
                                               .exe = "/usr/bin/x",
                                               .trace = "a.argus",
                                               .begin_text = "loop"};

struct memory_file {
    int fd;
    char path[40];
};

static struct memory_file memory_file(void)
{
    struct memory_file file = {.fd = memfd_create("steps", MFD_CLOEXEC)};
    assert_true(file.fd >= 0);
    snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
    return file;
}

static void good(struct argus_error *error)
{
    if (error)
        fail_msg("%s", error->message);
}

/* 10,000 steps: three chunks. Registers of two in three. */
static uint64_t pc_of(uint32_t step)
{
    return 0x400000 + (step * 7919u) % 65536u;
}

static void registers_of_step(uint32_t step, uint64_t *ret)
{
    for (uint32_t i = 0; i < ARGUS_X86_REGISTERS; i++)
        ret[i] = i == 3 ? UINT64_MAX - step : i == 5 ? (uint64_t)step << 40 : i;
    ret[ARGUS_X86_RIP] = pc_of(step);
}

enum { STEPS = 10000 };

static void write_many(int fd, bool with_end)
{
    struct argus_steps_writer *writer;
    uint64_t registers[ARGUS_STEP_REGISTERS];
    uint32_t frame = ARGUS_NONE;
    good(argus_steps_writer_create(fd, &about, &writer));
    for (uint32_t i = 0; i < STEPS; i++) {
        registers_of_step(i, registers);
        good(argus_steps_writer_step(writer, pc_of(i), i % 3 ? registers : NULL));
        if (i % 10 == 0) {
            struct argus_step_frame called = {
                .return_address = i, .function = 2 * i, .caller = frame};
            good(argus_steps_writer_frame(writer, &called, &frame));
            struct argus_step_event event = {.kind = ARGUS_STEP_CALL,
                                             .step = i,
                                             .frame = frame,
                                             .address = pc_of(i),
                                             .arguments = {1, 2, 3, 4, 5, UINT64_MAX}};
            good(argus_steps_writer_event(writer, &event));
        }
    }
    argus_steps_writer_first_frame(writer, 0);
    if (with_end)
        good(argus_steps_writer_end(writer, ARGUS_STEP_END_MOST, "10000 steps", 5));
    argus_steps_writer_destroy(writer);
}

static void check_steps(struct argus_steps *steps, size_t count)
{
    const uint64_t *pcs;
    uint64_t expected[ARGUS_STEP_REGISTERS], got[ARGUS_STEP_REGISTERS];
    assert_int_equal(argus_steps_pcs(steps, &pcs), count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pcs[i], pc_of(i));
        registers_of_step(i, expected);
        assert_int_equal(argus_steps_registers(steps, i, got), i % 3 != 0);
        if (i % 3)
            assert_memory_equal(got, expected, ARGUS_X86_REGISTERS * sizeof(got[0]));
    }
    assert_false(argus_steps_registers(steps, (uint32_t)count, got));
}

static void test_many_steps(void **state)
{
    (void)state;
    struct memory_file file = memory_file();
    struct argus_steps *steps;
    const struct argus_step_event *events;
    const struct argus_step_frame *frames;
    write_many(file.fd, true);
    good(argus_steps_open(file.path, &steps));
    check_steps(steps, STEPS);
    assert_int_equal(argus_steps_events(steps, &events), STEPS / 10);
    assert_int_equal(argus_steps_frames(steps, &frames), STEPS / 10);
    for (uint32_t i = 0; i < STEPS / 10; i++) {
        assert_int_equal(events[i].step, i * 10);
        assert_int_equal(events[i].frame, i);
        assert_int_equal(events[i].arguments[5], UINT64_MAX);
        assert_int_equal(frames[i].caller, i ? i - 1 : ARGUS_NONE);
        assert_int_equal(frames[i].function, 20 * i);
    }
    assert_int_equal(argus_steps_end(steps), ARGUS_STEP_END_MOST);
    assert_string_equal(argus_steps_end_text(steps), "10000 steps");
    assert_int_equal(argus_steps_about(steps)->trace_identity, about.trace_identity);
    assert_int_equal(argus_steps_about(steps)->vertex, 12);
    assert_string_equal(argus_steps_about(steps)->exe, "/usr/bin/x");
    argus_steps_close(steps);
    close(file.fd);
}

/* The writer was killed: complete chunks are readable, and the file is reported as unfinished. */
static void test_cut_off(void **state)
{
    (void)state;
    struct memory_file file = memory_file();
    struct argus_steps *steps;
    write_many(file.fd, false);
    good(argus_steps_open(file.path, &steps));
    check_steps(steps, 8192);
    assert_int_equal(argus_steps_end(steps), ARGUS_STEP_END_NONE);
    assert_string_equal(argus_steps_end_text(steps), "");
    argus_steps_close(steps);
    off_t length = lseek(file.fd, 0, SEEK_END);
    for (off_t cut = length - 1; cut >= 0; cut -= 97) {
        assert_int_equal(ftruncate(file.fd, cut), 0);
        struct argus_error *error = argus_steps_open(file.path, &steps);
        if (!error)
            argus_steps_close(steps);
        argus_error_destroy(error);
    }
    close(file.fd);
}

static void test_every_byte_counts(void **state)
{
    (void)state;
    struct memory_file file = memory_file();
    struct argus_steps_writer *writer;
    struct argus_steps *steps;
    good(argus_steps_writer_create(file.fd, &about, &writer));
    good(argus_steps_writer_step(writer, 0x1000, NULL));
    good(argus_steps_writer_end(writer, ARGUS_STEP_END_USER, "enough", 5));
    argus_steps_writer_destroy(writer);
    off_t length = lseek(file.fd, 0, SEEK_END);
    for (off_t at = 0; at < length; at++) {
        uint8_t byte, changed;
        assert_int_equal(pread(file.fd, &byte, 1, at), 1);
        changed = byte ^ 0x11;
        assert_int_equal(pwrite(file.fd, &changed, 1, at), 1);
        struct argus_error *error = argus_steps_open(file.path, &steps);
        assert_non_null(error);
        assert_true(error->code == ARGUS_ERROR_FORMAT || error->code == ARGUS_ERROR_VERSION);
        argus_error_destroy(error);
        assert_int_equal(pwrite(file.fd, &byte, 1, at), 1);
    }
    close(file.fd);
}

static void test_code_and_images(void **state)
{
    (void)state;
    struct memory_file file = memory_file();
    struct argus_steps_writer *writer;
    struct argus_steps *steps;
    uint8_t code[64], got[64];
    for (size_t i = 0; i < sizeof(code); i++)
        code[i] = (uint8_t)i;
    good(argus_steps_writer_create(file.fd, &about, &writer));
    struct argus_step_image first = {.start = 0x1000,
                                     .end = 0x2000,
                                     .path = "/bin/a",
                                     .stepped = true},
                            second = {
                                .start = 0x3000, .end = 0x4000, .path = "", .executable = true};
    good(argus_steps_writer_image(writer, &first));
    good(argus_steps_writer_image(writer, &second));
    good(argus_steps_writer_code(writer, 0x1020, code + 32, 16));
    good(argus_steps_writer_code(writer, 0x1000, code, 32));
    good(argus_steps_writer_code(writer, 0x1031, code + 49, 4)); /* one byte further: a gap */
    good(argus_steps_writer_step(writer, 0x1000, NULL));
    good(argus_steps_writer_end(writer, ARGUS_STEP_END_RETURN, "", 0));
    argus_steps_writer_destroy(writer);
    good(argus_steps_open(file.path, &steps));
    assert_int_equal(argus_steps_code(steps, 0x1003, 64, got), 45);
    assert_memory_equal(got, code + 3, 45);
    assert_int_equal(argus_steps_code(steps, 0x102f, 8, got), 1);
    assert_int_equal(argus_steps_code(steps, 0x1030, 8, got), 0);
    assert_int_equal(argus_steps_code(steps, 0x1033, 8, got), 2);
    assert_int_equal(argus_steps_code(steps, 0xfff, 8, got), 0);
    assert_int_equal(argus_steps_image_of(steps, 0xfff), ARGUS_NONE);
    assert_int_equal(argus_steps_image_of(steps, 0x1000), 0);
    assert_int_equal(argus_steps_image_of(steps, 0x2000), ARGUS_NONE);
    assert_int_equal(argus_steps_image_of(steps, 0x3fff), 1);
    assert_int_equal(argus_steps_image_of(steps, UINT64_MAX), ARGUS_NONE);
    argus_steps_close(steps);
    close(file.fd);
}

static void write_event(int fd, const struct argus_step_event *event)
{
    struct argus_steps_writer *writer;
    good(argus_steps_writer_create(fd, &about, &writer));
    good(argus_steps_writer_step(writer, 0x1000, NULL));
    good(argus_steps_writer_event(writer, event));
    good(argus_steps_writer_end(writer, ARGUS_STEP_END_RETURN, "", 0));
    argus_steps_writer_destroy(writer);
}

/* Invalid IDs and overlapping ranges. */
static void test_impossible(void **state)
{
    (void)state;
    static const struct argus_step_event events[] = {
        {.kind = ARGUS_STEP_CALL, .step = 1, .frame = ARGUS_NONE},
        {.kind = ARGUS_STEP_CALL, .step = 0, .frame = 0},
        {.kind = ARGUS_STEP_SIGNAL + 1, .frame = ARGUS_NONE},
        {.kind = 0, .frame = ARGUS_NONE},
    };
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct memory_file file = memory_file();
        struct argus_steps *steps;
        write_event(file.fd, &events[i]);
        struct argus_error *error = argus_steps_open(file.path, &steps);
        assert_non_null(error);
        assert_int_equal(error->code, ARGUS_ERROR_FORMAT);
        argus_error_destroy(error);
        close(file.fd);
    }
}

static void test_not_a_step_file(void **state)
{
    (void)state;
    static const char *const paths[] = {"/", "/dev/null", "/etc/passwd", "/proc/self/exe",
                                        "/nosuch"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct argus_steps *steps;
        struct argus_error *error = argus_steps_open(paths[i], &steps);
        assert_non_null(error);
        assert_non_null(strstr(error->message, paths[i]));
        argus_error_destroy(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_steps),        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_every_byte_counts), cmocka_unit_test(test_code_and_images),
        cmocka_unit_test(test_impossible),        cmocka_unit_test(test_not_a_step_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
