/* Finds the same files and programs in two traces: by their names, and if the base has no file of
 * that name, by the name without numbers. So two versions of a library (libodd.so.1.2 and .1.3), or
 * of a program in other folders, can be compared. */
#ifndef ARGUS_CONTEXT_BUILDS_H
#define ARGUS_CONTEXT_BUILDS_H

#include "argus/contexts.h"
#include "base/vec.h"

struct build_pair {
    const char *here, *there; /* borrowed: paths of files, or names of programs */
    bool is_program;
    bool is_renamed; /* their names differ */
    /* another build: is_renamed, or the build IDs differ. A file without a build ID does not count
     * as different. */
    bool is_other;
};

typedef VEC(struct build_pair) build_pair_vec;

/* Appends a pair for each file and program with functions in both traces. The caller calls
 * vec_deinit(). False: no memory. */
bool builds_pair(const struct argus_contexts *contexts, const struct argus_contexts *base,
                 build_pair_vec *ret);

#endif
