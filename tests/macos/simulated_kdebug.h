/* A simulated kernel with the kdebug operations that the macOS backend uses, after xnu's
 * bsd/kern/kdebug.c and kern_ktrace.c. */
#ifndef ARGUS_TESTS_SIMULATED_KDEBUG_H
#define ARGUS_TESTS_SIMULATED_KDEBUG_H

#include "macos/kdebug_layout.h"
#include "macos/kdebug_os.h"

enum { SIM_PID = 500, SIM_CPUS = 2, SIM_RECORDS = 1 << 21, SIM_THREADS = 20000 };

struct simulated_kdebug {
    /* What the test decides: */
    uint32_t numer, denom;
    size_t most_at_once;               /* records of one read; 0: as many as there is room for */
    uint32_t foreign_owner;            /* another process that has kdebug; 0: none */
    int refuse_operation, refuse_with; /* this operation fails with this error number */
    int refuse_after;                  /* … after this many calls */
    const char *refuse_control;        /* the setting that fails with EINVAL */
    uint64_t now_ticks;
    uint64_t arg2; /* of the next records */
    struct kdebug_thread threads[SIM_THREADS];
    size_t thread_count;
    const struct kdebug_region *regions; /* of every process, by address */
    size_t region_count;
    struct kdebug_cache cache;                /* bytes 0: there is none */
    const struct kdebug_cached_image *cached; /* its libraries */
    size_t cached_count;

    /* What the kernel knows: */
    bool set_up, enabled, stopped;
    uint32_t owner;
    size_t capacity;
    uint8_t filter[KDEBUG_FILTER_BYTES];
    bool has_filter;
    int flags;
    uint32_t excluded_pid;
    struct argus_record *ring; /* SIM_RECORDS */
    uint64_t head, tail;
    bool lost;
    bool sampling;             /* kperf */
    uint32_t voucher_contents; /* a setting; the test may set it before */
    uint64_t wait_threshold, timer_period;
    int calls[64];          /* of each operation */
    int illegal;            /* calls that are not allowed in the current state */
    int order[64], ordered; /* the first operations, in their order */
};

struct simulated_kdebug *simulated_kdebug_create(void);
void simulated_kdebug_destroy(struct simulated_kdebug *kernel);
struct kdebug_os simulated_kdebug_os(struct simulated_kdebug *kernel);

/* Emits a record, if kdebug is on and its filter accepts it. */
void simulated_kdebug_emit(struct simulated_kdebug *kernel, uint32_t debugid, uint64_t tid,
                           uint32_t cpu, uint64_t arg1);

#endif
