#include "plugin/probes/recording_probes.h"

#include <stdlib.h>

#include "plugin/paths.h"
#include "plugin/probes/hook_names.h"
#include "plugin/probes/probe_sender.h"
#include "plugin/probes/rule_files.h"
#include "plugin/probes/rule_probes.h"

static struct argus_error *read_tables(const struct recorder_options *chosen,
                                       struct probe_table *table)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < RECORDER_PROBE_TABLES && chosen->probe_tables[i] && !error; i++)
        error = probe_table_read(table, chosen->probe_tables[i]);
    return error;
}

static size_t count_rule_files(const struct recorder_options *chosen)
{
    size_t count = 0;
    while (count < RECORDER_PROBE_TABLES && chosen->rule_files[count])
        count++;
    return count;
}

static struct argus_error *read_rules(struct session *session,
                                      const struct recorder_options *chosen,
                                      struct argus_rule_set **ret)
{
    size_t count = count_rule_files(chosen);
    return count ? rule_files_read(session, chosen->rule_files, count, ret)
                 : rule_files_read_kept(session, NULL, ret);
}

/* Selects the rules files, and reports mistakes in them before anything is recorded. */
static struct argus_error *choose_rules(struct session *session, const struct arguments *arguments,
                                        struct recorder_options *ret)
{
    struct argus_rule_set *set = NULL;
    struct argus_error *error = rule_files_of(session, arguments, &set);
    argus_rule_set_destroy(set);
    for (size_t i = 0; i < RECORDER_PROBE_TABLES; i++)
        ret->rule_files[i] = arguments_option_at(arguments, "rules", i);
    return error;
}

struct argus_error *recording_probes_choose(struct session *session,
                                            const struct arguments *arguments,
                                            struct recorder_options *ret)
{
    struct probe_table table = {0};
    if (arguments_has(arguments, "no-probes"))
        ret->categories &= ~CATEGORY_BIT(CATEGORY_PROBES);
    for (size_t i = 0; i < RECORDER_PROBE_TABLES; i++)
        ret->probe_tables[i] = arguments_option_at(arguments, "probes", i);
    for (size_t i = 0; i < RECORDER_PROBE_TABLES; i++)
        ret->hook_libraries[i] = arguments_option_at(arguments, "hooks", i);
    if (arguments_option_at(arguments, "probes", RECORDER_PROBE_TABLES) ||
        arguments_option_at(arguments, "hooks", RECORDER_PROBE_TABLES))
        return argus_error_create(ARGUS_ERROR_USAGE, "more than %d tables of probes or hooks",
                                  RECORDER_PROBE_TABLES);
    struct argus_error *error = read_tables(ret, &table);
    probe_table_deinit(&table);
    return error ? error : choose_rules(session, arguments, ret);
}

/* Lets the recorder drop our own table's probes where they are hit too often. UI events are exempt,
 * because they show that there was input. */
static void spare_own_rows(struct probe_table *table)
{
    static const bool needed[ARGUS_PROBE_SHAPES] = {
        [ARGUS_PROBE_END] = true, [ARGUS_PROBE_UI] = true};
    for (size_t i = 0; i < table->rows.length; i++) {
        struct probe_spec *spec = &table->rows.data[i].spec;
        if (!needed[spec->shape])
            spec->flags |= PROBE_SPARABLE;
    }
}

/* Without our own table there are no probes. A recording without them is better than none; a
 * warning and the trace say so. */
static struct argus_error *read_own_table(struct session *session, struct recorder_client *client,
                                          struct probe_table *table)
{
    char *path = NULL;
    struct argus_error *error = paths_find_probes(&path);
    if (!error)
        error = probe_table_read(table, path);
    if (!error)
        spare_own_rows(table);
    free(path);
    if (!error || error->code == ARGUS_ERROR_MEMORY)
        return error;
    session_warn(session, "no callbacks and UI events: %s", error->message);
    argus_error_destroy(error);
    return recorder_probe_absent(client, "the table of probes cannot be read");
}

static struct argus_error *add_rules(struct session *session, const struct recorder_options *chosen,
                                     struct probe_table *table)
{
    struct argus_rule_set *set = NULL;
    size_t unplaced = 0;
    struct argus_error *error = read_rules(session, chosen, &set);
    if (error)
        return error;
    char *program = chosen->program ? rule_probes_program(chosen->program) : NULL;
    error = rule_probes_add(table, set, program, &unplaced);
    if (!error && unplaced)
        session_warn(session,
                     "%zu rule%s without \"in LIBRARY\": where to listen is known only of the "
                     "program that argus record starts",
                     unplaced, unplaced == 1 ? "" : "s");
    free(program);
    argus_rule_set_destroy(set);
    return error;
}

/* Warns of missing probes that the user named. Our own table lists many that no single machine
 * has. */
static void warn_of_missing(struct session *session, const struct probe_table *table)
{
    for (size_t i = 0; i < table->rows.length; i++) {
        const struct probe_row *row = &table->rows.data[i];
        if (row->symbol.is_pattern && !row->found)
            session_warn(session, "rules: there is no function %s in %s, or no such file",
                         row->text, row->library);
    }
}

struct argus_error *recording_probes_send(struct session *session, struct recorder_client *client,
                                          const struct recorder_options *chosen)
{
    struct probe_table table = {0};
    size_t probes = 0, files = 0;
    if (!(chosen->categories & CATEGORY_BIT(CATEGORY_PROBES)))
        return NULL;
    struct argus_error *error = read_own_table(session, client, &table);
    if (!error)
        error = read_tables(chosen, &table);
    if (!error)
        error = add_rules(session, chosen, &table);
    if (!error)
        error = probes_send(&table, client, &probes, &files);
    for (size_t i = 0; i < RECORDER_PROBE_TABLES && chosen->hook_libraries[i] && !error; i++)
        error = hook_names_send(client, chosen->hook_libraries[i]);
    if (!error)
        session_note(session,
                     "listening at %zu places in %zu libraries (argus status: what is missing)",
                     probes, files);
    if (!error)
        warn_of_missing(session, &table);
    probe_table_deinit(&table);
    return error;
}
