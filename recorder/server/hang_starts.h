/* Programs that took long to open their first window, for which the user waits. Whether a program only
 * had much to do, the analysis has to tell: these hangs are doubtful. */
#ifndef ARGUS_RECORDER_HANG_STARTS_H
#define ARGUS_RECORDER_HANG_STARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "server/hang_watch.h"

typedef VEC(struct reply_hang) hang_reports;

/* A process whose main thread polls. */
struct hang_start {
    uint64_t started_ns;
    uint64_t window_ns; /* the look that first found a window; 0: none yet */
    uint32_t pid;
    bool seen; /* by the current look */
    bool done; /* nothing is to be reported any more */
};

struct hang_starts {
    uint64_t began_ns; /* the first look; earlier programs are ignored */
    VEC(struct hang_start) list;
};

/* What to report. */
struct hang_start_wish {
    uint64_t threshold_ns;
    const char *name;  /* of the process; "": every process */
    uint32_t left_out; /* this process is ignored; 0: none */
};

/* As hang_watch_look(); appends to `ret`. */
bool hang_starts_look(struct hang_starts *starts, const struct hang_start_wish *wish,
                      const struct hang_system *system, const struct backend_poller *pollers,
                      size_t count, uint64_t now_ns, hang_reports *ret);
void hang_starts_deinit(struct hang_starts *starts);

#endif
