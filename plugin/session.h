/* What a command sees of the front end that runs it, the shell's or LLDB's: where it prints, whether the user
 * wants it to stop, how it reports progress, and the trace that is loaded.
 *
 * A command never touches stdin, stdout or stderr itself: inside LLDB they belong to somebody else.
 * A session belongs to one thread.
 */
#ifndef ARGUS_PLUGIN_SESSION_H
#define ARGUS_PLUGIN_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "argus/error.h"
#include "plugin/steps/step_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a front end provides. Every function gets `data`, the front end's own. */
struct session_host {
    void *data;
    /* True once the user has pressed Ctrl-C. Cheap: called in loops. */
    bool (*interrupted)(void *data);
    /* One line beside the result (stderr in the shell), without newline. `level` is a word such as "warning";
     * "" for a plain remark. */
    void (*remark)(void *data, const char *level, const char *text);
    /* Shows that work goes on. `total` 0: unknown. `what` NULL: the work is over, take the line away. */
    void (*progress)(void *data, const char *what, uint64_t done, uint64_t total);
    /* Shows `text` (lines) and `prompt` at the user's terminal at once and reads one line into `ret`, NUL-terminated.
     * False: end of input or Ctrl-C. Called only where can_ask() is true. */
    bool (*read_line)(void *data, const char *text, const char *prompt, char *ret,
                      size_t ret_bytes);
    /* Is there a terminal to ask at, just now? */
    bool (*can_ask)(void *data);
    /* Steps through the process that the debugger has (plugin/steps/step_engine.h); NULL: there is no debugger. */
    step_engine step;
};

/* LLDB's watchpoints (plugin/lldb/watch.cpp); a front end without them has no such table. All but `read` fail with a sentence. */
struct session_watches {
    /* Where a variable is that an expression names, as LLDB understands it in the selected frame; with `image` a symbol of
     * that file. `*ret_bytes` 0: not known. */
    struct argus_error *(*find)(void *data, const char *image, const char *name,
                                uint64_t *ret_address, uint64_t *ret_bytes);
    /* Sets a watchpoint whose hits go to session->flags, and nowhere else. */
    struct argus_error *(*set)(void *data, uint64_t address, uint32_t bytes, bool writes_only,
                               uint32_t *ret_watch);
    void (*unset)(void *data, uint32_t watch);
    /* Memory of the process at hand; false: it is not there. */
    bool (*read)(void *data, uint64_t address, uint32_t bytes, uint64_t *ret);
    /* The process at hand: its id, and its name into `ret_name`. */
    struct argus_error *(*process)(void *data, uint64_t *ret_pid, char *ret_name, size_t room);
};

struct flag_session;  /* plugin/flags/flag_session.h */
struct session_trace; /* plugin/session_trace.h */

struct session {
    FILE *out; /* the result of the command, and nothing else; borrowed */
    struct session_host host;
    const struct session_watches *watches; /* NULL: not in LLDB; their `data` is the host's */
    struct flag_session *flags;            /* watched by LLDB; owned; NULL: none yet */
    struct session_trace *trace;           /* what `argus load` loaded; owned; NULL: nothing */
    struct session_trace *once; /* FILE of the command that runs, unloaded after it; owned */
    unsigned width;             /* columns of the terminal; 0: not a terminal, do not fold lines */
    bool colour;                /* escape sequences are welcome in `out` */
    bool in_lldb;
    const char *host_version; /* of LLDB; NULL in the shell; borrowed */
    int exit_code;            /* of the command that runs; see session_set_exit_code() */
    bool no_ask;   /* of the command that runs: --no-ask, an open question is a failure in LLDB */
    bool no_cache; /* of the command that runs: --no-cache */
    const char *next_answers; /* of `argus answer`, for the walk that it goes on with; borrowed */
    bool damage_seen;         /* the running command used a damaged trace: exit code 4 */
    uint64_t started_ns;      /* when the command began: progress is shown after half a second */
    uint64_t progress_ns;     /* when it was last shown; 0: not shown */
};

/* Prints to session->out. */
void session_printf(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A remark or a warning beside the result; one sentence, no newline. */
void session_note(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void session_warn(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Has the user pressed Ctrl-C? A command that has then stopped returns session_interrupt_error(). */
bool session_interrupted(struct session *session);
struct argus_error *session_interrupt_error(void);

/* Tells how far the work is; shown only once the command has run for half a second. Cheap. `total` 0: unknown. */
void session_progress(struct session *session, const char *what, uint64_t done, uint64_t total);

/* Takes the progress line away, e.g. before a question. */
void session_end_progress(struct session *session);

/* The exit code of a command that succeeds with something else than 0, e.g. that of the program it ran. */
void session_set_exit_code(struct session *session, int code);

/* Makes an empty session; `out` is borrowed and may be replaced before each command. */
void session_init(struct session *session, const struct session_host *host, FILE *out);
/* Unloads the trace. */
void session_deinit(struct session *session);

/* What plugin/dispatch.c does around each command. */
void session_begin(struct session *session);
void session_end(struct session *session);

#ifdef __cplusplus
}
#endif
#endif
