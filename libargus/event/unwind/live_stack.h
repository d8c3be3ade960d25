/* The call stack of a stopped thread: from its registers and a copy of its stack, with the unwind
 * information of the files that its process has mapped now (libdwfl). */
#ifndef ARGUS_EVENT_LIVE_STACK_H
#define ARGUS_EVENT_LIVE_STACK_H

#include <stddef.h>
#include <stdint.h>

struct live_stack {
    uint32_t pid, tid;
    const uint64_t *registers; /* DWARF's order: 17 on x86_64, 33 on aarch64, the last one the pc */
    uint64_t address;          /* of the first byte of … */
    const uint8_t *bytes;      /* … the copy */
    size_t length;
};

struct live_frame {
    uint64_t pc;       /* a return address, except in frame 0 */
    uint64_t function; /* start of the function; 0: unknown */
};

/* The frames, innermost first, at most `room`. 0: the process's files are not accessible. */
size_t live_stack_unwind(const struct live_stack *stack, struct live_frame *ret, size_t room);

#endif
