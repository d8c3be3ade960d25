/* With which values of a variable a loop ends: the comparisons with constants that decide its
 * exits (x86-64). */
#ifndef ARGUS_STEPS_LOOP_TESTS_H
#define ARGUS_STEPS_LOOP_TESTS_H

#include "steps/loops/code_loops.h"
#include "steps/loops/code_slice.h"

#define LOOP_TESTS_MAX    4
#define LOOP_NO_CONDITION 16

/* cmp or test of the variable, and a conditional jump out of the loop. */
struct loop_test {
    int64_t operand;
    bool tests_bits;   /* test: and, instead of a difference */
    bool is_own;       /* test eax, eax: the operand is the value itself */
    bool ends_if;      /* the loop ends if the condition holds; else if it does not */
    uint8_t condition; /* as x86 encodes it: 4 is "equal" */
};

struct loop_tests {
    struct loop_test all[LOOP_TESTS_MAX];
    uint32_t count; /* 0: not all is known that the variable decides */
    uint32_t size_bytes;
};

enum loop_end {
    LOOP_END_UNKNOWN,
    LOOP_ENDS, /* as far as this variable decides it */
    LOOP_CONTINUES,
};

/* `slice` has what slices of this loop need; its result is not used. */
void loop_tests_find(const struct code_slice *slice, const struct code_scope *scope,
                     const struct code_loop *loop, const struct code_path *variable,
                     struct loop_tests *ret);

/* What the loop does when the variable has this value. */
enum loop_end loop_tests_decide(const struct loop_tests *tests, int64_t value);

/* The condition of the conditional jump at `node`; LOOP_NO_CONDITION: it is none of x86-64. */
uint8_t loop_condition_of(const struct code_function *function, uint32_t node);

/* Whether the test's condition holds for a value of so many bytes. False: not known. */
bool loop_test_holds(const struct loop_test *test, uint32_t bytes, int64_t value, bool *ret);

#endif
