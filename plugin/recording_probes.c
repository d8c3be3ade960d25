#include "plugin/recording_probes.h"

#include <stdlib.h>

#include "plugin/paths.h"
#include "plugin/probe_sender.h"

static struct argus_error *read_tables(const struct recorder_options *chosen,
                                       struct probe_table *table)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < RECORDER_PROBE_TABLES && chosen->probe_tables[i] && !error; i++)
        error = probe_table_read(table, chosen->probe_tables[i]);
    return error;
}

struct argus_error *recording_probes_choose(const struct arguments *arguments,
                                            struct recorder_options *ret)
{
    struct probe_table table = {0};
    if (arguments_has(arguments, "no-probes"))
        ret->categories &= ~CATEGORY_BIT(CATEGORY_PROBES);
    for (size_t i = 0; i < RECORDER_PROBE_TABLES; i++)
        ret->probe_tables[i] = arguments_option_at(arguments, "probes", i);
    if (arguments_option_at(arguments, "probes", RECORDER_PROBE_TABLES))
        return argus_error_create(ARGUS_ERROR_USAGE, "more than %d tables of probes",
                                  RECORDER_PROBE_TABLES);
    struct argus_error *error = read_tables(ret, &table);
    probe_table_deinit(&table);
    return error;
}

/* Without our own table there are no probes, and that is said; but a recording without them is better than none. */
static struct argus_error *read_own_table(struct session *session, struct probe_table *table)
{
    char *path = NULL;
    struct argus_error *error = paths_find_probes(&path);
    if (!error)
        error = probe_table_read(table, path);
    free(path);
    if (!error || error->code == ARGUS_ERROR_MEMORY)
        return error;
    session_warn(session, "no callbacks and UI events: %s", error->message);
    argus_error_destroy(error);
    return NULL;
}

struct argus_error *recording_probes_tell(struct session *session, struct recorder_client *client,
                                          const struct recorder_options *chosen)
{
    struct probe_table table = {0};
    size_t probes = 0, files = 0;
    if (!(chosen->categories & CATEGORY_BIT(CATEGORY_PROBES)))
        return NULL;
    struct argus_error *error = read_own_table(session, &table);
    if (!error)
        error = read_tables(chosen, &table);
    if (!error)
        error = probes_send(&table, client, &probes, &files);
    if (!error)
        session_note(session,
                     "listening at %zu places in %zu libraries (argus status: what is missing)",
                     probes, files);
    probe_table_deinit(&table);
    return error;
}
