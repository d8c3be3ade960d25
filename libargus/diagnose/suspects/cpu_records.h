/* What the records tell of a stretch in which a thread wanted a cpu: who ran on the cpus meanwhile, and what held it back. */
#ifndef ARGUS_DIAGNOSE_CPU_RECORDS_H
#define ARGUS_DIAGNOSE_CPU_RECORDS_H

#include "base/idmap.h"
#include "diagnose/diagnoser.h"

/* Linux's priorities, as in records; lower runs first. Not of records: a thread whose priority was never seen. */
#define CPU_PRIORITY_NONE  INT32_MIN
#define CPU_PRIORITY_NICE0 120
#define CPU_PRIORITY_USUAL 100 /* below it: real-time */

/* A thread that ran in the window. */
struct cpu_user {
    uint64_t tid;
    uint64_t ran_ns;    /* on any cpu */
    uint64_t in_way_ns; /* on cpus that the one who waited may use, while it wanted one */
    uint64_t group;     /* control group whose quota held it back as well; 0: none was seen */
    int32_t priority;
};

struct cpu_want {
    uint64_t runnable_ns;
    uint64_t
        throttled_ns; /* of these, since its control group had used up its quota when it left */
    /* Of the others, in which something unknown held it back: with its own cpu idle; so long that fair scheduling would have let
     * it run, since one that has no higher priority ran there for long. */
    uint64_t idle_ns, unfair_ns;
    uint64_t cpus;                       /* as in ARGUS_ID_CPU_LIMITS; 0: all, or not known */
    uint64_t group, quota_ns, period_ns; /* group 0: none was seen */
    char group_name[33];                 /* "": not known */
    int32_t priority;
    uint32_t seen_cpu;   /* one that it waited for */
    uint32_t seen_count; /* how many different ones */
    VEC(struct cpu_user) users;
};

/* Reads the records of `window` about `thread`. `*ret` is to be freed also after an error. Of a trace of Darwin, and of one without
 * context switches, it stays empty (runnable_ns 0). */
struct argus_error *cpu_want_read(const struct diagnoser *d, uint32_t thread, struct window window,
                                  struct cpu_want *ret);
void cpu_want_deinit(struct cpu_want *want);

#endif
