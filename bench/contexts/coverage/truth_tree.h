/* The true calling contexts of a run, from the files of truth_hooks.c, and how an inferred tree
 * maps to them.
 *
 * Functions are named by the symbols of the trace, as Argus names them, so that both trees are
 * comparable. In both trees functions of the same name (static ones of two files) count as one.
 * Only the program's own functions have hooks: frames of libraries and the kernel between them are
 * skipped.
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
    uint32_t hooked; /* names below this one are of functions with hooks; 0: all so far */
    struct argus_symbols *symbols; /* borrowed */
    uint32_t process;
    const char *program; /* borrowed: the path of the instrumented file */
    bool no_memory;
};

/* A node of an inferred tree, mapped to the true one. */
struct placed {
    uint32_t node; /* the innermost true context on its path */
    bool is_own;   /* it is that context itself, not a library or kernel function inside it */
    bool is_off;   /* a function on its path was never called there */
};

bool truth_tree_init(struct truth_tree *tree, struct argus_symbols *symbols, uint32_t process,
                     const char *program);
void truth_tree_deinit(struct truth_tree *tree);

/* The context of `function`, an address, below `parent`. */
uint32_t truth_tree_enter(struct truth_tree *tree, uint32_t parent, uint64_t time_ns,
                          uint64_t function);

/* Maps all contexts of a trace to the true tree, by node; owned by the caller. NULL without
 * memory. */
struct placed *truth_tree_place(struct truth_tree *tree, const struct argus_contexts *contexts);

/* The innermost context that both have. */
uint32_t truth_tree_common(const struct truth_tree *tree, uint32_t a, uint32_t b);

#endif
