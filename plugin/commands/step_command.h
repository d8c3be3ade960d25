/* Parses the command line of `argus step`: what to step, where to begin, how long, and the output
 * file. */
#ifndef ARGUS_PLUGIN_STEP_COMMAND_H
#define ARGUS_PLUGIN_STEP_COMMAND_H

#include <limits.h>

#include "plugin/steps/step_place.h"
#include "plugin/steps/step_session.h"

/* The parsed command line. */
struct step_command {
    struct session *session;
    const struct arguments *arguments;
    struct analysis analysis; /* with a vertex only */
    struct step_wanted wanted;
    struct step_target target;
    struct step_origin origin;
    char label[340], program[PATH_MAX], path[PATH_MAX];
    bool has_vertex, spins;
    bool debugs; /* in LLDB: steps LLDB's process by LLDB's means */
};

/* Fills in everything after `session` and `arguments`, which have to be set; the rest has to be
 * 0. */
struct argus_error *step_command_prepare(struct step_command *command);

/* Same for --script, which needs only the vertex. */
struct argus_error *step_command_vertex(struct step_command *command);

#endif
