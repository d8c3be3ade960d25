#include "plugin/steps/steps_shown.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugin/analysis.h"

static bool is_stopped(void *context)
{
    struct session *session = context;
    return session_interrupted(session) || ferror(session->out);
}

struct argus_error *steps_show(struct session *session, struct argus_steps *steps,
                               const struct argus_report_steps_options *options)
{
    struct argus_sink sink = session_sink(session);
    struct argus_report_steps_options own = *options;
    const uint64_t *pcs;
    own.is_stopped = is_stopped;
    own.context = session;
    own.wanted.last_step = UINT32_MAX;
    if (!own.json)
        argus_report_steps_about(&sink, steps);
    if (!own.json)
        argus_sink_printf(&sink, "\n");
    if (!argus_steps_pcs(steps, &pcs))
        return NULL;
    struct argus_error *error = argus_report_steps(&sink, steps, &own);
    return !error && session_interrupted(session) ? session_interrupt_error() : error;
}

/* pread() fails for a FIFO, whose bytes would be gone, and O_NONBLOCK does not wait for its writer.
 */
static bool is_steps_file(const char *path)
{
    char magic[sizeof(ARGUS_STEPS_MAGIC) - 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool is_steps = fd >= 0 && pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
                    memcmp(magic, ARGUS_STEPS_MAGIC, sizeof(magic)) == 0;
    if (fd >= 0)
        close(fd);
    return is_steps;
}

struct argus_error *steps_of_arguments(const struct arguments *arguments, struct argus_steps **ret)
{
    const char *path = arguments_word(arguments, 0);
    *ret = NULL;
    return path && is_steps_file(path) ? argus_steps_open(path, ret) : NULL;
}
