/* kdebug as xnu-11417.121.6 has it: numbers and structures that Apple's public headers lack
 * (bsd/sys/kdebug_private.h, bsd/sys/sysctl.h), restated here. 64-bit kernels only.
 */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_LAYOUT_H
#define ARGUS_RECORDER_MACOS_KDEBUG_LAYOUT_H

#include <assert.h>
#include <stdint.h>

#include "argus/record.h"

/* sysctl {CTL_KERN, KERN_KDEBUG, operation, value}. */
enum { KDEBUG_CTL_KERN = 1, KDEBUG_KERN_KDEBUG = 24 };

enum kdebug_operation {
    KDEBUG_SET_FLAGS = 1,
    KDEBUG_ENABLE = 3,       /* value: 1 or 0 */
    KDEBUG_SET_BUFFER = 4,   /* value: records */
    KDEBUG_GET_BUFFER = 5,   /* out: struct kdebug_info */
    KDEBUG_SET_UP = 6,       /* after SET_BUFFER */
    KDEBUG_REMOVE = 7,       /* also releases ownership */
    KDEBUG_READ = 10,        /* in: bytes of room; out: records */
    KDEBUG_EXCLUDE_PID = 14, /* in: struct kdebug_pid */
    KDEBUG_READ_THREADS = 21,
    KDEBUG_SET_FILTER = 22, /* in: KDEBUG_FILTER_BYTES */
    KDEBUG_CPU_MAP = 25,    /* out: struct kdebug_cpu_head, then struct kdebug_cpu */
};

/* Coprocessors have their own clocks and threads, which are never causes for ours. */
#define KDEBUG_FLAG_NO_COPROCESSORS 0x400u
#define KDEBUG_FILTER_BYTES         8192u /* a bit for each class << 8 | subclass, lowest first */
#define KDEBUG_CHUNK_RECORDS        2048u /* the kernel's unit; each cpu has at least four */
#define KDEBUG_ID_LOST              0x07020008u

struct kdebug_info {
    int32_t records, threads, stopped, flags, owner; /* owner: process id, -1: nobody */
};

struct kdebug_pid {
    uint32_t kind, value1, value2, value3, value4; /* value1: process, value2: 1 on, 0 off */
};

struct kdebug_thread {
    uint64_t tid;
    int32_t pid; /* 1 also for the kernel; 0: no entry */
    char name[20];
};

struct kdebug_cpu_head {
    uint32_t version, count;
};

struct kdebug_cpu {
    uint32_t id, flags; /* flag 1: a coprocessor */
    char name[32];
};

static_assert(sizeof(struct kdebug_info) == 20, "kbufinfo_t");
static_assert(sizeof(struct kdebug_pid) == 20, "kd_regtype");
static_assert(sizeof(struct kdebug_thread) == 32, "kd_threadmap");
static_assert(sizeof(struct kdebug_cpu_head) == 8, "kd_cpumap_header");
static_assert(sizeof(struct kdebug_cpu) == 40, "kd_cpumap_ext");
static_assert(sizeof(struct argus_record) == 64, "kd_buf: read straight into Argus's records");

#endif
