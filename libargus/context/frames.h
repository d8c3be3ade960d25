/* Functions: what addresses of stacks are frames of. One function has one number, whatever its addresses. */
#ifndef ARGUS_CONTEXT_FRAMES_H
#define ARGUS_CONTEXT_FRAMES_H

#include "argus/contexts.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "context/layers.h"

/* The process that an address is of, and when; and whether that is behind its last exec: before it the same addresses are other
 * functions. */
struct frame_space {
    uint64_t time_ns;
    uint32_t process;
    bool is_later;
};

/* One of the addresses of a function. */
struct frame_origin {
    struct frame_space space;
    uint64_t address; /* 0: of no code */
    bool is_return, has_name;
};

struct frames {
    const struct argus_graph *graph; /* borrowed */
    struct argus_symbols *symbols;   /* borrowed */
    struct strtab
        *keys; /* owned: of each function what makes it one; its id less 1 is the number */
    struct strtab *texts; /* owned: names and images */
    VEC(struct argus_context_function) functions;
    VEC(struct frame_origin) origins; /* of functions, where they were seen first */
    bool late_names;                  /* frames_show() names and counts them */
    struct layers layers;
    struct idmap by_syscall; /* system call → function */
    struct idmap by_address; /* address in a process → function */
    bool no_memory;          /* sticky */
};

struct argus_error *frames_init(struct frames *frames, const struct argus_graph *graph,
                                struct argus_symbols *symbols);
void frames_deinit(struct frames *frames);

/* The function at `address`. ARGUS_NONE without memory. */
uint32_t frames_at(struct frames *frames, struct frame_space space, uint64_t address,
                   bool is_return);
/* The function that the direct call before the return address `caller` calls, when it is not in the stack because the code at
 * `innermost`, of another file, has no frame pointer; ARGUS_NONE: it is there, or not known. */
uint32_t frames_left_out(struct frames *frames, struct frame_space space, uint64_t innermost,
                         uint64_t caller);
/* The function is printed: names it with what servers know, if it has no name yet. */
void frames_show(struct frames *frames, uint32_t function);
uint32_t frames_of_syscall(struct frames *frames, uint32_t number);
/* What is no code: a program ("[program]"), a wait outside of system calls, a stack's missing end. */
uint32_t frames_named(struct frames *frames, const char *name, const char *image,
                      enum argus_layer layer);

#endif
