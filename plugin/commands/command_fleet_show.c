/* `argus fleet show`: all about one kind of hang. */
#include <string.h>

#include "argus/report.h"
#include "plugin/analysis.h"
#include "plugin/fleet/fleet_place.h"
#include "plugin/fleet/fleet_text.h"
#include "plugin/json_output.h"
#include "report/lines.h"

static const struct command_option options[] = {
    FLEET_OPTION_DATABASE,
    FLEET_OPTIONS_FILTER,
    {"limit", 'n', "N", "list at most N lines of each table, 0: all [10]"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

enum { USUAL_LIMIT = 10 };

static const enum fleet_view parts[] = {FLEET_VIEW_VERSIONS, FLEET_VIEW_DAYS,
                                        FLEET_VIEW_REASONS,  FLEET_VIEW_PACKAGES,
                                        FLEET_VIEW_MACHINES, FLEET_VIEW_EXAMPLES};

static struct argus_error *add_parts(const struct fleet_database *database,
                                     const struct fleet_filter *filter, uint64_t limit,
                                     json_t *json)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < sizeof(parts) / sizeof(parts[0]); i++) {
        json_t *rows = NULL;
        error = fleet_view_get(database, parts[i], filter, NULL, limit, &rows);
        if (!error)
            json_put(json, fleet_view_name(parts[i]), rows);
    }
    return error;
}

static void print_text(struct session *session, const json_t *json)
{
    struct argus_sink sink = session_sink(session);
    const json_t *kinds = json_object_get(json, "kinds");
    fleet_text_rows(session, FLEET_VIEW_KINDS, kinds);
    argus_sink_printf(&sink, "\nThe signature is made of: ");
    report_wrapped(&sink, 2, json_string_value(json_object_get(json_array_get(kinds, 0), "parts")));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        argus_sink_printf(&sink, "\n");
        fleet_text_rows(session, parts[i], json_object_get(json, fleet_view_name(parts[i])));
    }
}

static struct argus_error *show(const struct fleet_database *database, struct fleet_filter *filter,
                                uint64_t limit, json_t *json)
{
    json_t *kinds = NULL;
    struct argus_error *error = fleet_view_get(database, FLEET_VIEW_KINDS, filter, NULL, 0, &kinds);
    if (error)
        return error;
    size_t count = json_array_size(kinds);
    json_put(json, "kinds", kinds);
    if (count != 1)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  count ? "%s is the beginning of several signatures"
                                        : "no kind of hang has the signature %s",
                                  filter->signature);
    return add_parts(database, filter, limit, json);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct fleet_database *database = NULL;
    struct fleet_filter filter;
    uint64_t limit = USUAL_LIMIT;
    struct argus_error *error = arguments_expect(arguments, 1, 1);
    if (!error)
        error = arguments_number(arguments, "limit", &limit);
    if (!error)
        error = fleet_place_filter(arguments, &filter);
    if (!error)
        error = fleet_place_open(arguments, false, &database);
    json_t *json = fleet_place_json("argus-fleet-show");
    if (!error) {
        filter.signature = arguments_word(arguments, 0);
        error = show(database, &filter, limit, json);
    }
    fleet_database_close(database);
    if (!error && arguments_has(arguments, "json"))
        return json_output(session, NULL, json);
    if (!error)
        print_text(session, json);
    json_decref(json);
    return error;
}

const struct command command_fleet_show = {
    .name = "fleet show",
    .arguments = "SIGNATURE",
    .missing = "SIGNATURE is missing: argus fleet lists them; their beginning suffices",
    .summary = "show one kind of hang: versions, days, reasons, machines, examples",
    .details = "The best examples come first: certain, whole files before guesses and damaged\n"
               "files, then the newest.",
    .example = "argus fleet show 9f31ab04",
    .options = options,
    .flags = COMMAND_SHELL,
    .run = run,
};
