/* Call stacks of sleeping threads of processes that run, without stopping them.
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
#include "base/vec.h"
#include "event/unwind/cfi.h"

enum { LIVE_STACK_FRAMES = 128 };

/* An executable mapping. */
struct live_mapping {
    uint64_t start, end, offset, inode;
    uint32_t pid;
    uint32_t file;         /* index in `files`; ARGUS_LIVE_NONE: not opened, or no file */
    bool is_opened;        /* it was tried */
    uint32_t path;         /* string */
    unsigned major, minor; /* of its device */
    bool is_left_out;      /* its file system may not answer */
};

struct live_elf {
    struct elf_file *elf; /* owned */
    struct cfi cfi;
    uint64_t inode;
    uint32_t path;
};

/* Mappings and files that were needed so far. All zero is empty. */
struct live_stacks {
    VEC(struct live_mapping) mappings; /* those of a process are neighbours, by address */
    VEC(uint32_t) pids;                /* whose mappings were read */
    VEC(struct live_elf *) files;      /* owned */
};

struct unwind_processor;

void live_stacks_deinit(struct live_stacks *stacks);

/* The frames of a thread, innermost first: their addresses. `*ret_cut`: there are more. */
size_t live_stack(struct argus_live *live, uint32_t thread, uint64_t ret[LIVE_STACK_FRAMES],
                  bool *ret_cut);

/* A running thread at one moment: its registers (event/unwind/unwind_processor.h numbers them), and
 * a copy of the innermost part of its stack. What the copy lacks is read from the process. */
struct live_moment {
    uint64_t registers[CFI_REGISTERS];
    uint64_t known; /* a bit for each register */
    uint64_t stack_address;
    const uint8_t *stack; /* borrowed; NULL: no copy */
    size_t stack_bytes;
    bool is_in_kernel;
};

/* The processor of this machine. */
const struct unwind_processor *live_own_processor(void);

/* The frames at this moment. */
size_t live_stack_at(struct argus_live *live, uint32_t pid, const struct live_moment *moment,
                     uint64_t ret[LIVE_STACK_FRAMES], bool *ret_cut);

/* Names the function at an address of a process. */
void live_stack_name(struct argus_live *live, uint32_t pid, uint64_t address, bool is_return,
                     struct argus_live_frame *ret);

typedef bool live_function_test(const char *function, const void *context);

/* Whether one of the `most` innermost functions of a thread is wanted. */
bool live_stack_has(struct argus_live *live, uint32_t thread, size_t most,
                    live_function_test *is_wanted, const void *context);

/* --- live_images.c, for live_unwind.c --- */

/* The mapping of an address; NULL: none that is executable. */
const struct live_mapping *live_mapping(struct argus_live *live, uint32_t pid, uint64_t address);
/* Its file, and the address in it; NULL: it cannot be opened. */
struct live_elf *live_elf(struct argus_live *live, uint32_t pid, uint64_t address,
                          uint64_t *ret_in_file);
/* The file of the process's mapping number `index` (of those with code of a file), and what has to
 * be added to its addresses. `ret_bias` may be NULL. NULL: there are no more. */
struct live_elf *live_elf_at(struct argus_live *live, uint32_t pid, size_t index,
                             uint64_t *ret_bias);

#endif
