/* The inside of the macOS backend, for its own files. */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_ANSWERS_H
#define ARGUS_RECORDER_MACOS_KDEBUG_ANSWERS_H

#include "base/idmap.h"
#include "macos/kdebug_pollers.h"
#include "macos/kdebug_session.h"
#include "macos/kdebug_times.h"
#include "macos/threads_of_kdebug.h"
#include "macos/voucher_contents.h"
#include "server/backend.h"
#include "server/record_ring.h"

struct kdebug_backend {
    struct backend base;
    const struct kdebug_os *os; /* borrowed */
    struct kdebug_session session;
    struct record_rings rings;
    struct kdebug_threads threads;
    struct kdebug_pollers pollers;
    uint32_t numer, denom;
    unsigned collections;
    uint64_t lost_places, foreign_cpus;
    struct idmap written; /* processes whose mappings were written */
    struct voucher_contents vouchers;
    bool stacks, detached, watch_polls;
    bool cache_written; /* the images of the shared cache */
};

static inline struct kdebug_backend *kdebug_of_base(const struct backend *base)
{
    return (struct kdebug_backend *)base;
}

static inline uint64_t kdebug_now_ns(const struct kdebug_backend *backend)
{
    return kdebug_ticks_to_ns(backend->os->now_ticks(backend->os->context), backend->numer,
                              backend->denom);
}

/* --- kdebug_answers.c: the read-only functions of backend.h --- */
struct argus_error *kdebug_answer_header(const struct backend *base,
                                         struct argus_trace_header *ret);
uint32_t kdebug_answer_cpus(const struct backend *base);
uint64_t kdebug_answer_ring_bytes(const struct backend *base);
uint64_t kdebug_answer_emitted(const struct backend *base, uint32_t cpu);
size_t kdebug_answer_read(struct backend *base, uint32_t cpu, struct argus_record *records,
                          size_t room, uint64_t *ret_lost);
uint64_t kdebug_answer_unread(const struct backend *base, uint32_t cpu);
size_t kdebug_answer_peek(const struct backend *base, uint32_t cpu, bool oldest,
                          struct argus_record *records, size_t room);
size_t kdebug_answer_read_at(const struct backend *base, uint32_t cpu, uint64_t *next,
                             struct argus_record *records, size_t room, uint64_t *ret_lost);
size_t kdebug_answer_stack(struct backend *base, uint64_t id, uint64_t *frames);
struct argus_error *kdebug_answer_write_threads(struct backend *base, struct argus_writer *writer);
struct argus_error *kdebug_answer_write_images(struct backend *base, struct argus_writer *writer,
                                               bool all);
struct argus_error *kdebug_answer_renew_names(struct backend *base, uint64_t taken_ns,
                                              struct argus_writer *writer);
struct argus_error *kdebug_answer_write_kernel_symbols(struct backend *base, uint64_t *addresses,
                                                       size_t count, struct argus_writer *writer);
struct argus_error *kdebug_answer_pollers(struct backend *base, struct backend_poller *ret,
                                          size_t room, size_t *ret_count);
size_t kdebug_answer_counters(const struct backend *base, struct argus_counter *ret, size_t room);

#endif
