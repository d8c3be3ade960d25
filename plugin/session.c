#include "plugin/session.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/shown.h"
#include "plugin/flags/flag_session.h"
#include "plugin/session_trace.h"

enum {
    PROGRESS_AFTER_NS = 500 * 1000 * 1000,
    PROGRESS_EVERY_NS = 100 * 1000 * 1000,
    REMARK_BYTES = 4096,
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void session_init(struct session *session, const struct session_host *host, FILE *out)
{
    memset(session, 0, sizeof(*session));
    session->host = *host;
    session->out = out;
}

void session_deinit(struct session *session)
{
    session_trace_destroy(session->once);
    session_trace_destroy(session->trace);
    flag_session_destroy(session->flags);
    session->flags = NULL;
    session->once = session->trace = NULL;
}

void session_begin(struct session *session)
{
    session->exit_code = 0;
    session->damage_seen = false;
    session->no_ask = false;
    session->no_cache = false;
    session->started_ns = now_ns();
    session->progress_ns = 0;
    session_trace_forget_shown(session->trace);
}

void session_end(struct session *session)
{
    session_end_progress(session);
    session_trace_note_fetched(session, session->once ? session->once : session->trace);
    session_trace_destroy(session->once);
    session->once = NULL;
}

void session_printf(struct session *session, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(session->out, format, list);
    va_end(list);
}

static void remark(struct session *session, const char *level, const char *format, va_list list)
{
    char text[REMARK_BYTES];
    vsnprintf(text, sizeof(text), format, list);
    char *line = shown_line(text);
    if (session->out)
        fflush(session->out); /* both can go to one place */
    session->host.remark(session->host.data, level, line ? line : "out of memory");
    free(line);
}

void session_note(struct session *session, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    remark(session, "", format, list);
    va_end(list);
}

void session_warn(struct session *session, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    remark(session, "warning", format, list);
    va_end(list);
}

bool session_interrupted(struct session *session)
{
    return session->host.interrupted(session->host.data);
}

struct argus_error *session_interrupt_error(void)
{
    return argus_error_create(ARGUS_ERROR_INTERRUPTED, "stopped by Ctrl-C");
}

void session_progress(struct session *session, const char *what, uint64_t done, uint64_t total)
{
    uint64_t now = now_ns();
    if (now - session->started_ns < PROGRESS_AFTER_NS)
        return;
    if (session->progress_ns && now - session->progress_ns < PROGRESS_EVERY_NS)
        return;
    session->progress_ns = now;
    session->host.progress(session->host.data, what, done, total);
}

void session_set_exit_code(struct session *session, int code)
{
    session->exit_code = code;
}

void session_end_progress(struct session *session)
{
    if (session->progress_ns)
        session->host.progress(session->host.data, NULL, 0, 0);
    session->progress_ns = 0;
}
