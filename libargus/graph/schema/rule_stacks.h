/* Which of a user's rules match a call stack. Stacks repeat, so each stack, and each address in it,
 * is examined only once per process. */
#ifndef ARGUS_GRAPH_RULE_STACKS_H
#define ARGUS_GRAPH_RULE_STACKS_H

#include "argus/schema.h"
#include "argus/symbols.h"
#include "base/idmap.h"
#include "base/vec.h"

/* What a rule that matches stacks applies to. */
enum stack_class {
    STACK_WAKER, /* the meaning of a wake-up from within a function */
    STACK_UNIT,  /* a unit of work is in progress */
    STACK_CLASSES
};

/* Index in the set of the first matching rule of each class, or ARGUS_NONE. */
struct stack_match {
    uint32_t rule[STACK_CLASSES];
    /* the stack reaches the thread's first function, so a function that is not in it did not run */
    bool complete;
    bool gap; /* except that one function may be missing */
};

struct match_entry {
    uint64_t id; /* address, or stack */
    uint32_t process;
    uint32_t next; /* index + 1 of the next entry with the same hash; 0: none */
    struct stack_match match;
};

struct rule_stacks {
    const struct argus_graph *graph;     /* borrowed */
    const struct argus_user_rule *rules; /* borrowed */
    size_t count;
    struct argus_symbols *symbols;   /* owned */
    VEC(struct match_entry) entries; /* of addresses and of stacks */
    struct idmap frame_by_key, stack_by_key;
    bool no_memory;
};

/* `graph` needs its stacks, threads and processes; nothing else of it is used. */
struct argus_error *rule_stacks_init(struct rule_stacks *stacks, const struct argus_graph *graph,
                                     const struct argus_user_rule *rules, size_t count);
void rule_stacks_deinit(struct rule_stacks *stacks);

/* The match of `stack` (index) in `process`. `time_ns` selects the images that were mapped then.
 * After exec, a process has different addresses, or the same code. */
struct stack_match rule_stacks_find(struct rule_stacks *stacks, uint32_t process, uint32_t stack,
                                    uint64_t time_ns);

/* The rule of class STACK_UNIT for the function at `address`; ARGUS_NONE: none. */
uint32_t rule_stacks_unit(struct rule_stacks *stacks, uint32_t process, uint64_t address,
                          uint64_t time_ns);

struct builder;
/* rule_wakeups.c: applies the rules that match stacks to edges with final ends: drops some and
 * makes some weak. */
bool rule_apply_stacks(struct builder *builder, const uint32_t *new_id);

#endif
