/* The place where stepping begins, from the user's words or from a vertex's stack. It is a place in
 * a file, because a new process maps the file at other addresses (position-independent programs,
 * libraries) and the file may have no symbols. */
#ifndef ARGUS_PLUGIN_STEP_PLACE_H
#define ARGUS_PLUGIN_STEP_PLACE_H

#include "plugin/analysis.h"
#include "recorder/client/step_client.h"

/* The process to step: a running one, or a program that is to be started. */
struct step_target {
    uint32_t pid;        /* 0: … */
    const char *program; /* … this file; borrowed */
};

/* Libraries that are stepped over by default. */
extern const char step_default_skip[];

/* Parses "FUNCTION", "IMAGE:FUNCTION", "IMAGE+OFFSET", or an address. Errors name similar
 * functions. */
struct argus_error *step_place_parse(const char *text, const struct step_target *target,
                                     struct step_place *ret);

/* Fills in the length of the function at the place, if its file tells. */
void step_place_measure(struct step_place *place);

/* The place that a vertex's stack gives. */
struct step_origin {
    struct step_place place; /* the function to begin at */
    /* return address of the call into the library in which the vertex waited; offset 0: not
     * known */
    struct step_place wait;
    char label[300]; /* of the function: "wait_until_done in editor", "editor+0x1270" */
    char comm[16];   /* of the thread; "": the main thread */
    bool spins;      /* a thread that is already in the function is as good as one that enters it */
    /* the stack has no frame of the application: the place is the end of the library's wait */
    bool in_library;
    bool stale; /* the file is not the recorded one */
    /* frames that were passed over, and the innermost of them: "std::this_thread::sleep_for<…> in
     * editor" */
    uint32_t passed;
    char passed_label[300];
    bool is_beginning_unknown; /* … because it is not known where its function begins */
};

/* `frame`: index among the application's own frames, innermost first. `climbs`: take its caller
 * instead of a function of the language's library, or if it is not known where the function begins.
 * `skip`, `into`: select which frames are its own. */
struct argus_error *step_origin_find(const struct analysis *analysis, uint32_t vertex,
                                     uint64_t frame, bool climbs, const char *skip,
                                     const char *into, struct step_origin *ret);

#endif
