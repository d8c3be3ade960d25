/* Walks two runs in parallel, block by block. */
#ifndef ARGUS_STEPS_ALIGN_H
#define ARGUS_STEPS_ALIGN_H

#include "argus/diverge.h"
#include "steps/describe.h"
#include "steps/run.h"

/* Fills `first`, `common_blocks` and `blocks` of the result. */
struct argus_error *align_runs(struct run *const runs[2], struct describer *normal,
                               struct describer *bad, struct argus_divergence *ret);

#endif
