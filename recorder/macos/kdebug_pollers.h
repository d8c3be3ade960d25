/* Which threads wait as event loops do, and since when they are away from it: for --on-hang, out of kdebug's records.
 *
 * Of a call's end the records do not say which arguments it had, so what counts is decided at its start. A thread is known from
 * its first such call on; what it did before the recording is not known. */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_POLLERS_H
#define ARGUS_RECORDER_MACOS_KDEBUG_POLLERS_H

#include "backend.h"
#include "base/idmap.h"
#include "base/vec.h"
#include "macos/threads_of_kdebug.h"

struct kdebug_poller {
    uint64_t tid, returned_ns, returns;
    bool polling;
};

struct kdebug_pollers {
    VEC(struct kdebug_poller) all;
    struct idmap by_tid;
    uint64_t
        threads_read_ns; /* when the map of threads was last read for a thread that was not in it */
    bool no_memory;      /* sticky: hangs may be missed */
};

void kdebug_pollers_deinit(struct kdebug_pollers *pollers);

/* `record` has its time in ns. */
void kdebug_pollers_note(struct kdebug_pollers *pollers, const struct argus_record *record);

/* Whether one of them is not in `threads`. */
bool kdebug_pollers_lack(const struct kdebug_pollers *pollers,
                         const struct kdebug_threads *threads);

/* Those that are in `threads`, at most `room`; forgets the others when they are many. Returns how many. */
size_t kdebug_pollers_copy(struct kdebug_pollers *pollers, const struct kdebug_threads *threads,
                           struct backend_poller *ret, size_t room);

#endif
