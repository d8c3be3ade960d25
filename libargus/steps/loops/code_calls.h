/* Which function an instruction calls, also through a stub of the procedure linkage table. */
#ifndef ARGUS_STEPS_CODE_CALLS_H
#define ARGUS_STEPS_CODE_CALLS_H

#include "event/binary/elf_slots.h"
#include "steps/loops/code_function.h"

#define CODE_ETIMEDOUT 110 /* of Linux: the programs' errno, also if Argus runs elsewhere */

struct code_target {
    const char *name; /* borrowed from the file; NULL: it has none */
    uint64_t address; /* in the same file, if is_here */
    bool is_here;     /* else another file has the function */
};

/* The function at `address` of the same file. Its name is NULL if no function begins there. */
struct code_target code_target_at(const struct code_function *function, uint64_t address);

/* Where the call or jump at `node` leads. False: through a register or a table, so that the code
 * does not tell. */
bool code_call_target(const struct code_function *function, uint32_t node, struct code_target *ret);
/* The same of an instruction of the file, in any function. */
bool code_target_of(const struct code_function *function, const struct instruction *at,
                    struct code_target *ret);
/* The instruction at `address` of the file, in any function. False: there is no code. */
bool code_decode_at(const struct code_function *function, uint64_t address,
                    struct instruction *ret);

/* Functions that only wait, and functions that only tell the time or errno. NULL is none. */
bool code_is_sleep(const char *name);
bool code_is_clock(const char *name);
/* Functions that end the program or the thread. */
bool code_is_end(const char *name);
/* Functions that return memory that other processes may share. */
bool code_is_mapping(const char *name);
/* Functions that take a spin lock. */
bool code_takes_lock(const char *name);
/* Functions that wait for a lock: they never end a loop that tries to take it. */
bool code_waits_for_lock(const char *name);
/* A function that takes a semaphore or a lock if it is free; one that frees it. Both get a pointer
 * to it as their first argument, and its first word changes. */
bool code_tries(const char *name);
bool code_tries_lock(const char *name); /* only a lock, which somebody holds */
bool code_frees(const char *name);
/* Functions whose result depends only on the bytes to which their first two arguments point:
 * strcmp(). */
bool code_compares(const char *name);
/* Functions that wait for a signal of another thread until a time. `*ret`: what they return if that
 * time has passed. */
bool code_times_out(const char *name, int64_t *ret);

/* Whether the call, which `function` or a part of it has, never returns: of abort() and its like.
 */
bool code_fails(const struct code_function *function, const struct instruction *call);
/* Whether the code at `address` only leads to such a call: the program does not mean to go on so.
 * It may lie outside of the function, in its ".cold" part. */
bool code_gives_up(const struct code_function *function, uint64_t address);

#endif
