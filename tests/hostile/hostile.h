/* Makes traces that a stranger could send: small, well-formed, every checksum right, and as expensive
 * to read as a file of that size can be. hostile.py runs every command on them. */
#ifndef ARGUS_TESTS_HOSTILE_H
#define ARGUS_TESTS_HOSTILE_H

#include <stdbool.h>
#include <stdint.h>

#include "argus/trace.h"

enum { HOSTILE_CPUS = 4, HOSTILE_BATCH = 1 << 15 };

struct hostile {
    struct argus_writer *writer;
    uint64_t most_bytes, most_records; /* of the file; the reader refuses more records */
    uint64_t records, entries;
    uint64_t now; /* in ticks; each record advances it by `step` */
    uint64_t step;
    uint64_t random;
    struct argus_record *batch[HOSTILE_CPUS]; /* owned */
    uint32_t count[HOSTILE_CPUS];
};

/* Whether the file may grow on. Every shape is a loop that asks. */
bool hostile_room(struct hostile *hostile);
/* Adds a record at the present time. */
void hostile_put(struct hostile *hostile, uint32_t cpu, uint64_t tid, uint32_t debugid,
                 const uint64_t arg[4]);
#define PUT(cpu, tid, debugid, ...)                                                                \
    hostile_put(hostile, cpu, tid, debugid, (const uint64_t[4]){__VA_ARGS__})
/* The next number of a fixed pseudo-random sequence. */
uint64_t hostile_random(struct hostile *hostile);
/* Ends the program if a call of the writer failed. */
void hostile_check(struct argus_error *error);
void hostile_thread(struct hostile *hostile, uint64_t tid, uint64_t pid, const char *name);
/* `tid` begins to wait in system call `nr` at `cpu`, and leaves the cpu. */
void hostile_wait(struct hostile *hostile, uint32_t cpu, uint64_t tid, uint32_t nr);
/* `waker` on `waker_cpu` wakes `tid`, which returns from system call `nr` on `cpu`. */
void hostile_wake(struct hostile *hostile, uint32_t waker_cpu, uint64_t waker, uint32_t cpu,
                  uint64_t tid, uint32_t nr);

/* x86-64 system calls. */
enum { READ = 0, WRITE = 1, POLL = 7, NANOSLEEP = 35, FUTEX = 202 };

struct hostile_shape {
    const char *name;
    void (*make)(struct hostile *hostile);
    bool darwin;
};

#define SHAPE(name, function) void function(struct hostile *hostile);
#include "shapes.def"
#undef SHAPE

#endif
