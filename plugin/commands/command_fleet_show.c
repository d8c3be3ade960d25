/* `argus fleet show`: all about one kind of hang. */
#include <string.h>

#include "argus/report.h"
#include "plugin/analysis.h"
#include "plugin/fleet/fleet_kind.h"
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

static void print_text(struct session *session, const json_t *json)
{
    struct argus_sink sink = session_sink(session);
    const json_t *kinds = json_object_get(json, "kinds");
    fleet_text_rows(session, FLEET_VIEW_KINDS, kinds);
    argus_sink_printf(&sink, "\nThe signature is made of: ");
    report_wrapped(&sink, 2, json_string_value(json_object_get(json_array_get(kinds, 0), "parts")));
    for (size_t i = 0; i < FLEET_KIND_VIEWS; i++) {
        const char *name = fleet_view_name(fleet_kind_views[i]);
        argus_sink_printf(&sink, "\n");
        fleet_text_rows(session, fleet_kind_views[i], json_object_get(json, name));
    }
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
        error = fleet_kind_get(database, &filter, limit, json);
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
