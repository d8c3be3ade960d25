/* mktrace: text in, trace out (README.md in this folder says what the text looks like). */
#ifndef ARGUS_TESTS_MKTRACE_H
#define ARGUS_TESTS_MKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/trace.h"
#include "base/vec.h"

enum { MKTRACE_MOST_CPUS = 256, MKTRACE_MOST_WORDS = 256 };

/* One line, cut into words. A word in double quotes may have spaces in it. */
struct line {
    const char *file;
    unsigned number;
    char *words[MKTRACE_MOST_WORDS];
    size_t count;
};

/* Prints "file:line: …" and ends the program with 1: a wrong fixture must not become a trace. */
void line_fail(const struct line *line, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* A number (decimal, 0x…, negative) or one of the names in mktrace_values.c. */
uint64_t line_number(const struct line *line, const char *word);

/* Nanoseconds: 1000, 1000ns, 2.5us, 3ms, 1.5s. */
uint64_t line_time(const struct line *line, const char *word);

/* The number after a prefix: line_suffix(line, "cpu3", "cpu") is 3. */
uint64_t line_suffix(const struct line *line, const char *word, const char *prefix);

struct builder {
    int fd;
    struct argus_trace_header header;
    struct argus_writer *writer; /* NULL until the first line that is not about the header */
    VEC(struct argus_record) records[MKTRACE_MOST_CPUS]; /* of the current chunks */
    uint64_t lost[MKTRACE_MOST_CPUS];
    VEC(struct argus_counter) counters;
    uint64_t now_ticks; /* time of the last record line */
    bool ended, without_end;
};

/* Handles a line that is not a record; false if its first word is unknown. */
bool builder_directive(struct builder *builder, const struct line *line);

/* A record line: TIME cpuN tTID NAME [argument=value …]. */
void builder_record(struct builder *builder, const struct line *line);

/* Writes the current records as one chunk for each CPU. */
void builder_flush(struct builder *builder, const struct line *line);

/* The writer, created at the first call. */
struct argus_writer *builder_writer(struct builder *builder, const struct line *line);

/* Ends the program unless `error` is NULL. */
void builder_check(struct argus_error *error, const struct line *line);

/* Fills debugid and arguments of `record` from the words of `line` from index 3 (the name) on. */
void tracepoint_parse(const struct line *line, struct argus_record *record);

#endif
