/* Makes records from samples of perf_event, with the same IDs and meanings as those of the BPF
 * programs (bpf/), as far as the sample has the data. perf_rows.c has the table of tracepoints;
 * this header has what all handlers share.
 */
#ifndef ARGUS_RECORDER_LINUX_PERF_TRANSLATE_H
#define ARGUS_RECORDER_LINUX_PERF_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/record.h"
#include "base/idmap.h"
#include "category.h"
#include "linux/perf/event_format.h"
#include "linux/perf/perf_events.h"
#include "linux/perf/seen_threads.h"
#include "linux/perf/stack_table.h"
#include "linux/shared.h"
#include "server/record_ring.h"

#define PERF_FIELD_LIMIT 8

struct translator {
    struct event_field common_pid, common_flags; /* of every tracepoint */
    struct record_rings *rings;                  /* the output; borrowed, as the next two */
    struct stack_table *stacks;
    struct seen_threads *threads;
    uint32_t own_pid;
    uint64_t own_timer_function; /* of the timer behind CPU samples; 0: unknown */
    struct idmap own_timers;
    uint64_t long_syscalls[BPF_SYSCALL_WORDS];
    uint16_t compat_calls[BPF_SYSCALLS]; /* as in struct bpf_settings */
    uint64_t tick_ns;                    /* of the timer wheel */
    uint64_t compat_skipped, stacks_not_taken;
};

/* A sample, and the positions of its tracepoint's fields. */
struct translation {
    struct translator *translator;
    const struct perf_sample *sample;
    const struct event_field *fields; /* as the row lists them */
    uint32_t tid;                     /* the current thread */
    uint8_t flags;                    /* common_flags */
};

struct perf_row_options {
    bool required;
    bool wants_bits; /* whether to tell 32-bit programs */
    /* The stack to take if stacks are wanted. Then samples that pass `filter` have it, and those
     * that pass `filter_rest` (all others) do not. */
    enum perf_chain chain;
    const char *filter; /* without filter_rest: samples that do not pass are not recorded */
    const char *filter_rest;
};

struct perf_row {
    const char *system, *name; /* in tracefs; NULL: the cpu clock */
    enum category category;
    const char *lost_without; /* as in programs.c */
    void (*translate)(const struct translation *now);
    const char *fields[PERF_FIELD_LIMIT]; /* a leading '?': may be missing */
    struct perf_row_options options;
};

extern const struct perf_row perf_rows[];
extern const size_t perf_row_count;

/* The value of the row's field at `index`. */
uint64_t translation_number(const struct translation *now, unsigned index);
/* The same for a text; `*ret_length` without a NUL. */
const char *translation_text(const struct translation *now, unsigned index, size_t *ret_length);

/* Writes a record of the current thread. */
void translation_emit(const struct translation *now, uint32_t debugid, uint64_t arg1, uint64_t arg2,
                      uint64_t arg3, uint64_t arg4);
/* A name of `length` bytes. */
void translation_emit_name(const struct translation *now, uint32_t tid, uint32_t debugid,
                           const char *name, size_t length);

/* The context of the sample: enum argus_context. */
uint32_t translation_context(const struct translation *now);
/* Whether the current thread is the recorder itself. */
bool translation_is_own(const struct translation *now);

struct stack_ids {
    uint64_t user, kernel; /* 0: none */
    bool is_user_thread;
};
/* Stores the stacks that came with the sample. */
struct stack_ids translation_stacks(const struct translation *now);

#endif
