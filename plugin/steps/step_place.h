/* Where stepping is to begin: what a user wrote, or what a vertex's stack says, as a place in a file that a new process has mapped
 * somewhere else (position-independent programs, libraries) and that may have no symbols. */
#ifndef ARGUS_PLUGIN_STEP_PLACE_H
#define ARGUS_PLUGIN_STEP_PLACE_H

#include "plugin/analysis.h"
#include "recorder/step_client.h"

/* The process that is to be stepped: one that runs, or a program that is about to. */
struct step_target {
    uint32_t pid;        /* 0: … */
    const char *program; /* … this file; borrowed */
};

/* Library code that is stepped over unless the user says otherwise. */
extern const char step_default_skip[];

/* "FUNCTION", "IMAGE:FUNCTION", "IMAGE+OFFSET", an address. The errors name what comes close. */
struct argus_error *step_place_parse(const char *text, const struct step_target *target,
                                     struct step_place *ret);

/* Fills in how long the function at the place is, as far as its file says so. */
void step_place_measure(struct step_place *place);

/* What a vertex's stack says. */
struct step_origin {
    struct step_place place; /* the function to begin at */
    struct step_place
        wait; /* where the call into the library returns, in whose wait the vertex ended; offset 0: not known */
    char label[300]; /* of the function: "wait_until_done in editor", "editor+0x1270" */
    char comm[16];   /* of the thread; "": the main thread */
    bool spins;      /* a thread that is in the function already is as good as one that comes */
    bool
        in_library; /* nothing of the application is in the stack: the place is where the library's wait ends */
    bool stale; /* the file is not the one that was recorded */
};

/* `frame`: of the application's own frames, innermost first. `skip`, `into`: which are not its own. */
struct argus_error *step_origin_find(const struct analysis *analysis, uint32_t vertex,
                                     uint64_t frame, const char *skip, const char *into,
                                     struct step_origin *ret);

#endif
