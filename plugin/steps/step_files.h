/* The step files of a vertex: those next to its trace that name the vertex. */
#ifndef ARGUS_PLUGIN_STEP_FILES_H
#define ARGUS_PLUGIN_STEP_FILES_H

#include "argus/report.h"
#include "argus/steps.h"
#include "base/vec.h"

struct step_files {
    VEC(struct argus_report_steps) files; /* sorted by path; their strings belong to `opened` */
    VEC(struct argus_steps *) opened;     /* they own the strings of `files` */
};

/* Searches the folder of the trace at `path` for files that end in .steps and are about `vertex` of
 * the trace with that identity. Files that cannot be read, or belong to another trace, are
 * skipped. */
struct argus_error *step_files_find(const char *path, uint64_t identity, uint32_t vertex,
                                    struct step_files *ret);
void step_files_deinit(struct step_files *files);

#endif
