/* A perf_event breakpoint on each thread of a process, present and future. */
#ifndef ARGUS_RECORDER_LINUX_FLAG_THREADS_H
#define ARGUS_RECORDER_LINUX_FLAG_THREADS_H

#include "argus/error.h"
#include "base/vec.h"
#include "protocol.h"

struct bpf_program;
struct bpf_link;

struct watched_thread {
    uint32_t tid;
    struct bpf_link *link;
};

struct flag_threads {
    VEC(struct watched_thread) threads;
};

/* Watches `wanted` (its pid, bytes, access) at `address`; each hit runs `program`. USAGE: no debug
 * register is free, or the processor cannot watch it; NOT_FOUND: no such process. On an error some
 * threads may be watched already: call flag_threads_deinit(). */
struct argus_error *flag_threads_attach(struct flag_threads *threads, struct bpf_program *program,
                                        const struct request_flag *wanted, uint64_t address);
/* Ends the watching. */
void flag_threads_deinit(struct flag_threads *threads);

#endif
