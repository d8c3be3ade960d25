/* The step files of a vertex: those beside its trace that say so. */
#ifndef ARGUS_PLUGIN_STEP_FILES_H
#define ARGUS_PLUGIN_STEP_FILES_H

#include "argus/report.h"
#include "argus/steps.h"
#include "base/vec.h"

struct step_files {
    VEC(struct argus_report_steps) files; /* by path; their texts belong to … */
    VEC(struct argus_steps *) opened;     /* … these */
};

/* Looks through the folder of the trace at `path` for files that end in .steps and are about `vertex` of the trace with that identity.
 * What cannot be read, or is of another one, is passed over. */
struct argus_error *step_files_find(const char *path, uint64_t identity, uint32_t vertex,
                                    struct step_files *ret);
void step_files_deinit(struct step_files *files);

#endif
