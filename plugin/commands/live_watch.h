/* The variables of polling loops that argus diagnose --live watches, and where they are now. */
#ifndef ARGUS_PLUGIN_LIVE_WATCH_H
#define ARGUS_PLUGIN_LIVE_WATCH_H

#include "argus/diagnose.h"
#include "plugin/session.h"
#include "plugin/steps/loop_variable.h"
#include "recorder/client/client.h"

#define LIVE_WATCHED_MAX 4 /* an x86 processor has so many registers */

struct live_variable {
    struct argus_loop_variable variable; /* its texts but `command` are owned */
    char said[200];   /* its name, or the one under which the loop's steps showed it */
    uint64_t address; /* by the loop's steps; 0: not by them */
    uint32_t number;  /* of the recorder; 0: not watched */
    bool is_written;
};

struct live_watch {
    struct session *session; /* borrowed */
    struct live_variable all[LIVE_WATCHED_MAX];
    uint32_t count;
    struct loop_variables stepped;     /* what the loop that was stepped last reads */
    uint64_t stepped_pid, stepped_tid; /* the thread in that loop; 0: none was stepped */
};

void live_watch_deinit(struct live_watch *watch);

/* Copies the variables of the culprits' loops, as many as fit in. */
struct argus_error *live_watch_keep(struct live_watch *watch,
                                    const struct argus_diagnosis *diagnosis);

/* Fills the request for one of `watch->all`, and `said`. If no name leads to the variable, the
 * thread is stepped, which a remark says, once for all variables of its loop. NOT_FOUND: its place
 * is not known. INTERRUPTED: by Ctrl-C. */
struct argus_error *live_watch_find(struct live_watch *watch, struct live_variable *variable,
                                    struct request_flag *ret);

#endif
