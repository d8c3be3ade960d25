/* kdebug from set-up to tear-down: the sequence of system calls, who owns it, and what the kernel lost.
 *
 * Only one process can have kdebug. Which one does, ktrace keeps (xnu bsd/kern/kern_ktrace.c): another tool's is EBUSY; a tool that
 * said that it works in the background (tailspind) is pushed out by us, and comes back by itself. We can lose it as well, to nobody
 * but a process of root that resets it; that is found when the next read fails, or the owner is another.
 */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_SESSION_H
#define ARGUS_RECORDER_MACOS_KDEBUG_SESSION_H

#include "argus/error.h"
#include "macos/kdebug_layout.h"
#include "macos/kdebug_os.h"

struct kdebug_session {
    const struct kdebug_os *os;
    struct argus_record *buffer; /* of one read; owned */
    size_t buffer_records;
    bool owned, enabled;
};

/* Sets kdebug up with room for `records` records in the kernel, and starts it. `filter` has KDEBUG_FILTER_BYTES. BUSY: another process
 * has it, and the message says which. PERMISSION: not root. After an error nothing is left set up. */
struct argus_error *kdebug_session_begin(struct kdebug_session *session, const struct kdebug_os *os,
                                         size_t records, const uint8_t *filter);

typedef void (*kdebug_visit)(void *context, const struct argus_record *record);

/* Tells all records that the kernel has now, in order of time. Records of the form KDEBUG_ID_LOST stand where the kernel lost some.
 * BUSY: somebody else has taken kdebug, or stopped it. */
struct argus_error *kdebug_session_read(struct kdebug_session *session, kdebug_visit visit,
                                        void *context);
/* Whether it is still ours and running: cheap enough for once a second. */
struct argus_error *kdebug_session_check(struct kdebug_session *session);

/* Ends the recording; what the kernel has can still be read. */
void kdebug_session_stop(struct kdebug_session *session);
/* Gives kdebug up, stopping it first, and frees; also after a failed begin, and twice. */
void kdebug_session_end(struct kdebug_session *session);

/* The number of cpus that have records, without coprocessors. */
struct argus_error *kdebug_cpu_count(const struct kdebug_os *os, uint32_t *ret);

#endif
