/* The command line of `argus step`, taken apart: whom to step, where to begin, how long, into which file. */
#ifndef ARGUS_PLUGIN_STEP_COMMAND_H
#define ARGUS_PLUGIN_STEP_COMMAND_H

#include <limits.h>

#include "plugin/steps/step_place.h"
#include "plugin/steps/step_session.h"

/* What the command line says, taken apart. */
struct step_command {
    struct session *session;
    const struct arguments *arguments;
    struct analysis analysis; /* with a vertex */
    struct step_wanted wanted;
    struct step_target target;
    struct step_origin origin;
    char label[340], program[PATH_MAX], path[PATH_MAX];
    bool has_vertex, spins;
    bool debugs; /* in LLDB: its process, by its own means */
};

/* Fills in everything below `session` and `arguments`, which are set; the rest is 0. */
struct argus_error *step_command_prepare(struct step_command *command);

/* The same for --script: only the vertex. */
struct argus_error *step_command_vertex(struct step_command *command);

#endif
