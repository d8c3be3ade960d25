/* mkkdebug VERSION IN.argus OUT: a trace of Darwin (made by mktrace) as a kdebug file.
 *
 * VERSION is one of the rows below, or `v1-32`: with a suffix `-32` records and maps are those of a
 * 32-bit kernel. The layouts are implemented here a second time, from the reference's tables, so
 * that an error in the reader is noticed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/trace.h"

struct source {
    const struct argus_trace *trace;
    struct argus_record *records;
    size_t count;
    bool narrow;
};

static FILE *out;

/* Little-endian; what is wider than the value is filled with zeros. */
static void put(uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++, value >>= 8)
        putc((int)(value & 0xff), out);
}

static void pad_to(long multiple)
{
    while (ftell(out) % multiple)
        putc(0, out);
}

static void put_threads(const struct source *source)
{
    const struct argus_thread_entry *threads;
    size_t count = argus_trace_threads(source->trace, &threads);
    for (size_t i = 0; i < count; i++) {
        char name[20] = {0};
        strncpy(name, threads[i].name, sizeof(name) - 1);
        put(threads[i].tid, source->narrow ? 4 : 8);
        put(threads[i].kernel ? 1 : threads[i].pid, 4);
        fwrite(name, 1, sizeof(name), out);
    }
}

static void put_record(const struct source *source, const struct argus_record *record)
{
    size_t word = source->narrow ? 4 : 8;
    put(source->narrow ? record->timestamp | (uint64_t)record->cpu << 56 : record->timestamp, 8);
    for (int i = 0; i < 4; i++)
        put(record->arg[i], word);
    put(record->tid, word);
    put(record->debugid, 4);
    if (source->narrow)
        return;
    put(record->cpu, 4);
    put(0, 8);
}

static void put_records(const struct source *source, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        put_record(source, &source->records[i]);
}

static size_t thread_count(const struct source *source)
{
    const struct argus_thread_entry *threads;
    return argus_trace_threads(source->trace, &threads);
}

static void write_v1_head(const struct source *source)
{
    put(0x55aa0101, 4);
    put(thread_count(source), 4);
    put(1600000000, 8);
    put(250000, 4);
    if (!source->narrow)
        put(0, 4);
    put_threads(source);
}

static void write_v1(const struct source *source)
{
    write_v1_head(source);
    pad_to(4096);
    put_records(source, 0, source->count);
}

/* V1+: a map of cpus fills up the page. */
static void write_v1_cpus(const struct source *source)
{
    write_v1_head(source);
    put(0x55aa0101, 4);
    put(2, 4);
    for (uint32_t i = 0; i < 2; i++) {
        put(i, 4);
        put(0, 4);
        fwrite("AP\0\0\0\0\0\0", 1, 8, out);
    }
    pad_to(4096);
    put_records(source, 0, source->count);
}

static void write_v2(const struct source *source)
{
    put(0x55aa0200, 4);
    put(thread_count(source), 4);
    put(0, 12);
    put(!source->narrow, 4);
    put(24000000, 8);
    for (int i = 0; i < 32; i++)
        put(0, 8);
    put_threads(source);
    pad_to(4096);
    put_records(source, 0, source->count);
}

static void put_chunk(uint32_t tag, uint64_t length)
{
    pad_to(8);
    put(tag, 4);
    put(0, 4);
    put(length, 8);
}

static void put_v3_head(const struct source *source, uint32_t magic, uint64_t more)
{
    put(magic, 4);
    put(1, 4);
    put(40 + more, 8);
    put(125, 4);
    put(3, 4);
    put(source->records[0].timestamp, 8);
    put(1600000000, 8);
    put(250000, 4);
    put(0, 8);
    put(!source->narrow, 4);
}

/* Records in two chunks; `counted`: how many of the eight bytes before them the length counts. */
static void put_v3_records(const struct source *source, uint64_t counted)
{
    size_t half = source->count / 2, ends[] = {0, half, source->count};
    for (int i = 0; i < 2; i++) {
        put_chunk(0x1e00, (ends[i + 1] - ends[i]) * (source->narrow ? 32 : 64) + counted);
        put(0, 8);
        put_records(source, ends[i], ends[i + 1]);
    }
}

/* As ktrace.py and kernels up to xnu-8020: with an unknown chunk of odd length. */
static void write_v3(const struct source *source)
{
    put_v3_head(source, 0x55aa0300, 16 + 11);
    put_chunk(0x8c00, 11);
    fwrite("bplist00xyz", 1, 11, out);
    put_chunk(0x8002, 5);
    fwrite("kcd\0\0", 1, 5, out);
    put_chunk(0x1d00, thread_count(source) * (source->narrow ? 28 : 32));
    put_threads(source);
    put_v3_records(source, 8);
}

/* As kernels from xnu-8792 on: the length of records is that of the records. */
static void write_v3_new(const struct source *source)
{
    put_v3_head(source, 0x55aa0300, 0);
    put_chunk(0x1d00, thread_count(source) * (source->narrow ? 28 : 32));
    put_threads(source);
    put_chunk(0x2000, 0);
    put_v3_records(source, 0);
}

/* As kernels from xnu-3248 to xnu-7195 themselves: a map of cpus inside of the head. */
static void write_v3_kernel(const struct source *source)
{
    put_v3_head(source, 0x1000, 16 + 32);
    put_chunk(0x1c00, 32);
    for (uint32_t i = 0; i < 2; i++) {
        put(i, 8);
        fwrite("AP\0\0\0\0\0\0", 1, 8, out);
    }
    put_chunk(0x1d00, thread_count(source) * (source->narrow ? 28 : 32));
    put_threads(source);
    put_v3_records(source, 8);
}

static const struct version {
    const char *name;
    void (*write)(const struct source *source);
} versions[] = {
    {"v1", write_v1}, {"v1+", write_v1_cpus},   {"v2", write_v2},
    {"v3", write_v3}, {"v3-new", write_v3_new}, {"v3-kernel", write_v3_kernel},
};

static void die(const char *what, struct argus_error *error)
{
    fprintf(stderr, "mkkdebug: %s%s%s\n", what, error ? ": " : "", error ? error->message : "");
    exit(1);
}

/* All records, in the order of the chunks. */
static void load(struct source *source)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(source->trace, &chunks);
    source->records = calloc(argus_trace_record_count(source->trace) + 1, sizeof(*source->records));
    if (!source->records)
        die("no memory", NULL);
    for (size_t i = 0; i < count; i++) {
        struct argus_error *error =
            argus_trace_read_chunk(source->trace, &chunks[i], source->records + source->count);
        if (error)
            die("cannot read", error);
        source->count += chunks[i].count;
    }
}

int main(int argc, char **argv)
{
    struct argus_trace *trace = NULL;
    struct source source = {0};
    if (argc != 4)
        die("usage: mkkdebug VERSION IN.argus OUT", NULL);
    size_t length = strlen(argv[1]);
    source.narrow = length > 3 && strcmp(argv[1] + length - 3, "-32") == 0;
    length -= source.narrow ? 3 : 0;
    struct argus_error *error = argus_trace_open(argv[2], &trace);
    out = fopen(argv[3], "wb");
    if (error || !out)
        die("cannot open", error);
    source.trace = trace;
    load(&source);
    for (size_t i = 0; i < sizeof(versions) / sizeof(*versions); i++) {
        if (strlen(versions[i].name) != length || strncmp(versions[i].name, argv[1], length))
            continue;
        versions[i].write(&source);
        free(source.records);
        argus_trace_close(trace);
        return fclose(out) ? 1 : 0;
    }
    die("no such version", NULL);
    return 1;
}
