/* The vertices that `argus contexts --hang` and `--culprit` analyse: those that the diagnosis
 * names. */
#ifndef ARGUS_PLUGIN_HANG_CONTEXTS_H
#define ARGUS_PLUGIN_HANG_CONTEXTS_H

#include "plugin/analysis.h"

#define HANG_CONTEXTS_OPTIONS                                                                      \
    {"hang", 0, "N", "take the spinning vertex of hang N, with its baseline as the base"},         \
        {"culprit", 0, NULL, "take its culprit instead (without --hang: of the first hang)"},      \
    {                                                                                              \
        "threshold", 't', "DURATION", "for these two: count as a hang what lasts this long (2s)"   \
    }

struct hang_contexts {
    uint32_t vertex;
    uint32_t base_vertex; /* in the same trace; ARGUS_NONE: none was found */
    char base_name[16];   /* "v378"; "" if there is none */
};

/* Whether one of the options was given. */
bool hang_contexts_wanted(const struct arguments *arguments);

/* Diagnoses the hang with the default answers, and returns the vertices that the diagnosis
 * names. */
struct argus_error *hang_contexts_find(const struct analysis *analysis, struct hang_contexts *ret);

#endif
