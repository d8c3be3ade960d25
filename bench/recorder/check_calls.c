/* check_calls FILE: which calls of call_loops a trace lacks between the first and the last that it has of each thread, and
 * how many records it says were lost. Prints {"threads", "calls", "missing", "records", "lost", "span_s"}. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "argus/trace.h"
#include "call_mark.h"

#define THREADS_MAX 256

struct last {
    uint64_t tid, count;
};

struct check {
    struct last last[THREADS_MAX];
    size_t threads;
    uint64_t calls, missing;
};

static struct last *last_of(struct check *check, uint64_t tid)
{
    for (size_t i = 0; i < check->threads; i++) {
        if (check->last[i].tid == tid)
            return &check->last[i];
    }
    if (check->threads == THREADS_MAX)
        return NULL;
    check->last[check->threads] = (struct last){.tid = tid};
    return &check->last[check->threads++];
}

static void check_record(struct check *check, const struct argus_record *record)
{
    if (record->debugid != (ARGUS_ID_SYSCALL(SYS_getppid) | ARGUS_FUNC_START) ||
        record->arg[1] != CALL_MARK)
        return;
    struct last *last = last_of(check, record->tid);
    if (!last)
        return;
    check->calls++;
    if (last->count)
        check->missing += record->arg[0] - last->count - 1;
    last->count = record->arg[0];
}

static struct argus_error *check_trace(const struct argus_trace *trace, struct check *check)
{
    const struct argus_chunk *chunks;
    size_t count = argus_trace_chunks(trace, &chunks);
    struct argus_record *records = malloc(ARGUS_CHUNK_MAX_RECORDS * sizeof(*records));
    struct argus_error *error = records ? NULL : argus_error_memory();
    for (size_t i = 0; !error && i < count; i++) {
        error = argus_trace_read_chunk(trace, &chunks[i], records);
        for (uint32_t r = 0; !error && r < chunks[i].count; r++)
            check_record(check, &records[r]);
    }
    free(records);
    return error;
}

static void print(const struct argus_trace *trace, const struct check *check)
{
    uint64_t start_ns, end_ns;
    argus_trace_time_range(trace, &start_ns, &end_ns);
    printf(
        "{\"threads\": %zu, \"calls\": %llu, \"missing\": %llu, \"records\": %llu, \"lost\": %llu, "
        "\"span_s\": %.6f}\n",
        check->threads, (unsigned long long)check->calls, (unsigned long long)check->missing,
        (unsigned long long)argus_trace_record_count(trace),
        (unsigned long long)argus_trace_lost_count(trace), (double)(end_ns - start_ns) / 1e9);
}

int main(int argc, char **argv)
{
    static struct check check;
    struct argus_trace *trace = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: check_calls FILE\n");
        return 2;
    }
    struct argus_error *error = argus_trace_open(argv[1], &trace);
    if (!error)
        error = check_trace(trace, &check);
    if (error)
        fprintf(stderr, "check_calls: %s\n", error->message);
    else
        print(trace, &check);
    argus_trace_close(trace);
    return error ? 1 : 0;
}
