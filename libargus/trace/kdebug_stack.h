/* Call stacks in records: kperf writes a header record with the number of frames, then records with
 * four frames each (xnu-11417.121.6 osfmk/kperf/callstack.c:408). Records of other threads, and of
 * interrupts, may come in between, so stacks are assembled by thread. If frames are missing, the
 * incomplete stack is dropped when the next header comes.
 */
#ifndef ARGUS_TRACE_KDEBUG_STACK_H
#define ARGUS_TRACE_KDEBUG_STACK_H

#include "argus/trace.h"
#include "base/idmap.h"
#include "base/vec.h"

#define KDEBUG_ID_KERNEL_FRAMES 0x2502000cu
#define KDEBUG_ID_USER_FRAMES   0x25020010u
#define KDEBUG_ID_KERNEL_STACK  0x25020014u
#define KDEBUG_ID_USER_STACK    0x25020018u

struct kdebug_stack {
    uint64_t frames[ARGUS_STACK_MAX_FRAMES]; /* innermost first */
    uint64_t id;                             /* derived from the frames; never 0 */
    uint32_t count;                          /* frames so far */
    uint32_t wanted;                         /* frames of the complete stack */
    bool kernel;
};

/* Incomplete stacks. A zeroed struct is empty. */
struct kdebug_stacks {
    VEC(struct kdebug_stack) open;
    VEC(uint32_t) spare;    /* indices of unused entries of `open` */
    struct idmap by_thread; /* twice the thread ID, plus 1 for a kernel stack: index into `open` */
    bool no_memory;         /* sticky */
};

/* Takes one record. Returns the stack that it completes, valid until the next call; NULL: none. */
const struct kdebug_stack *kdebug_stacks_feed(struct kdebug_stacks *stacks,
                                              const struct argus_record *record);
void kdebug_stacks_deinit(struct kdebug_stacks *stacks);

#endif
