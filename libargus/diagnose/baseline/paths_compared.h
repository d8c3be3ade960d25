/* The expected path beside the actual one: diagnoser_compare_paths() of diagnoser.h. */
#ifndef ARGUS_DIAGNOSE_PATHS_COMPARED_H
#define ARGUS_DIAGNOSE_PATHS_COMPARED_H

#include "argus/diagnose.h"

/* Whether the parts of one role differ by so much of a hang of `hang_ns` that it is worth telling. */
bool path_part_differs(const struct argus_path_part *part, uint64_t hang_ns);

#endif
