/* Maps addresses in stacks to functions. A function has one number, whatever its addresses. */
#ifndef ARGUS_CONTEXT_FRAMES_H
#define ARGUS_CONTEXT_FRAMES_H

#include "argus/contexts.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "context/layers.h"

/* The process of an address, the time, and whether that is after the process's last exec: before
 * the exec, the same address is another function. */
struct frame_space {
    uint64_t time_ns;
    uint32_t process;
    bool is_later;
};

/* One address of a function. */
struct frame_origin {
    struct frame_space space;
    uint64_t address; /* 0: not an address of code */
    bool is_return, has_name;
};

struct frames {
    const struct argus_graph *graph; /* borrowed */
    struct argus_symbols *symbols;   /* borrowed */
    /* owned: the keys that identify functions; a key's ID minus 1 is the function's number */
    struct strtab *keys;
    struct strtab *texts; /* owned: names and images */
    VEC(struct argus_context_function) functions;
    VEC(struct frame_origin) origins; /* by function: where it was first seen */
    bool late_names;                  /* frames_show() names functions and counts them */
    struct layers layers;
    struct idmap by_syscall; /* system call → function */
    struct idmap by_address; /* address in a process → function */
    uint32_t made_addresses; /* of code made at run time, without a name */
    bool no_memory;          /* sticky */
};

/* The function that stands for code made at run time, as far as it has no names. */
#define FRAMES_MADE "[code made at run time]"

struct argus_error *frames_init(struct frames *frames, const struct argus_graph *graph,
                                struct argus_symbols *symbols);
void frames_deinit(struct frames *frames);

/* The function at `address`. ARGUS_NONE without memory. */
uint32_t frames_at(struct frames *frames, struct frame_space space, uint64_t address,
                   bool is_return);
/* The function that the direct call before the return address `caller` calls, if it is missing in
 * the stack because the code at `innermost`, in another file, has no frame pointer. ARGUS_NONE:
 * nothing is missing, or it is unknown. */
uint32_t frames_left_out(struct frames *frames, struct frame_space space, uint64_t innermost,
                         uint64_t caller);
/* Whether the code at `address` is a part of its function that this function calls ("load.part.0").
 */
bool frames_is_part(struct frames *frames, struct frame_space space, uint64_t address,
                    bool is_return);
bool frames_is_made(const struct frames *frames, uint32_t function);
/* The function is printed: if it has no name yet, servers are asked for it. */
void frames_show(struct frames *frames, uint32_t function);
uint32_t frames_of_syscall(struct frames *frames, uint32_t number);
/* Pseudo-functions: a program ("[program]"), a wait outside system calls, the missing end of a
 * stack. */
uint32_t frames_named(struct frames *frames, const char *name, const char *image,
                      enum argus_layer layer);

#endif
