/* mktrace TEXT TRACE: makes a trace file from a text that a person can read (README.md). */
#include "mktrace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quoted_words.h"

void builder_check(struct argus_error *error, const struct line *line)
{
    if (error)
        line_fail(line, "%s", error->message);
}

struct argus_writer *builder_writer(struct builder *builder, const struct line *line)
{
    if (!builder->writer)
        builder_check(argus_writer_create(builder->fd, &builder->header, &builder->writer), line);
    return builder->writer;
}

void builder_flush(struct builder *builder, const struct line *line)
{
    struct argus_writer *writer = builder_writer(builder, line);
    builder_check(argus_writer_flush(writer), line);
    for (uint32_t cpu = 0; cpu < builder->header.cpu_count; cpu++) {
        builder_check(argus_writer_records(writer, cpu, builder->records[cpu].data,
                                           builder->records[cpu].length, builder->lost[cpu]),
                      line);
        builder->records[cpu].length = 0;
        builder->lost[cpu] = 0;
    }
}

void builder_record(struct builder *builder, const struct line *line)
{
    if (line->count < 4)
        line_fail(line, "a record is TIME cpuN tTID NAME [argument=value …]");
    bool relative = line->words[0][0] == '+';
    uint64_t time = line_time(line, line->words[0] + relative);
    uint64_t cpu = line_suffix(line, line->words[1], "cpu");
    if (cpu >= builder->header.cpu_count)
        line_fail(line, "this trace has only %u cpus; say 'cpus N' at its beginning",
                  builder->header.cpu_count);
    builder->now_ticks = relative ? builder->now_ticks + time : time;
    struct argus_record record = {
        .timestamp = builder->now_ticks,
        .tid = line_suffix(line, line->words[2], "t"),
        .cpu = (uint32_t)cpu,
    };
    tracepoint_parse(line, &record);
    if (!vec_push(&builder->records[cpu], record))
        line_fail(line, "out of memory");
}

static void build(struct builder *builder, FILE *input, struct line *line)
{
    char *text = NULL;
    size_t capacity = 0;
    while (getline(&text, &capacity, input) >= 0) {
        line->number++;
        const char *reason = words_split(text, line->words, MKTRACE_MOST_WORDS, &line->count, NULL);
        if (reason)
            line_fail(line, "%s", reason);
        if (line->count && !builder_directive(builder, line))
            builder_record(builder, line);
    }
    free(text);
    builder_flush(builder, line);
    if (!builder->without_end)
        builder_check(
            argus_writer_end(builder->writer, builder->counters.data, builder->counters.length),
            line);
}

static void builder_deinit(struct builder *builder)
{
    for (size_t i = 0; i < builder->counters.length; i++)
        free((char *)builder->counters.data[i].name);
    vec_deinit(&builder->counters);
    for (size_t cpu = 0; cpu < MKTRACE_MOST_CPUS; cpu++)
        vec_deinit(&builder->records[cpu]);
    argus_writer_destroy(builder->writer);
    close(builder->fd);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: mktrace TEXT TRACE (TEXT - is standard input)\n");
        return 2;
    }
    static struct builder builder = {
        .header = {.os = ARGUS_OS_LINUX,
                   .arch = ARGUS_ARCH_X86_64,
                   .timebase_numer = 1,
                   .timebase_denom = 1,
                   .page_bytes = 4096,
                   .cpu_count = 4,
                   .host = "mktrace"},
    };
    static struct line line;
    bool standard_input = strcmp(argv[1], "-") == 0;
    line.file = argv[1];
    FILE *input = standard_input ? stdin : fopen(argv[1], "r");
    builder.fd = open(argv[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (!input || builder.fd < 0) {
        fprintf(stderr, "mktrace: %s: %s\n", input ? argv[2] : argv[1], strerror(errno));
        return 1;
    }
    build(&builder, input, &line);
    builder_deinit(&builder);
    fclose(input);
    return 0;
}
