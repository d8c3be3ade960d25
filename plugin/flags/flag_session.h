/* Data flags that LLDB itself watches in its process: the second engine of `argus watchflag`.
 *
 * A hit stops the process, LLDB calls back, and the process continues; that takes about a
 * millisecond. The hits go to a trace file of their own, with the same records and the same clock
 * as the recorder's, so that the file can be joined to a recording (--with FILE). Value and time
 * are those of the stop: the write is done by then. If several threads hit at once, the value may
 * be another thread's.
 *
 * LLDB delivers hits on one thread and runs commands on another, so all functions here lock.
 */
#ifndef ARGUS_PLUGIN_FLAG_SESSION_H
#define ARGUS_PLUGIN_FLAG_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FLAG_SESSION_FRAMES 64
/* hits per second at which the user is warned that watching by LLDB slows the program down */
#define FLAG_SESSION_FAST 200

struct flag_session;

/* What LLDB reports about a hit. */
struct flag_session_hit {
    uint64_t pid;
    uint32_t watch; /* LLDB's number for the watchpoint */
    uint64_t tid;
    uint64_t value;
    uint64_t frames[FLAG_SESSION_FRAMES]; /* innermost first; the first is the pc */
    uint32_t frame_count;
};

/* A flag that is to be watched. */
struct flag_session_wish {
    uint64_t pid, address, value;
    uint32_t watch; /* LLDB's number for the watchpoint */
    uint32_t bytes;
    bool writes_only;
    uint32_t semantics; /* enum argus_flag_semantics */
    const char *label, *process;
};

struct flag_session_row {
    uint64_t pid, address, hits;
    double hits_per_s; /* in the busiest second */
    uint32_t watch, bytes;
    bool writes_only;
    char label[200];
};

struct argus_error *flag_session_create(struct flag_session **ret);
/* Ends the file. NULL is allowed. */
void flag_session_destroy(struct flag_session *flags);

/* Opens the file for a new flag, if none is open yet, and writes the flag to it. BUSY: a file of
 * another name is being written. */
struct argus_error *flag_session_add(struct flag_session *flags,
                                     const struct flag_session_wish *wish, const char *path);
/* Removes a flag; removing the last one ends the file. False: there is no such watchpoint. */
bool flag_session_remove(struct flag_session *flags, uint64_t pid, uint32_t watch);
/* Handles a hit. True at the hit at which the rate is first seen to be too high. */
bool flag_session_on_hit(struct flag_session *flags, const struct flag_session_hit *hit);
/* Ends the file before the flags are removed: later hits are not kept. It does not wait for more
 * than 100 ms for a thread that has the lock, because at exit() that thread may have ended. */
void flag_session_end_file(struct flag_session *flags);
size_t flag_session_rows(struct flag_session *flags, struct flag_session_row *ret, size_t room);
/* The file's path, borrowed, while a flag is watched; else NULL. Writes out everything recorded so
 * far. */
const char *flag_session_path(struct flag_session *flags);

#ifdef __cplusplus
}
#endif
#endif
