/* random_trace FILE SEED [RING_BYTES]: a trace of random chunks of every kind, the same for the
 * same seed. Numbers are drawn from all magnitudes, so that varints of every length and differences
 * of both signs occur. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argus/trace.h"

enum { CPUS = 3, MOST_RECORDS = 400, MOST_ENTRIES = 6, CHUNKS = 60, RING_CHUNKS = 600 };

static uint64_t state;

/* splitmix64 */
static uint64_t random64(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t limit)
{
    return random64() % limit;
}

/* 0 to 64 bits long, each length with the same probability; the extreme values often. */
static uint64_t any_number(void)
{
    uint64_t bits = below(66);
    return bits == 65  ? UINT64_MAX
           : bits == 0 ? 0
                       : random64() >> (64 - bits > 63 ? 63 : 64 - bits);
}

/* A name with all contents that a file may have: UTF-8, broken UTF-8, control characters. */
static const char *any_name(void)
{
    static char names[64][40];
    static unsigned turn;
    char *name = names[turn++ % 64];
    static const char *const pieces[] = {
        "editor",       "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
        "\xff",         "\xe2\x82", "\xc0\x80",     "\xed\xa0\x80",
        "\xf4\x90\x80", "\n\t",     "\x80",         "/usr/lib"};
    size_t length = 0;
    for (uint64_t i = below(4); i > 0; i--)
        length += (size_t)snprintf(name + length, sizeof(names[0]) - length, "%s",
                                   pieces[below(sizeof(pieces) / sizeof(*pieces))]);
    name[length] = '\0';
    return name;
}

static void must(struct argus_error *error)
{
    if (!error)
        return;
    fprintf(stderr, "random_trace: %s\n", error->message);
    exit(1);
}

static void put_records(struct argus_writer *writer, uint64_t *time)
{
    static struct argus_record records[MOST_RECORDS];
    bool mixed = below(4) == 0, wild = below(5) == 0;
    uint32_t cpu = (uint32_t)below(CPUS);
    size_t count = below(8) == 0 ? 0 : below(MOST_RECORDS);
    for (size_t i = 0; i < count; i++) {
        *time += below(1000) - (below(8) == 0 ? 500 : 0);
        records[i] = (struct argus_record){
            .timestamp = wild ? any_number() : *time,
            .arg = {any_number(), below(9), i, wild ? any_number() : 7},
            .tid = wild ? any_number() : 1000 + below(5),
            .debugid = wild ? (uint32_t)random64() : (uint32_t)(below(6) * 0x01400018u),
            .cpu = mixed ? (uint32_t)below(CPUS) : cpu,
        };
        if (!wild && below(4) == 0) { /* late stacks may replace it */
            records[i].debugid = ARGUS_ID_STACK;
            records[i].arg[2] = 1 + below(2);
        }
    }
    uint64_t lost = below(6) == 0 ? any_number() : 0;
    must(argus_writer_records(writer, mixed ? ARGUS_CPU_MIXED : cpu, records, count, lost));
}

static void put_threads(struct argus_writer *writer, uint64_t *time)
{
    struct argus_thread_entry entries[MOST_ENTRIES];
    size_t count = below(MOST_ENTRIES);
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct argus_thread_entry){
            .tid = any_number(),
            .pid = any_number(),
            .parent_pid = below(100),
            .seen_ticks = *time,
            .name = any_name(),
            .kernel = below(2),
        };
    must(argus_writer_threads(writer, entries, count));
}

static void fill_images(struct argus_image_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t start = any_number();
        entries[i] = (struct argus_image_entry){
            .pid = any_number(),
            .start = start,
            .end = start + random64() % (UINT64_MAX - start + 1 ? UINT64_MAX - start + 1 : 1),
            .file_offset = any_number(),
            .mapped_ticks = any_number(),
            .inode = below(4),
            .dev_major = (uint32_t)below(2),
            .dev_minor = (uint32_t)below(2),
            .path = below(2) ? "/usr/bin/editor" : any_name(),
            .build_id_bytes = (uint32_t)(below(2) * below(21)),
        };
        for (uint32_t k = 0; k < entries[i].build_id_bytes; k++)
            entries[i].build_id[k] = (uint8_t)random64();
    }
}

static void put_images(struct argus_writer *writer, uint64_t *time)
{
    (void)time;
    struct argus_image_entry entries[MOST_ENTRIES];
    size_t count = below(MOST_ENTRIES);
    fill_images(entries, count);
    must(argus_writer_images(writer, entries, count));
}

static void put_build_ids(struct argus_writer *writer, uint64_t *time)
{
    (void)time;
    struct argus_image_entry entries[MOST_ENTRIES];
    size_t count = below(MOST_ENTRIES);
    fill_images(entries, count);
    must(argus_writer_build_ids(writer, entries, count));
}

static void put_stacks(struct argus_writer *writer, uint64_t *time)
{
    (void)time;
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    for (uint64_t n = below(MOST_ENTRIES); n > 0; n--) {
        size_t count = 1 + below(ARGUS_STACK_MAX_FRAMES);
        for (size_t i = 0; i < count; i++)
            frames[i] = any_number();
        must(argus_writer_stack(writer, below(2) ? below(20) : random64(), frames, count));
    }
    if (below(3) == 0)
        argus_writer_forget_stacks(writer);
    if (below(2))
        must(argus_writer_flush(writer));
}

static void put_snapshots(struct argus_writer *writer, uint64_t *time)
{
    static uint8_t stack[4096];
    for (uint64_t n = below(MOST_ENTRIES); n > 0; n--) {
        struct argus_snapshot snapshot = {
            .id = 1 + below(50),
            .pid = any_number(),
            .tid = any_number(),
            .ticks = *time,
            .register_count = (uint32_t)below(ARGUS_SNAPSHOT_REGISTERS + 1),
            .end = (enum argus_snapshot_end)below(3),
            .stack = stack,
            .stack_bytes = (uint32_t)below(200),
        };
        for (uint32_t i = 0; i < snapshot.register_count; i++)
            snapshot.registers[i] = any_number();
        for (uint32_t i = 0; i < snapshot.stack_bytes; i++)
            stack[i] = (uint8_t)below(below(2) ? 256 : 2);
        must(argus_writer_snapshot(writer, &snapshot));
    }
    if (below(2))
        must(argus_writer_flush(writer));
}

static void put_symbols(struct argus_writer *writer, uint64_t *time)
{
    (void)time;
    struct argus_kernel_symbol entries[MOST_ENTRIES];
    size_t count = below(MOST_ENTRIES);
    uint64_t address = 0xffffffff81000000u;
    for (size_t i = 0; i < count; i++) {
        address += below(3);
        entries[i] = (struct argus_kernel_symbol){address, any_name(), below(2) ? "" : "ext4"};
    }
    must(argus_writer_kernel_symbols(writer, entries, count));
}

static void put_probes(struct argus_writer *writer, uint64_t *time)
{
    (void)time;
    struct argus_probe_entry entries[MOST_ENTRIES];
    size_t count = below(MOST_ENTRIES);
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct argus_probe_entry){
            .number = (uint32_t)below(10),
            .shape = (uint32_t)below(ARGUS_PROBE_SHAPES),
            .space = (uint32_t)any_number(),
            .file_offset = any_number(),
            .library = any_name(),
            .symbol = any_name(),
            .label = any_name(),
        };
    must(argus_writer_probes(writer, entries, count));
}

static void put_flags(struct argus_writer *writer, uint64_t *time)
{
    struct argus_flag_entry entries[MOST_ENTRIES];
    size_t count = below(MOST_ENTRIES);
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct argus_flag_entry){
            .number = (uint32_t)below(6),
            .pid = any_number(),
            .address = any_number(),
            .bytes = 1u << below(4),
            .semantics = (uint32_t)below(ARGUS_FLAG_SEMANTICS),
            .since_ticks = *time,
            .value = any_number(),
            .label = any_name(),
        };
    must(argus_writer_flags(writer, entries, count));
}

static void put_late_stacks(struct argus_writer *writer, uint64_t *time)
{
    for (uint64_t n = below(MOST_ENTRIES); n > 0; n--) {
        struct argus_late_stack late = {
            .tid = below(4) ? 1000 + below(5) : any_number(),
            .from_ticks = *time - below(20000),
            .id = below(2) ? below(20) : random64(),
            .sp = below(3) ? 7 : any_number(),
        };
        late.to_ticks = late.from_ticks + below(20000);
        must(argus_writer_late_stack(writer, &late));
    }
    if (below(2))
        must(argus_writer_flush(writer));
}

static void put_names(struct argus_writer *writer, uint64_t *time)
{
    bool is_inlined = below(3) == 0;
    enum { OWNERS = 3 };
    struct argus_image_entry files[OWNERS];
    struct argus_name_entry entries[4 * MOST_ENTRIES];
    size_t count = below(4 * MOST_ENTRIES);
    const struct argus_image_entry *file = NULL;
    fill_images(files, OWNERS);
    for (size_t i = 0; i < count; i++) {
        if (below(4) == 0)
            file = below(3) ? &files[below(OWNERS)] : NULL;
        entries[i] = (struct argus_name_entry){
            .file = file,
            .pid = file ? 0 : below(3),
            .place = below(3) ? below(6) : any_number(),
            .since_ticks = below(3) ? 0 : *time - below(3),
            .distance = any_number(),
            .function = any_name(),
            .source = below(2) ? "editor.c" : any_name(),
            .called = below(4) ? "" : any_name(),
            .line = (uint32_t)any_number(),
            .level = is_inlined ? 1 + (uint32_t)below(3) : 0,
            .has_start = below(2),
            .lack = (uint8_t)below(ARGUS_LACKS),
        };
        entries[i].distance *= entries[i].has_start;
    }
    must(is_inlined ? argus_writer_inlined(writer, entries, count)
                    : argus_writer_names(writer, entries, count));
}

static void put_code(struct argus_writer *writer, uint64_t *time)
{
    static const uint8_t tables[2][6] = {{0x80, 0, 0, 0xf2, 1, 0}, {0xff}};
    struct argus_code_entry entries[MOST_ENTRIES];
    size_t count = below(MOST_ENTRIES);
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct argus_code_entry){
            .pid = below(3),
            .start = below(4) ? below(6) : any_number(),
            .bytes = below(200),
            .seen_ticks = below(2) ? *time : 5,
            .line = (uint32_t)any_number(),
            .function = below(2) ? "run" : any_name(),
            .source = below(2) ? "editor.py" : any_name(),
            .table = tables[below(2)],
            .table_bytes = (uint32_t)below(sizeof(tables[0])),
        };
    for (size_t i = 0; i < count; i++)
        if (entries[i].start + entries[i].bytes < entries[i].start)
            entries[i].bytes = 0;
    must(argus_writer_code(writer, entries, count));
}

static void put_note(struct argus_writer *writer, uint64_t *time)
{
    (void)time;
    must(argus_writer_note(writer, any_name()));
}

static void put_end(struct argus_writer *writer)
{
    struct argus_counter counters[] = {
        {"records", argus_writer_records_written(writer)}, {"lost", any_number()}, {any_name(), 1}};
    must(argus_writer_end(writer, counters, below(4)));
}

static void put_chunks(struct argus_writer *writer, int count)
{
    static void (*const puts[])(struct argus_writer *, uint64_t *) = {
        put_threads, put_images,    put_build_ids, put_stacks,      put_symbols, put_probes,
        put_flags,   put_snapshots, put_note,      put_late_stacks, put_names,   put_code,
    };
    uint64_t time = 1000000;
    for (int i = 0; i < count; i++) {
        enum argus_codec codec = (enum argus_codec)below(ARGUS_CODECS);
        if (argus_codec_is_built(codec))
            must(argus_writer_choose_codec(writer, codec));
        if (below(8) == 0)
            argus_writer_hurry(writer);
        if (below(3))
            put_records(writer, &time);
        else
            puts[below(sizeof(puts) / sizeof(*puts))](writer, &time);
    }
    if (below(4))
        put_end(writer);
}

/* TEST_KEY of decode.py. */
static void encrypt_snapshots(struct argus_writer *writer)
{
    struct argus_snapshot_key key;
    for (int i = 0; i < ARGUS_SNAPSHOT_KEY_BYTES; i++)
        key.bytes[i] = (uint8_t)(i + 1);
    must(argus_writer_encrypt(writer, &key));
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    state = strtoull(argv[2], NULL, 0);
    struct argus_trace_header header = {
        .os = ARGUS_OS_LINUX,
        .arch = ARGUS_ARCH_AARCH64,
        .timebase_numer = 1 + (uint32_t)below(200),
        .timebase_denom = 1 + (uint32_t)below(5),
        .anchor_ticks = any_number(),
        .anchor_wall_ns = any_number(),
        .page_bytes = 4096,
        .cpu_count = CPUS,
        .ring_bytes = argc > 3 ? strtoull(argv[3], NULL, 0) : 0,
        .boot_id = {1, 2, 3, 255},
        .host = "Linux 6.1 \xff\xc3\xa9",
    };
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct argus_writer *writer = NULL;
    must(argus_writer_create(fd, &header, &writer));
    if (argus_snapshot_key_is_built() && below(2))
        encrypt_snapshots(writer);
    put_chunks(writer, header.ring_bytes ? RING_CHUNKS : CHUNKS);
    argus_writer_destroy(writer);
    close(fd);
    return 0;
}
