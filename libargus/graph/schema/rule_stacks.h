/* Which of a user's rules fit a call stack. Stacks repeat: each is looked at once for each process, and so is each of its addresses. */
#ifndef ARGUS_GRAPH_RULE_STACKS_H
#define ARGUS_GRAPH_RULE_STACKS_H

#include "argus/schema.h"
#include "argus/symbols.h"
#include "base/idmap.h"
#include "base/vec.h"

/* What rules are about, by stacks. */
enum stack_class {
    STACK_WAKER, /* what a wake-up out of a function means */
    STACK_UNIT,  /* a unit of work is in progress */
    STACK_CLASSES
};

/* Index of the first rule in the set that fits, for each class, or ARGUS_NONE. */
struct stack_match {
    uint32_t rule[STACK_CLASSES];
    bool complete; /* the stack goes out to where its thread began: what is not in it did not run */
    bool gap;      /* but for one function, which it may miss */
};

struct match_entry {
    uint64_t id; /* address, or stack */
    uint32_t process;
    uint32_t next; /* of the same hash, from 1; 0: none */
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

/* `graph` has its stacks, threads and processes; nothing else of it is looked at. */
struct argus_error *rule_stacks_init(struct rule_stacks *stacks, const struct argus_graph *graph,
                                     const struct argus_user_rule *rules, size_t count);
void rule_stacks_deinit(struct rule_stacks *stacks);

/* The match of `stack` (index) of `process`. `time_ns` says which images were mapped; a program that a process ran before another
 * one has other addresses, or the same code. */
struct stack_match rule_stacks_find(struct rule_stacks *stacks, uint32_t process, uint32_t stack,
                                    uint64_t time_ns);

/* The rule of class STACK_UNIT for the function at `address`; ARGUS_NONE. */
uint32_t rule_stacks_unit(struct rule_stacks *stacks, uint32_t process, uint64_t address,
                          uint64_t time_ns);

struct builder;
/* rule_wakeups.c: what a user's rules say by stacks, of edges that have their final ends: some go, some are weak. */
bool rule_apply_stacks(struct builder *builder, const uint32_t *new_id);

#endif
