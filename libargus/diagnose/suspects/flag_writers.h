/* The functions that write the variable for which a loop waits, by the program's code
 * (steps/loops/code_writers.h), and the threads that are recorded to run them. */
#ifndef ARGUS_DIAGNOSE_FLAG_WRITERS_H
#define ARGUS_DIAGNOSE_FLAG_WRITERS_H

#include "diagnose/diagnoser.h"
#include "diagnose/suspects/similar_writers.h"
#include "steps/loops/code_writers.h"

#define LOOP_STACK_FRAMES 16
#define RESET_VALUES_MAX  16

/* Where the loop is: a stack of the thread of `vertex`, whose first `count` frames are known. */
struct loop_stack {
    uint32_t vertex;
    bool is_sample; /* the innermost frame is any instruction; else it is behind a system call */
    struct loop_frame frames[LOOP_STACK_FRAMES];
    uint64_t addresses[LOOP_STACK_FRAMES]; /* the same, in the memory of the process */
    uint32_t count;
    struct similar_starts *similar; /* borrowed; kept between the variables of a loop */
};

/* Puts writers and threads into `ret`; `code` is an instruction of the loop, in the flag's file.
 * None, if the code does not tell. False: no memory; `ret` is then to be freed as usual. */
bool flag_writers_find(struct diagnoser *d, const struct loop_stack *stack,
                       const struct loop_flag *flag, uint64_t code,
                       struct argus_loop_variable *ret);

/* The constants that the waiter itself writes to the variable. */
struct reset_values {
    int64_t all[RESET_VALUES_MAX];
    uint32_t count;
};

/* Whether the loop goes on with what `writer` writes: by the loop's comparisons, else by what the
 * waiter writes. */
bool flag_write_continues(const struct loop_flag *flag, const struct reset_values *resets,
                          const struct code_writer *writer);
/* Takes ownership of the place. False: no memory, or no place. */
bool flag_writer_add(struct argus_loop_variable *variable, const struct argus_flag_writer *writer);

void flag_writers_free(struct argus_loop_variable *variable);

#endif
