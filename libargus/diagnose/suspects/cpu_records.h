/* What the records show of a stretch in which a thread was runnable: which threads ran on the CPUs
 * meanwhile, and what held the thread back. */
#ifndef ARGUS_DIAGNOSE_CPU_RECORDS_H
#define ARGUS_DIAGNOSE_CPU_RECORDS_H

#include "base/idmap.h"
#include "diagnose/diagnoser.h"

/* Linux's priorities, as in records; lower runs first. ARGUS_PRIORITY_NONE, which is in no record:
 * a thread whose priority was never seen. */
#define ARGUS_PRIORITY_NONE  INT32_MIN
#define ARGUS_PRIORITY_NICE0 120
#define ARGUS_PRIORITY_USUAL 100 /* lower: real-time */

/* A thread that ran in the window. */
struct cpu_user {
    uint64_t tid;
    uint64_t ran_ns;    /* on any CPU */
    uint64_t in_way_ns; /* on CPUs that the runnable thread may use, while it was runnable */
    uint64_t group;     /* the control group whose quota held it back as well; 0: none was seen */
    int32_t priority;
};

struct cpu_want {
    uint64_t runnable_ns;
    /* Of these, time for which its control group's quota was used up when it left the CPU. */
    uint64_t throttled_ns;
    /* Of the rest, time in which something unknown held it back: while its CPU was idle; or for so
     * long that fair scheduling would have let it run, since a thread without a higher priority ran
     * there for long. */
    uint64_t idle_ns, unfair_ns;
    uint64_t cpus;                       /* as in ARGUS_ID_CPU_LIMITS; 0: all, or not known */
    uint64_t group, quota_ns, period_ns; /* group 0: none was seen */
    char group_name[33];                 /* "": not known */
    int32_t priority;
    uint32_t seen_cpu;   /* one of the CPUs in whose run queue it was */
    uint32_t seen_count; /* the number of these CPUs */
    bool seen_before;    /* none of these is known: seen_cpu is where it ran before */
    VEC(struct cpu_user) users;
};

/* Reads the records of `window` about `thread`. `*ret` must be freed also after an error. For a
 * trace of Darwin, or one without context switches, it stays empty (runnable_ns 0). */
struct argus_error *cpu_want_read(const struct diagnoser *d, uint32_t thread, struct window window,
                                  struct cpu_want *ret);
void cpu_want_deinit(struct cpu_want *want);

#endif
