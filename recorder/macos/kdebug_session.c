#include "macos/kdebug_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READ_RECORDS 65536u
#define READ_ROUNDS  64u /* reads in one call: a machine may record faster than this process reads */

static int call(const struct kdebug_session *session, int operation, int value, void *data,
                size_t bytes)
{
    return session->os->kdebug(session->os->context, operation, value, data, &bytes);
}

/* --- who has it --- */

static uint32_t owner_of(const struct kdebug_os *os)
{
    int32_t pid = 0;
    size_t bytes = sizeof(pid);
    if (os->control(os->context, "ktrace.owning_pid", &pid, &bytes, NULL, 0) != 0 || pid < 0)
        return 0;
    return (uint32_t)pid;
}

static struct argus_error *owned_error(const struct kdebug_os *os, const char *what)
{
    char name[64] = "another process";
    uint32_t pid = owner_of(os);
    if (pid == 0)
        return argus_error_create(ARGUS_ERROR_BUSY, "%s: only one tool at a time can trace", what);
    os->process_name(os->context, pid, name, sizeof(name));
    return argus_error_create(ARGUS_ERROR_BUSY,
                              "%s %s (process %u): only one tool at a time can trace, so end that "
                              "one first",
                              what, name, pid);
}

static struct argus_error *failed(const struct kdebug_session *session, int number,
                                  const char *what)
{
    if (number == EBUSY)
        return owned_error(session->os, "kdebug is in use by");
    if (number == EPERM || number == EACCES)
        return argus_error_create(ARGUS_ERROR_PERMISSION, "cannot %s: that needs root", what);
    return argus_error_os(number, "cannot %s", what);
}

/* --- set-up --- */

struct step {
    int operation;
    int value;
    const char *what; /* it does */
};

/* The order is that of Apple's own tools (system_cmds, trace.tproj/trace.c): the kernel refuses
 * another. */
static struct argus_error *set_up(struct kdebug_session *session, size_t records,
                                  const uint8_t *filter)
{
    const struct step steps[] = {
        {KDEBUG_REMOVE, 0, "take kdebug"},
        {KDEBUG_SET_BUFFER, (int)records, "say how many records kdebug keeps"},
        {KDEBUG_SET_UP, 0, "set kdebug up"},
        {KDEBUG_SET_FLAGS, (int)KDEBUG_FLAG_NO_COPROCESSORS, "leave coprocessors out"},
    };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int number = call(session, steps[i].operation, steps[i].value, NULL, 0);
        if (number)
            return failed(session, number, steps[i].what);
        session->owned = true;
    }
    uint8_t bits[KDEBUG_FILTER_BYTES];
    memcpy(bits, filter, sizeof(bits));
    int number = call(session, KDEBUG_SET_FILTER, 0, bits, sizeof(bits));
    return number ? failed(session, number, "choose what kdebug records") : NULL;
}

/* Excludes the recorder from its own trace. Older kernels cannot exclude a process: then it is in
 * the trace. */
static void leave_out_ourselves(const struct kdebug_session *session)
{
    struct kdebug_pid own = {.value1 = session->os->own_pid(session->os->context), .value2 = 1};
    call(session, KDEBUG_EXCLUDE_PID, 0, &own, sizeof(own));
}

struct argus_error *kdebug_session_begin(struct kdebug_session *session, const struct kdebug_os *os,
                                         size_t records, const uint8_t *filter)
{
    *session = (struct kdebug_session){
        .os = os,
        .buffer = malloc(READ_RECORDS * sizeof(*session->buffer)),
        .buffer_records = READ_RECORDS,
    };
    if (!session->buffer)
        return argus_error_memory();
    struct argus_error *error = set_up(session, records, filter);
    if (!error) {
        leave_out_ourselves(session);
        int number = call(session, KDEBUG_ENABLE, 1, NULL, 0);
        session->enabled = number == 0;
        if (number)
            error = failed(session, number, "start kdebug");
    }
    if (error)
        kdebug_session_end(session);
    return error;
}

/* --- reading --- */

static struct argus_error *lost_error(struct kdebug_session *session, int number)
{
    session->owned = session->enabled = false;
    if (number != EBUSY && number != EINVAL && number != EPERM)
        return argus_error_os(number, "cannot read kdebug's records");
    return owned_error(session->os, "kdebug was taken away by");
}

struct argus_error *kdebug_session_read(struct kdebug_session *session, kdebug_visit visit,
                                        void *context)
{
    for (unsigned round = 0; round < READ_ROUNDS && session->owned; round++) {
        size_t count = session->buffer_records * sizeof(*session->buffer);
        int number =
            session->os->kdebug(session->os->context, KDEBUG_READ, 0, session->buffer, &count);
        if (number)
            return lost_error(session, number);
        if (count > session->buffer_records)
            return argus_error_create(ARGUS_ERROR_FORMAT,
                                      "kdebug says that it gave %zu records, and there is room for "
                                      "%zu: this kernel's records have another form",
                                      count, session->buffer_records);
        for (size_t i = 0; i < count; i++)
            visit(context, &session->buffer[i]);
        /* Fewer records than fit do not mean the end: the kernel may have stopped at a chunk. */
        if (count == 0)
            break;
    }
    return NULL;
}

struct argus_error *kdebug_session_check(struct kdebug_session *session)
{
    struct kdebug_info info = {0};
    if (!session->enabled)
        return NULL;
    int number = call(session, KDEBUG_GET_BUFFER, 0, &info, sizeof(info));
    if (number)
        return lost_error(session, number);
    if (info.owner > 0 && (uint32_t)info.owner != session->os->own_pid(session->os->context))
        return lost_error(session, EBUSY);
    if (!info.stopped)
        return NULL;
    session->enabled = false;
    return argus_error_create(ARGUS_ERROR_BUSY,
                              "another program stopped kdebug: the trace ends here");
}

/* --- the end --- */

void kdebug_session_stop(struct kdebug_session *session)
{
    if (session->enabled)
        call(session, KDEBUG_ENABLE, 0, NULL, 0);
    session->enabled = false;
}

void kdebug_session_end(struct kdebug_session *session)
{
    kdebug_session_stop(session);
    if (session->owned)
        call(session, KDEBUG_REMOVE, 0, NULL, 0);
    session->owned = false;
    free(session->buffer);
    session->buffer = NULL;
}

struct argus_error *kdebug_cpu_count(const struct kdebug_os *os, uint32_t *ret)
{
    int32_t count = 0;
    size_t bytes = sizeof(count);
    int number = os->control(os->context, "hw.ncpu", &count, &bytes, NULL, 0);
    if (number)
        return argus_error_os(number, "cannot count the cpus");
    if (count < 1 || count > 1024)
        return argus_error_create(ARGUS_ERROR_FORMAT, "the system says that it has %d cpus", count);
    *ret = (uint32_t)count;
    return NULL;
}
