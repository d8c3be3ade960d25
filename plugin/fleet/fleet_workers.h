/* Analyses many files at once, each in a process of its own: a file that ends the analysis, or
 * takes more memory than a file of its size may, ends only its own process. */
#ifndef ARGUS_PLUGIN_FLEET_WORKERS_H
#define ARGUS_PLUGIN_FLEET_WORKERS_H

#include <jansson.h>

#include "plugin/command.h"
#include "plugin/fleet/fleet_files.h"

struct fleet_result {
    const struct fleet_path *file; /* borrowed */
    json_t *rows;                  /* of its hangs; borrowed; NULL: `why` says why not */
    const char *why;               /* borrowed */
    bool is_other;                 /* the file is no trace of a known format */
};

struct fleet_work {
    struct session *session;
    const struct arguments *arguments;
    const struct fleet_path *const *files;
    size_t count;
    unsigned jobs; /* at once */
    /* Called for each file, in the order in which they are done; ends with its first error. */
    struct argus_error *(*take)(void *context, const struct fleet_result *result);
    void *context;
};

/* Must be called without other threads. Errors: those of `take`, Ctrl-C, no process. */
struct argus_error *fleet_workers_run(const struct fleet_work *work);

#endif
