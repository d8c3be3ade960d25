/* kdebug from set-up to tear-down: the sequence of system calls, who owns it, and what the kernel
 * lost.
 *
 * Only one process can own kdebug; ktrace keeps track of the owner (xnu bsd/kern/kern_ktrace.c). If
 * another tool owns it, the call fails with EBUSY. A tool that has declared itself a background
 * tool (tailspind) is displaced, and resumes later by itself. The recorder can lose kdebug only to
 * a root process that resets it; that is noticed when the next read fails or the owner has changed.
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

/* Sets kdebug up with room for `records` records in the kernel, and starts it. `filter` has
 * KDEBUG_FILTER_BYTES. BUSY: another process owns it; the message says which. PERMISSION: not root.
 * After an error nothing stays set up. */
struct argus_error *kdebug_session_begin(struct kdebug_session *session, const struct kdebug_os *os,
                                         size_t records, const uint8_t *filter);

typedef void (*kdebug_visit)(void *context, const struct argus_record *record);

/* Passes on all records that the kernel has now, in time order. A KDEBUG_ID_LOST record marks each
 * place where the kernel lost some. BUSY: another process has taken over or stopped kdebug. */
struct argus_error *kdebug_session_read(struct kdebug_session *session, kdebug_visit visit,
                                        void *context);
/* Whether this process still owns kdebug and it is running: cheap enough for once a second. */
struct argus_error *kdebug_session_check(struct kdebug_session *session);

/* Ends the recording; what the kernel has can still be read. */
void kdebug_session_stop(struct kdebug_session *session);
/* Stops and releases kdebug, and frees; also after a failed begin, and may be called twice. */
void kdebug_session_end(struct kdebug_session *session);

/* The number of cpus that have records, without coprocessors. */
struct argus_error *kdebug_cpu_count(const struct kdebug_os *os, uint32_t *ret);

#endif
