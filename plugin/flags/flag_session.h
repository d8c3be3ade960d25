/* Data flags that are watched by LLDB itself, in the process at hand: the second engine of `argus watchflag`.
 *
 * A hit stops the process, LLDB calls back, and it goes on: about a millisecond. What is kept of a hit goes into a trace file of
 * its own, with the same records as the recorder's and in the same clock, so that it can be put beside a recording (--with
 * FILE). The value and the time are those of the stop: the write is done by then, and when several threads hit
 * at once, nobody knows whose value it is.
 *
 * Hits come on a thread of LLDB's, commands on another: whatever is here locks.
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
#define FLAG_SESSION_FAST   200 /* hits a second: from there on LLDB is a burden */

struct flag_session;

/* What LLDB tells of a hit. */
struct flag_session_hit {
    uint32_t watch; /* LLDB's number of the watchpoint */
    uint64_t tid;
    uint64_t value;
    uint64_t frames[FLAG_SESSION_FRAMES]; /* innermost first; the first is the pc */
    uint32_t frame_count;
};

/* A flag as it is asked for. */
struct flag_session_wish {
    uint64_t pid, address, value;
    uint32_t watch; /* LLDB's number */
    uint32_t bytes;
    bool writes_only;
    uint32_t semantics; /* enum argus_flag_semantics */
    const char *label, *process;
};

struct flag_session_row {
    uint64_t pid, address, hits;
    double hits_per_s; /* at the busiest */
    uint32_t watch, bytes;
    bool writes_only;
    char label[200];
};

struct argus_error *flag_session_create(struct flag_session **ret);
/* Ends the file; NULL is fine. */
void flag_session_destroy(struct flag_session *flags);

/* Opens the file for a new flag, if none is open yet, and notes the flag in it. BUSY: one of another name is being written. */
struct argus_error *flag_session_add(struct flag_session *flags,
                                     const struct flag_session_wish *wish, const char *path);
/* False: it knows no such watchpoint. Flags that are left: the file is ended with the last one. */
bool flag_session_remove(struct flag_session *flags, uint32_t watch);
/* True at the hit by which the rate was first seen to be too high. */
bool flag_session_on_hit(struct flag_session *flags, const struct flag_session_hit *hit);
size_t flag_session_rows(struct flag_session *flags, struct flag_session_row *ret, size_t room);
/* Its path, borrowed, while a flag is watched; NULL else. Everything up to now is written. */
const char *flag_session_path(struct flag_session *flags);

#ifdef __cplusplus
}
#endif
#endif
