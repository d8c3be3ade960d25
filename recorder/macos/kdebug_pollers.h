/* Which threads wait as event loops do, and since when they are outside that wait: for --on-hang,
 * from kdebug's records.
 *
 * The record of a call's end lacks its arguments, so a call is classified at its start. A thread is
 * known from its first such call on. */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_POLLERS_H
#define ARGUS_RECORDER_MACOS_KDEBUG_POLLERS_H

#include "base/idmap.h"
#include "base/vec.h"
#include "macos/threads_of_kdebug.h"
#include "server/backend.h"

struct kdebug_poller {
    uint64_t tid, returned_ns, returns;
    bool polling;
};

struct kdebug_pollers {
    VEC(struct kdebug_poller) all;
    struct idmap by_tid;
    /* When the map of threads was last read for a thread that was not in it. */
    uint64_t threads_read_ns;
    bool no_memory; /* sticky: hangs may be missed */
};

void kdebug_pollers_deinit(struct kdebug_pollers *pollers);

/* `record` has its time in ns. */
void kdebug_pollers_note(struct kdebug_pollers *pollers, const struct argus_record *record);

/* Whether a polling thread is missing in `threads`. */
bool kdebug_pollers_lack(const struct kdebug_pollers *pollers,
                         const struct kdebug_threads *threads);

/* Returns the pollers that are in `threads`, at most `room`, and their number. Drops the others if
 * there are many. */
size_t kdebug_pollers_copy(struct kdebug_pollers *pollers, const struct kdebug_threads *threads,
                           struct backend_poller *ret, size_t room);

#endif
