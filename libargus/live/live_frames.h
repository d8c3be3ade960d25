/* Call stacks of sleeping threads of processes that run, without stopping them. What follows is
 * Linux's way; macOS tells the registers of threads that wait (macos/mac_stack.c).
 *
 * /proc/PID/task/TID/syscall tells only the stack pointer and the pc. Call frame information needs
 * no more as long as functions address their frames by the stack pointer. A function that uses a
 * frame pointer needs that register, which no interface tells without a stop. It is searched on the
 * stack: above the stack pointer, a word below a return address. Stale words look alike, so a
 * candidate counts only if
 *   - the code before the return address is a call, and a direct call is of this very function, and
 *   - unwinding from there reaches the outermost function of the thread.
 * Otherwise the stack ends there, and says so.
 */
#ifndef ARGUS_LIVE_FRAMES_H
#define ARGUS_LIVE_FRAMES_H

#include "argus/live.h"

enum { LIVE_STACK_FRAMES = 128, LIVE_REGISTERS = 33 };

struct argus_live;

/* The frames of a thread, innermost first: their addresses. `*ret_cut`: there are more. */
size_t live_stack(struct argus_live *live, uint32_t thread, uint64_t ret[LIVE_STACK_FRAMES],
                  bool *ret_cut);

/* A running thread at one moment: its registers, and a copy of the innermost part of its stack.
 * What the copy lacks is read from the process. The registers' numbers are those of
 * event/unwind/unwind_processor.h; on macOS, those of macos/mac_stack.c. */
struct live_moment {
    uint64_t registers[LIVE_REGISTERS];
    uint64_t known; /* a bit for each register */
    uint64_t stack_address;
    const uint8_t *stack; /* borrowed; NULL: no copy */
    size_t stack_bytes;
    bool is_in_kernel;
};

/* The frames at this moment. */
size_t live_stack_at(struct argus_live *live, uint32_t pid, const struct live_moment *moment,
                     uint64_t ret[LIVE_STACK_FRAMES], bool *ret_cut);

/* Names the function at an address of a process. */
void live_stack_name(struct argus_live *live, uint32_t pid, uint64_t address, bool is_return,
                     struct argus_live_frame *ret);

/* Where the function with this return address begins; the address itself if nothing tells. */
uint64_t live_code_start(struct argus_live *live, uint32_t pid, uint64_t address);

/* The readable name of a function (live_stack_names.c). */
uint32_t live_function_text(struct argus_live *live, const char *symbol);

typedef bool live_function_test(const char *function, const void *context);

/* Whether one of the `most` innermost functions of a thread is wanted. */
bool live_stack_has(struct argus_live *live, uint32_t thread, size_t most,
                    live_function_test *is_wanted, const void *context);

#endif
