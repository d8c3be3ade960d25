/* From stacks to paths of the tree. A stack is looked at once for each process, so that what a moment costs does not depend
 * on how deep its stack is. */
#ifndef ARGUS_CONTEXT_STACK_PATHS_H
#define ARGUS_CONTEXT_STACK_PATHS_H

#include "context/frames.h"
#include "context/tree.h"
#include "event/stacks.h"

/* What a stack lacks, as far as one can see. */
enum path_lack {
    PATH_WHOLE,
    PATH_CUT, /* it says that its outermost frames are not in the trace */
    PATH_ROOTLESS, /* its outermost frame is not where threads begin: code without frame pointers was left out */
};

struct paths {
    struct stacks stacks;
    struct frames frames;
    struct tree tree;
    struct idmap by_stack;  /* process and user stack → node */
    struct idmap by_kernel; /* node and kernel stack → node */
    struct idmap lacking;   /* node → enum path_lack */
};

struct argus_error *paths_init(struct paths *paths, const struct argus_graph *graph,
                               struct argus_symbols *symbols);
void paths_deinit(struct paths *paths);

/* The node where user stack `id` ends. ARGUS_NONE: the stack is not in the trace, or there is no memory. */
uint32_t paths_of_user(struct paths *paths, struct frame_space space, uint64_t id);
/* The node below `node` for a system call; for a pause outside of any, by its name; for the kernel's functions of stack `id`. */
uint32_t paths_of_syscall(struct paths *paths, uint32_t node, uint32_t number);
uint32_t paths_of_pause(struct paths *paths, uint32_t node, const char *name);
uint32_t paths_of_kernel(struct paths *paths, uint32_t node, uint64_t id);

/* Of a node that paths_of_user() returned. */
enum path_lack paths_lack(const struct paths *paths, uint32_t node);
bool paths_no_memory(const struct paths *paths);

#endif
