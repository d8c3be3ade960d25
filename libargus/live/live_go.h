/* The goroutines of a living Go program.
 *
 * A Go program runs its goroutines on a few threads. A thread without one to run waits in the
 * scheduler, so the threads do not tell what the program waits for. The runtime has a list of all
 * goroutines (allgs), with the registers of each that is not running.
 *
 * Neither symbols nor debug information are needed: the list is found in the program's data by what
 * it has to contain, and names of functions come from the table that every Go program carries
 * (elf_go.h). */
#ifndef ARGUS_LIVE_GO_H
#define ARGUS_LIVE_GO_H

#include "live/live_wait.h"

/* runtime/runtime2.go; other values are not used here */
enum go_status {
    GO_IDLE,
    GO_RUNNABLE,
    GO_RUNNING,
    GO_SYSCALL,
    GO_WAITING,
    GO_DEAD = 6,
    GO_DEAD_EXTRA = 11, /* Go 1.26: for threads of C */
};

struct goroutine {
    uint64_t address; /* of its structure */
    uint64_t id;
    uint32_t status;        /* enum go_status, or another one */
    uint64_t low, high;     /* of its stack */
    uint64_t sp, pc, frame; /* when it was last left; `frame` is its frame pointer, 0: unknown */
    uint64_t machine;       /* address of the structure of the thread that runs it; 0: none */
};

struct goroutines {
    VEC(struct goroutine) items; /* the first one is the main goroutine */
    uint32_t left_out;           /* of those in the list, because there are so many */
};

/* Reads those of the program that has the function at `code`. Without those that have ended, except
 * the main one. False: they were not found, or memory ran out (live->no_memory). The caller frees
 * with live_go_deinit(), also then. */
bool live_go_read(struct argus_live *live, uint32_t pid, uint64_t code, struct goroutines *ret);
void live_go_deinit(struct goroutines *goroutines);

/* The thread that runs it; ARGUS_LIVE_NONE: none. */
uint32_t live_go_thread(struct argus_live *live, uint32_t process,
                        const struct goroutine *goroutine);

/* The functions of one that does not run, innermost first: return addresses all. */
size_t live_go_stack(struct argus_live *live, uint32_t pid, const struct goroutine *goroutine,
                     uint64_t ret[LIVE_STACK_FRAMES], bool *ret_cut);

/* The descriptor for which a goroutine waits in Go's poller. False: not known. */
bool live_go_descriptor(uint32_t pid, const struct goroutine *goroutine, uint32_t *ret);

/* The address of the channel at which a goroutine waits; of a select with several, that of one. 0:
 * none. */
uint64_t live_go_channel(uint32_t pid, const struct goroutine *goroutine);
/* Whether that address is on its stack. */
bool live_go_refers_to(uint32_t pid, const struct goroutine *goroutine, uint64_t address);

/* --- live_goroutines.c --- */

/* Whether the thread waits in Go's scheduler: it has no goroutine to run. */
bool live_go_is_idle(struct argus_live *live, uint32_t thread);

/* For a thread without a goroutine to run: what the program's main goroutine waits for. Fills
 * `wait`, `candidates` and `ret` as far as they are known; without `follows`, only what the main
 * goroutine does is told, and no candidate. False: another thread, or one that runs the main
 * goroutine by now, whose wait `wait` has then. The caller frees `ret` with live_go_deinit(), also
 * then. */
bool live_go_wait(struct argus_live *live, uint32_t thread, bool follows,
                  struct argus_live_wait *wait, struct live_candidates *candidates,
                  struct goroutines *ret);

/* Sums up the goroutines, without those of Go's runtime itself, by their stacks, which `frames`
 * gets. */
struct live_go_groups {
    VEC(struct argus_live_goroutines) items;
    VEC(struct argus_live_frame) frames;
    uint32_t left_out; /* goroutines that are in no group */
};
void live_go_group(struct argus_live *live, uint32_t process, const struct goroutines *goroutines,
                   struct live_go_groups *ret);

#endif
