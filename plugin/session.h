/* What a command sees of its front end, the shell or LLDB: where it prints, whether the user
 * interrupts it, how it reports progress, and the loaded trace.
 *
 * A command never uses stdin, stdout or stderr itself: inside LLDB they belong to the host program.
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

/* What a front end provides. Every function gets the front end's own `data`. */
struct session_host {
    void *data;
    /* True once the user has pressed Ctrl-C. Cheap enough for loops. */
    bool (*interrupted)(void *data);
    /* Prints one line apart from the result (to stderr in the shell), without newline. `level` is a
     * word such as "warning"; "" for a plain remark. */
    void (*remark)(void *data, const char *level, const char *text);
    /* Shows progress. `total` 0: unknown. `what` NULL: the work is over, remove the progress
     * line. */
    void (*progress)(void *data, const char *what, uint64_t done, uint64_t total);
    /* Shows `text` (lines) and `prompt` at the user's terminal at once and reads one line into
     * `ret`, NUL-terminated. False: end of input or Ctrl-C. Called only while can_ask() is true. */
    bool (*read_line)(void *data, const char *text, const char *prompt, char *ret,
                      size_t ret_bytes);
    /* Whether there is a terminal at the moment at which a question can be asked. */
    bool (*can_ask)(void *data);
    /* Steps through the debugger's process (plugin/steps/step_engine.h); NULL: there is no
     * debugger. */
    step_engine step;
};

/* LLDB's watchpoints (plugin/lldb/watch.cpp). Front ends without them have no such table. All but
 * `read` return an error with a sentence. */
struct session_watches {
    /* Finds the variable that an expression names, as LLDB evaluates it in the selected frame; with
     * `image`, a symbol of that file. `*ret_bytes` 0: not known. */
    struct argus_error *(*find)(void *data, const char *image, const char *name,
                                uint64_t *ret_address, uint64_t *ret_bytes);
    /* Sets a watchpoint whose hits go only to session->flags. */
    struct argus_error *(*set)(void *data, uint64_t address, uint32_t bytes, bool writes_only,
                               uint32_t *ret_watch);
    void (*unset)(void *data, uint64_t pid, uint32_t watch);
    /* Whether the debugger has this process, and it has not ended. */
    bool (*has_process)(void *data, uint64_t pid);
    /* Reads memory of the selected process; false: not readable. */
    bool (*read)(void *data, uint64_t address, uint32_t bytes, uint64_t *ret);
    /* Returns the selected process's id, and its name in `ret_name`. Error: none, or it runs. */
    struct argus_error *(*process)(void *data, uint64_t *ret_pid, char *ret_name, size_t room);
    /* The selected process's ID, also while it runs; 0: there is none. */
    uint64_t (*selected_pid)(void *data);
};

struct flag_session;  /* plugin/flags/flag_session.h */
struct session_trace; /* plugin/session_trace.h */

struct session {
    FILE *out; /* for the result of the command and nothing else; borrowed */
    struct session_host host;
    const struct session_watches *watches; /* NULL: not in LLDB; called with the host's `data` */
    struct flag_session *flags;            /* the flags that LLDB watches; owned; NULL: none yet */
    struct session_trace *trace;           /* loaded by `argus load`; owned; NULL: none */
    /* FILE of the running command, unloaded after it; owned */
    struct session_trace *once;
    unsigned width; /* columns of the terminal; 0: not a terminal, so lines are not folded */
    bool colour;    /* whether `out` may contain escape sequences */
    bool in_lldb;
    const char *host_version; /* of LLDB; NULL in the shell; borrowed */
    int exit_code;            /* of the running command; see session_set_exit_code() */
    /* the running command has --no-ask: in LLDB, an open question is a failure */
    bool no_ask;
    bool no_cache; /* the running command has --no-cache */
    /* answers given by `argus answer`, for the walk that it continues; borrowed */
    const char *next_answers;
    bool damage_seen; /* the running command used a damaged trace: exit code 4 */
    /* when the command began; progress is shown after half a second */
    uint64_t started_ns;
    uint64_t progress_ns; /* when it was last shown; 0: not shown */
};

/* Prints to session->out. */
void session_printf(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints a remark or a warning apart from the result; one sentence, no newline. */
void session_note(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void session_warn(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the user has pressed Ctrl-C. A command that stops for it returns
 * session_interrupt_error(). */
bool session_interrupted(struct session *session);
struct argus_error *session_interrupt_error(void);

/* Reports progress, which is shown once the command has run for half a second. Cheap. `total` 0:
 * unknown. */
void session_progress(struct session *session, const char *what, uint64_t done, uint64_t total);

/* Removes the progress line, e.g. before a question. */
void session_end_progress(struct session *session);

/* Sets the exit code of a command that succeeds with another code than 0, e.g. that of the program
 * it ran. */
void session_set_exit_code(struct session *session, int code);

/* Initializes an empty session. `out` is borrowed and may be replaced before each command. */
void session_init(struct session *session, const struct session_host *host, FILE *out);
/* Unloads the trace. */
void session_deinit(struct session *session);

/* plugin/dispatch.c calls these before and after each command. */
void session_begin(struct session *session);
void session_end(struct session *session);

#ifdef __cplusplus
}
#endif
#endif
