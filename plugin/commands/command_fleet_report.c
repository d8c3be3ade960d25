/* `argus fleet report`: one page about the kinds of hangs, each with its examples. */
#include <string.h>

#include "plugin/fleet/fleet_kind.h"
#include "plugin/fleet/fleet_page.h"
#include "plugin/fleet/fleet_place.h"
#include "plugin/output_file.h"
#include "report/json.h"

static const struct command_option options[] = {
    {"output", 'o', "FILE", "write the page to FILE"},
    FLEET_OPTION_DATABASE,
    FLEET_OPTIONS_FILTER,
    {"kinds", 0, "N", "show the N most frequent kinds [20]"},
    {"limit", 'n', "N", "list at most N lines of each table, 0: all [20]"},
    COMMAND_OPTIONS_END,
};

enum { USUAL_LIMIT = 20, USUAL_KINDS = 20, MOST_KINDS = 500, MOST_LINES = 1 << 30 };

struct fleet_report {
    struct session *session;
    struct fleet_database *database;
    struct fleet_filter filter;
    uint64_t kinds, limit;   /* at most this many */
    json_t *totals, *groups; /* owned */
    size_t all;
};

static struct argus_error *get_options(const struct arguments *arguments,
                                       struct fleet_report *report)
{
    report->kinds = USUAL_KINDS;
    report->limit = USUAL_LIMIT;
    struct argus_error *error = arguments_expect(arguments, 0, 1);
    if (!error && !arguments_option(arguments, "output"))
        error = argus_error_create(ARGUS_ERROR_USAGE,
                                   "fleet report: -o FILE is missing: where to write the page");
    if (!error)
        error = arguments_number(arguments, "limit", &report->limit);
    if (!error)
        error = arguments_number(arguments, "kinds", &report->kinds);
    if (!error && report->limit > MOST_LINES)
        report->limit = 0;
    if (!error && (!report->kinds || report->kinds > MOST_KINDS))
        error = argus_error_create(ARGUS_ERROR_USAGE, "--kinds takes a number from 1 to %d",
                                   MOST_KINDS);
    return error ? error : fleet_place_filter(arguments, &report->filter);
}

/* All that is known about the kind of filter->signature. */
static struct argus_error *add_kind(struct fleet_report *report, const struct fleet_filter *filter)
{
    json_t *group = json_object();
    struct argus_error *error = session_interrupted(report->session)
                                    ? session_interrupt_error()
                                    : fleet_kind_get(report->database, filter,
                                                     report->limit ? report->limit + 1 : 0, group);
    if (!error && !json_is_whole(group))
        error = argus_error_memory();
    if (!json_add(report->groups, group) && !error)
        error = argus_error_memory();
    return error;
}

/* Each kind by its whole signature: that of another kind may begin with it. */
static struct argus_error *add_kinds(struct fleet_report *report)
{
    struct fleet_filter filter = report->filter;
    json_t *kinds = NULL;
    struct argus_error *error =
        fleet_view_get(report->database, FLEET_VIEW_KINDS, &report->filter, NULL, 0, &kinds);
    report->all = json_array_size(kinds);
    size_t count = report->all < report->kinds ? report->all : (size_t)report->kinds;
    filter.is_exact = true;
    for (size_t i = 0; !error && i < count; i++) {
        session_progress(report->session, "asking the database", i, count);
        filter.signature =
            json_string_value(json_object_get(json_array_get(kinds, i), "signature"));
        error = filter.signature ? add_kind(report, &filter)
                                 : argus_error_create(ARGUS_ERROR_FORMAT,
                                                      "a signature in the database is no text");
    }
    json_decref(kinds);
    return error;
}

static struct argus_error *collect(struct fleet_report *report, const char *signature)
{
    json_t *totals = NULL;
    report->filter.signature = signature;
    struct argus_error *error =
        fleet_view_get(report->database, FLEET_VIEW_TOTALS, &report->filter, NULL, 0, &totals);
    report->totals = json_incref(json_array_get(totals, 0));
    json_decref(totals);
    report->groups = json_array();
    report->all = 1;
    if (error)
        return error;
    if (!report->groups)
        return argus_error_memory();
    return signature ? add_kind(report, &report->filter) : add_kinds(report);
}

static struct argus_error *save_page(const struct fleet_report *report, const char *path)
{
    struct output_file file;
    struct argus_error *error = output_file_open(path, &file);
    if (error)
        return error;
    fleet_page_write(&file.sink, report->totals, report->groups, report->all, report->limit);
    return output_file_close(&file, NULL);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct fleet_report report = {.session = session};
    const char *path = arguments_option(arguments, "output");
    struct argus_error *error = get_options(arguments, &report);
    if (!error)
        error = fleet_place_open(arguments, false, &report.database);
    if (!error)
        error = collect(&report, arguments_word(arguments, 0));
    session_end_progress(session);
    if (!error)
        error = save_page(&report, path);
    if (!error)
        session_printf(session, "%s: %zu of %zu kinds of hangs\n", path,
                       json_array_size(report.groups), report.all);
    json_decref(report.totals);
    json_decref(report.groups);
    fleet_database_close(report.database);
    return error;
}

const struct command command_fleet_report = {
    .name = "fleet report",
    .arguments = "[SIGNATURE] -o FILE",
    .summary = "one page to look at: kinds of hangs, each with its examples",
    .details = "Writes a self-contained HTML page: for each kind what 'argus fleet show'\n"
               "prints, with links from a list to the kinds, and to the pages of examples\n"
               "that 'argus report' wrote beside their files (FILE.html). With SIGNATURE, only\n"
               "of this kind; its beginning suffices.",
    .example = "argus fleet report -o fleet.html\n"
               "argus fleet report 9f31ab04 -o kind.html",
    .options = options,
    .flags = COMMAND_SHELL,
    .run = run,
};
