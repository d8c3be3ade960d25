/* Maps stacks to paths of the tree. Each stack is processed once per process, so the cost of a
 * moment does not depend on the depth of its stack: it is one lookup by the stack's ID. */
#ifndef ARGUS_CONTEXT_STACK_PATHS_H
#define ARGUS_CONTEXT_STACK_PATHS_H

#include "context/frames.h"
#include "context/inlined.h"
#include "context/tree.h"
#include "event/stacks.h"

/* What is missing in a stack, as far as that is visible. */
enum path_lack {
    PATH_WHOLE,
    /* its outermost frame is not a function at which threads begin: code without frame pointers was
     * skipped */
    PATH_ROOTLESS,
    PATH_CUT, /* it is marked as cut off: its outermost frames are not in the trace */
};

/* A recorded user stack in one process. */
struct user_path {
    uint32_t node; /* where it ends */
    uint32_t call; /* the last system call made from here; ARGUS_NONE */
    uint32_t call_node;
    uint32_t space;  /* key of the process, and of the time before or after its last exec */
    bool is_grafted; /* cut off, and grafted onto another path in one thread (cut_stacks.h) */
    uint8_t lack;    /* enum path_lack; if cut off, plus an enum argus_frame_end */
};

struct paths {
    struct stacks stacks;
    struct frames frames;
    struct inlined inlined;
    struct tree tree;
    VEC(struct user_path) users;
    struct idmap by_space;  /* key of a process → node of its program */
    struct idmap by_id;     /* stack id → a user path of it */
    struct idmap by_stack;  /* process and user stack → user path */
    struct idmap by_kernel; /* node and kernel stack → node */
};

struct argus_error *paths_init(struct paths *paths, const struct argus_graph *graph,
                               struct argus_symbols *symbols);
void paths_deinit(struct paths *paths);

/* Index of the user path of stack `id`. ARGUS_NONE: the stack is not in the trace, or memory ran
 * out. */
uint32_t paths_of_user(struct paths *paths, struct frame_space space, uint64_t id);
/* The node of a process's program before or after its last exec; 0: no stack of the process was
 * used. A program of which all stacks are from before the exec gets a node. If all are from after
 * it, what was before belongs to the same node. */
uint32_t paths_program(struct paths *paths, uint32_t process, bool is_later);
/* The node below `node` for a function; ARGUS_NONE: there is no `node` or function, or no
 * memory. */
uint32_t paths_below(struct paths *paths, uint32_t node, uint32_t function);
/* The node below user path `user` for a system call. */
uint32_t paths_of_syscall(struct paths *paths, uint32_t user, uint32_t number);
/* The node below `node` for a wait outside system calls, by its name; for the kernel functions of
 * stack `id`. */
uint32_t paths_of_pause(struct paths *paths, uint32_t node, const char *name);
uint32_t paths_of_kernel(struct paths *paths, uint32_t node, uint64_t id);

bool paths_no_memory(const struct paths *paths);

#endif
