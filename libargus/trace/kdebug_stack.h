/* Call stacks in records: kperf writes one as a head that says how many frames there are, and then four frames a record
 * (xnu-11417.121.6 osfmk/kperf/callstack.c:408). Records of other threads, and interrupts of the same, may lie in between,
 * so stacks are put together by thread. A head whose frames do not all come is forgotten with the next one.
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
    uint64_t id;                             /* by its frames; never 0 */
    uint32_t count;                          /* how many there are so far */
    uint32_t wanted;                         /* how many there will be */
    bool kernel;
};

/* Stacks that are not complete. A zeroed struct is empty. */
struct kdebug_stacks {
    VEC(struct kdebug_stack) open;
    VEC(uint32_t) spare;    /* those of `open` that nobody has */
    struct idmap by_thread; /* twice the thread id, plus 1 for the kernel's: index of `open` */
    bool no_memory;         /* sticky */
};

/* One record. The stack that is complete with it, valid until the next call; NULL: none. */
const struct kdebug_stack *kdebug_stacks_feed(struct kdebug_stacks *stacks,
                                              const struct argus_record *record);
void kdebug_stacks_deinit(struct kdebug_stacks *stacks);

#endif
