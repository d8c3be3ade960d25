/* The true calling contexts of a run, out of the files of truth_hooks.c, and how an inferred tree lies on them.
 *
 * Functions are named by the symbols of the trace, as Argus names them, so that both trees can be laid on each other. Functions of
 * one name are one (static ones of two files), on both sides. Only the program's own functions have hooks: frames of libraries
 * and of the kernel in between are passed over.
 */
#ifndef ARGUS_BENCH_TRUTH_TREE_H
#define ARGUS_BENCH_TRUTH_TREE_H

#include "argus/contexts.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "truth_event.h"

/* One true context; 0 is the root, a parent comes before its children. */
struct truth_node {
    uint32_t parent, name, depth;
};

struct truth_tree {
    VEC(struct truth_node) nodes;
    struct idmap by_edge;    /* parent << 32 | name → node */
    struct idmap by_address; /* function → name */
    struct strtab *names;
    uint32_t hooked; /* names up to this one are of functions with hooks; 0: all until now */
    struct argus_symbols *symbols; /* borrowed */
    uint32_t process;
    const char *program; /* borrowed: the path of the instrumented file */
    bool no_memory;
};

/* A node of an inferred tree on the true one. */
struct placed {
    uint32_t node; /* the innermost true context on its way */
    bool is_own;   /* it is that context itself, not what a library or the kernel did in it */
    bool is_off;   /* a function on its way never was called there */
};

bool truth_tree_init(struct truth_tree *tree, struct argus_symbols *symbols, uint32_t process,
                     const char *program);
void truth_tree_deinit(struct truth_tree *tree);

/* The context of `function`, an address, below `parent`. */
uint32_t truth_tree_enter(struct truth_tree *tree, uint32_t parent, uint64_t time_ns,
                          uint64_t function);

/* Where the contexts of a whole trace lie, by their nodes; owned by the caller. NULL without memory. */
struct placed *truth_tree_place(struct truth_tree *tree, const struct argus_contexts *contexts);

/* The innermost context that both have. */
uint32_t truth_tree_common(const struct truth_tree *tree, uint32_t a, uint32_t b);

#endif
