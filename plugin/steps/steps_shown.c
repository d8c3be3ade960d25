#include "plugin/steps/steps_shown.h"

#include <stdio.h>
#include <string.h>

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

struct argus_error *steps_of_arguments(const struct arguments *arguments, struct argus_steps **ret)
{
    const char *path = arguments_word(arguments, 0);
    FILE *file = path ? fopen(path, "rb") : NULL;
    char magic[sizeof(ARGUS_STEPS_MAGIC) - 1];
    bool is_steps = file && fread(magic, sizeof(magic), 1, file) == 1 &&
                    memcmp(magic, ARGUS_STEPS_MAGIC, sizeof(magic)) == 0;
    if (file)
        fclose(file);
    *ret = NULL;
    return is_steps ? argus_steps_open(path, ret) : NULL;
}
