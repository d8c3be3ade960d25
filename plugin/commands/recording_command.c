#include "plugin/commands/recording_command.h"

#include <stdlib.h>
#include <string.h>

#include "argus/symbols.h"

static struct argus_error *recording_categories(const struct arguments *arguments, uint32_t *bits)
{
    const char *only = arguments_option(arguments, "only");
    const char *without = arguments_option(arguments, "without");
    uint32_t named = 0;
    struct argus_error *error = NULL;
    if (only) {
        error = categories_parse(only, &named);
        *bits &= named | CATEGORY_BIT(CATEGORY_SCHED);
    }
    if (!error && without) {
        error = categories_parse(without, &named);
        *bits &= ~named;
    }
    return error;
}

struct argus_error *recording_options(const struct arguments *arguments,
                                      struct recorder_options *ret)
{
    uint64_t rate_hz = ret->rate_hz;
    struct argus_error *error = arguments_number(arguments, "rate", &rate_hz);
    if (error)
        return error;
    ret->rate_hz = rate_hz > UINT32_MAX ? UINT32_MAX : (uint32_t)rate_hz;
    if (arguments_has(arguments, "no-stacks"))
        ret->categories &= ~CATEGORY_BIT(CATEGORY_STACKS);
    return recording_categories(arguments, &ret->categories);
}

struct argus_error *recording_output_path(const struct arguments *arguments, const char **ret)
{
    *ret = arguments_option(arguments, "output");
    if (*ret && **ret)
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE, "-o FILE is missing: where the trace goes");
}

struct argus_error *recording_warn_notes(struct session *session, struct recorder_client *client)
{
    char *notes;
    struct argus_error *error = recorder_notes(client, &notes);
    if (error)
        return error;
    for (const char *line = notes; *line;) {
        int length = (int)strcspn(line, "\n");
        session_warn(session, "%.*s", length, line);
        line += length;
        line += *line == '\n';
    }
    free(notes);
    return NULL;
}

void recording_finish_file(struct session *session, const char *path,
                           const struct recorder_status *status)
{
    /* without build ids images are still found by path */
    struct argus_error *error = argus_build_ids_append(path);
    if (error)
        session_warn(session, "no build ids were added: %s", error->message);
    argus_error_destroy(error);
    session_note(session, "%s: %llu records, %llu lost, %.3f s, %.2f bytes per record", path,
                 (unsigned long long)status->records, (unsigned long long)status->lost,
                 (double)status->duration_ns / 1e9,
                 status->records ? (double)status->bytes / (double)status->records : 0.0);
    if (status->lost)
        session_warn(session, "%llu records were lost: a larger --buffer keeps them",
                     (unsigned long long)status->lost);
    if (status->stacks_lost)
        session_warn(session, "%llu call stacks were lost",
                     (unsigned long long)status->stacks_lost);
}
