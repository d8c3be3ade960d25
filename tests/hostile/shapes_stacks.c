/* Call stacks, images and names. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

enum { BASE = 0x400000 };

static void add_image(struct hostile *hostile, uint64_t pid, uint64_t start, uint64_t end,
                      const char *path)
{
    struct argus_image_entry image = {
        .pid = pid, .start = start, .end = end, .inode = 7, .path = path};
    hostile_check(argus_writer_images(hostile->writer, &image, 1));
}

static void add_stack(struct hostile *hostile, uint64_t id, uint64_t count, uint64_t first,
                      uint64_t step)
{
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    for (uint64_t i = 0; i < count; i++)
        frames[i] = first + i * step;
    hostile_check(argus_writer_stack(hostile->writer, id, frames, count));
}

/* A stack for each wait, so that every path of a tree is as deep as a stack can be. */
void shape_stacks_deep(struct hostile *hostile)
{
    hostile_thread(hostile, 10, 10, "deep");
    add_image(hostile, 10, BASE, BASE << 8, "/nowhere/deep");
    for (uint64_t i = 1; hostile_room(hostile); i++) {
        add_stack(hostile, i, ARGUS_STACK_MAX_FRAMES, BASE + i * 16, 0x1000);
        hostile_wait(hostile, 0, 10, READ);
        PUT(0, 10, ARGUS_ID_STACK, i, 0, 1);
        hostile_wake(hostile, 1, 11, 0, 10, READ);
    }
}

void shape_stacks_many(struct hostile *hostile)
{
    hostile_thread(hostile, 10, 10, "many");
    add_image(hostile, 10, BASE, BASE << 8, "/nowhere/many");
    for (uint64_t i = 1; hostile_room(hostile); i++) {
        add_stack(hostile, i, 1, BASE + i, 16);
        PUT(0, 10, ARGUS_ID_SAMPLE, i, 0, BASE + i);
    }
}

void shape_samples(struct hostile *hostile)
{
    hostile_thread(hostile, 10, 10, "sampled");
    add_image(hostile, 10, BASE, BASE << 8, "/nowhere/sampled");
    for (uint64_t i = 1; i <= 2000; i++)
        add_stack(hostile, i, 100, BASE + i * 16, 0x1000);
    for (uint64_t i = 0; hostile_room(hostile); i++)
        PUT(0, 10, ARGUS_ID_SAMPLE, 1 + i % 2000, 0, BASE + i % 2000 * 16);
}

void shape_call_stacks(struct hostile *hostile)
{
    add_image(hostile, 10, BASE, BASE << 8, "/nowhere/calls");
    for (uint64_t i = 1; i <= 500; i++)
        add_stack(hostile, i, 127, BASE + i % 3 * 16, 0x1000 + i / 3 % 2);
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        hostile_wait(hostile, 0, 10 + i % 2000, READ);
        PUT(0, 10 + i % 2000, ARGUS_ID_STACK, 1 + i % 500, 0, 4);
        PUT(0, 10 + i % 2000, ARGUS_ID_SYSCALL(READ) | ARGUS_FUNC_END, 0, 1);
    }
}

/* Each late stack lasts from the beginning to the end, with one stack pointer. */
void shape_late_stacks(struct hostile *hostile)
{
    uint64_t most = hostile->most_bytes / 2;
    add_stack(hostile, 1, 1, BASE, 16);
    for (uint64_t i = 1; hostile_room(hostile) && argus_writer_bytes(hostile->writer) < most; i++) {
        struct argus_late_stack late = {10, 1000000000, UINT64_MAX / 2 + i % 2, 4096, i + 1};
        hostile_check(argus_writer_late_stack(hostile->writer, &late));
    }
    for (uint64_t i = 0; hostile_room(hostile); i++) {
        hostile_wait(hostile, 0, 10, READ);
        PUT(0, 10, ARGUS_ID_STACK, 1, 0, 1, 4096);
        hostile_wake(hostile, 1, 11, 0, 10, READ);
    }
}

/* Copies of stacks in real libraries, whose words all lie in their code. */
void shape_snapshots(struct hostile *hostile)
{
    static uint64_t words[2048];
    add_image(hostile, 10, BASE, BASE + (16 << 20), "/usr/lib/x86_64-linux-gnu/libc.so.6");
    for (uint64_t id = 1; hostile_room(hostile); id++) {
        struct argus_snapshot snapshot = {.id = id,
                                          .pid = 10,
                                          .tid = 10,
                                          .ticks = hostile->now,
                                          .register_count = 17,
                                          .end = ARGUS_SNAPSHOT_CUT,
                                          .stack = (const uint8_t *)words,
                                          .stack_bytes = sizeof(words)};
        for (size_t i = 0; i < 2048; i++)
            words[i] =
                id * i % 3 ? BASE + 0x30000 + (id * 61 + i * 7) % 0x100000 : 0x7ffc00000000 + i * 8;
        snapshot.registers[7] = 0x7ffc00000000;
        snapshot.registers[6] = 0x7ffc00000010;
        snapshot.registers[16] = BASE + 0x30000 + id * 37 % 0x100000;
        hostile_check(argus_writer_snapshot(hostile->writer, &snapshot));
        hostile_wait(hostile, 0, 10, READ);
        PUT(0, 10, ARGUS_ID_STACK, id, 0, 1);
    }
}

static void add_images(struct hostile *hostile, uint64_t at, uint64_t pid_step, const char *path)
{
    static struct argus_image_entry images[1024];
    for (uint64_t i = 0; i < 1024; i++)
        images[i] = (struct argus_image_entry){.pid = 10 + (at + i) * pid_step,
                                               .start = BASE + (at + i) % 7777 * 4096,
                                               .end = BASE + (1ull << 40) - (at + i) * 16,
                                               .mapped_ticks = at + i,
                                               .inode = at + i,
                                               .path = path};
    hostile_check(argus_writer_images(hostile->writer, images, 1024));
}

static void use_images(struct hostile *hostile)
{
    hostile_thread(hostile, 10, 10, "images");
    for (uint64_t i = 1; i < 3000; i++) {
        add_stack(hostile, i, 100, BASE + i * 4096, 0x1000);
        hostile_wait(hostile, 0, 10, READ);
        PUT(0, 10, ARGUS_ID_STACK, i, 0, 1);
        hostile_wake(hostile, 1, 11, 0, 10, READ);
    }
}

void shape_images_overlapping(struct hostile *hostile)
{
    for (uint64_t at = 0; hostile_room(hostile); at += 1024)
        add_images(hostile, at, 0, "/nowhere/overlapping");
    use_images(hostile);
}

void shape_images_everywhere(struct hostile *hostile)
{
    for (uint64_t at = 0; hostile_room(hostile); at += 1024)
        add_images(hostile, at, 1, "/usr/bin/true");
    use_images(hostile);
}

void shape_images_long_paths(struct hostile *hostile)
{
    static char path[65537];
    memset(path, '/', 65536);
    for (uint64_t i = 0; hostile_room(hostile) && i < 3000; i++) {
        snprintf(path + 60000, 32, "%llu", (unsigned long long)i);
        path[60000 + strlen(path + 60000)] = 'x';
        add_image(hostile, 10, BASE + i * 4096, BASE + i * 4096 + 4096, path);
    }
    use_images(hostile);
}

static void add_names(struct hostile *hostile, uint64_t at, uint64_t levels, const char *function)
{
    static struct argus_name_entry names[1024];
    static const struct argus_image_entry file = {.inode = 7, .path = "/nowhere/named"};
    for (uint64_t i = 0; i < 1024; i++) {
        uint64_t number = at + i;
        names[i] = (struct argus_name_entry){.file = &file,
                                             .place = number / levels * 16,
                                             .level = (uint32_t)(number % levels),
                                             .function = function,
                                             .source = "/nowhere/named.c",
                                             .called = "",
                                             .line = (uint32_t)i};
        if (levels > 1)
            names[i].level++;
        else
            names[i].since_ticks = number;
    }
    hostile_check(levels > 1 ? argus_writer_inlined(hostile->writer, names, 1024)
                             : argus_writer_names(hostile->writer, names, 1024));
}

static void use_names(struct hostile *hostile)
{
    static const struct argus_image_entry file = {.inode = 7, .path = "/nowhere/named"};
    hostile_thread(hostile, 10, 10, "named");
    add_image(hostile, 10, 0, 1ull << 40, "/nowhere/named");
    for (uint64_t i = 1; i < 1000; i++) {
        struct argus_name_entry name = {.file = &file,
                                        .place = i * 16,
                                        .function = "outer",
                                        .source = "/nowhere/named.c",
                                        .called = ""};
        hostile_check(argus_writer_names(hostile->writer, &name, 1));
        add_stack(hostile, i, 127, i * 16 + (i > 1), 16);
        hostile_wait(hostile, 0, 10, READ);
        PUT(0, 10, ARGUS_ID_STACK, i, 0, 1);
        hostile_wake(hostile, 1, 11, 0, 10, READ);
    }
}

/* Half a million functions that were inlined at one place, and a thousand of such places. */
void shape_names_inlined(struct hostile *hostile)
{
    for (uint64_t at = 0; hostile_room(hostile) && at < 4000000; at += 1024)
        add_names(hostile, at, 1 << 16, "inlined");
    use_names(hostile);
}

void shape_names_since(struct hostile *hostile)
{
    for (uint64_t at = 0; hostile_room(hostile); at += 1024)
        add_names(hostile, at, 1, "since");
    use_names(hostile);
}

/* Names that are long to demangle and to shorten. */
void shape_names_long(struct hostile *hostile)
{
    static char name[65537];
    for (size_t i = 0; i < 65536; i++)
        name[i] = "<a::(,{~operator> "[i % 18];
    for (uint64_t at = 0; hostile_room(hostile) && at < 60 * 1024; at += 1024)
        add_names(hostile, at, 2, name + at);
    use_names(hostile);
}

void shape_kernel_symbols(struct hostile *hostile)
{
    static struct argus_kernel_symbol symbols[1024];
    uint64_t address = 0xffffffff80000000;
    while (hostile_room(hostile)) {
        for (int i = 0; i < 1024; i++)
            symbols[i] = (struct argus_kernel_symbol){++address, "k", i % 2 ? "module" : ""};
        hostile_check(argus_writer_kernel_symbols(hostile->writer, symbols, 1024));
    }
    add_stack(hostile, 1, 127, 0xffffffff80000000, 1);
    hostile_wait(hostile, 0, 10, READ);
    PUT(0, 10, ARGUS_ID_STACK, 0, 1, 1);
}

void shape_code(struct hostile *hostile)
{
    static struct argus_code_entry code[1024];
    static uint8_t table[256];
    for (uint64_t at = 0; hostile_room(hostile); at += 1024) {
        for (uint64_t i = 0; i < 1024; i++)
            code[i] = (struct argus_code_entry){.pid = 10,
                                                .start = BASE + (at + i) % 99,
                                                .bytes = 1ull << 40,
                                                .seen_ticks = at + i,
                                                .table_bytes = sizeof(table),
                                                .table = table,
                                                .function = "python",
                                                .source = "python.py"};
        hostile_check(argus_writer_code(hostile->writer, code, 1024));
    }
    use_images(hostile);
}

void shape_probes(struct hostile *hostile)
{
    static struct argus_probe_entry probes[1024];
    for (uint32_t number = 1; hostile_room(hostile);) {
        for (int i = 0; i < 1024; i++, number++)
            probes[i] = (struct argus_probe_entry){number, number,   1 + number % 11, number,
                                                   "/l",   "symbol", "label"};
        hostile_check(argus_writer_probes(hostile->writer, probes, 1024));
        PUT(0, 10, ARGUS_ID_CALLBACK | ARGUS_FUNC_START, number, 1, number, number);
    }
}

void shape_notes(struct hostile *hostile)
{
    for (uint64_t i = 0; hostile_room(hostile); i++)
        hostile_check(argus_writer_note(
            hostile->writer, i % 3 == 0   ? "recorded without stacks: all"
                             : i % 3 == 1 ? "kept for a hang: pid 10, tid 10, from 5 ns, for "
                                            "9223372036854775808 ns, over, of x"
                                          : "this kernel has no tracepoint x: y"));
    PUT(0, 10, ARGUS_ID_SWITCH, 1, 0);
}
