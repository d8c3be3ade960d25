/* `argus fleet`: what the hang database tells about all hangs. */
#include <string.h>

#include "plugin/fleet/fleet_place.h"
#include "plugin/fleet/fleet_text.h"
#include "plugin/json_output.h"

static const struct command_option options[] = {
    FLEET_OPTION_DATABASE,
    FLEET_OPTIONS_FILTER,
    {"by", 0, "WHAT", "list something else than kinds, see above [kinds]"},
    {"sort", 's', "ORDER", "hangs, machines or total: most first; newest; worst [hangs]"},
    {"new", 0, NULL, "only kinds whose first hang is new"},
    {"new-since", 0, "DATE", "what counts as new [24h]"},
    {"limit", 'n', "N", "list at most N lines, 0: all [20]"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

enum { USUAL_LIMIT = 20 };

/* What --sort takes, and the member of a kind by which it sorts. */
static const struct {
    const char *name, *member;
} sorts[] = {{"hangs", "hangs"},
             {"machines", "machines"},
             {"newest", "first_ns"},
             {"worst", "worst_ns"},
             {"total", "total_ns"}};

struct wanted {
    enum fleet_view view;
    const char *sort; /* NULL: the usual one */
    uint64_t limit;
    struct fleet_filter filter;
};

static struct argus_error *get_wanted(const struct arguments *arguments, struct wanted *ret)
{
    const char *by = arguments_option(arguments, "by"), *sort = arguments_option(arguments, "sort");
    *ret = (struct wanted){.view = FLEET_VIEW_KINDS, .limit = USUAL_LIMIT};
    if (by && (!fleet_view_find(by, &ret->view) || ret->view > FLEET_VIEW_DAYS))
        return argus_error_create(ARGUS_ERROR_USAGE, "--by does not take \"%s\"", by);
    for (size_t i = 0; sort && i < sizeof(sorts) / sizeof(sorts[0]); i++)
        if (strcmp(sorts[i].name, sort) == 0)
            ret->sort = sorts[i].member;
    if (sort && (!ret->sort || ret->view != FLEET_VIEW_KINDS))
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            ret->sort ? "--sort goes with --by kinds" : "--sort does not take \"%s\"", sort);
    if (arguments_has(arguments, "new") && ret->view != FLEET_VIEW_KINDS)
        return argus_error_create(ARGUS_ERROR_USAGE, "--new goes with --by kinds");
    struct argus_error *error = arguments_number(arguments, "limit", &ret->limit);
    return error ? error : fleet_place_filter(arguments, &ret->filter);
}

/* Of an array of kinds, keeps the new ones. */
static void keep_new(json_t *list)
{
    for (size_t i = json_array_size(list); i-- > 0;)
        if (!json_is_true(json_object_get(json_array_get(list, i), "is_new")))
            json_array_remove(list, i);
}

static void cut(json_t *list, uint64_t limit)
{
    while (limit && json_array_size(list) > limit)
        json_array_remove(list, json_array_size(list) - 1);
}

static struct argus_error *print_json(struct session *session, const struct wanted *wanted,
                                      const json_t *totals, json_t *list)
{
    json_t *json = fleet_place_json("argus-fleet");
    json_put(json, "totals", json_deep_copy(json_array_get(totals, 0)));
    json_put(json, "by", json_text(fleet_view_name(wanted->view)));
    json_put(json, "rows", json_incref(list));
    return json_output(session, NULL, json);
}

static struct argus_error *print(struct session *session, const struct arguments *arguments,
                                 const struct fleet_database *database, const struct wanted *wanted)
{
    json_t *totals = NULL, *list = NULL;
    struct argus_error *error =
        fleet_view_get(database, FLEET_VIEW_TOTALS, &wanted->filter, NULL, 0, &totals);
    if (!error)
        error = fleet_view_get(database, wanted->view, &wanted->filter, wanted->sort, 0, &list);
    if (!error && arguments_has(arguments, "new"))
        keep_new(list);
    size_t all = json_array_size(list);
    cut(list, wanted->limit);
    if (!error && arguments_has(arguments, "json"))
        error = print_json(session, wanted, totals, list);
    else if (!error)
        fleet_text_view(session, wanted->view, json_array_get(totals, 0), list, all);
    json_decref(totals);
    json_decref(list);
    return error;
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct fleet_database *database = NULL;
    struct wanted wanted;
    struct argus_error *error = arguments_expect(arguments, 0, 0);
    if (!error)
        error = get_wanted(arguments, &wanted);
    if (!error)
        error = fleet_place_open(arguments, false, &database);
    if (!error)
        error = print(session, arguments, database, &wanted);
    fleet_database_close(database);
    return error;
}

const struct command command_fleet = {
    .name = "fleet",
    .summary = "list the kinds of hangs of many traces and machines",
    .details = "Hangs with the same signature are one kind: the same program waits in the same\n"
               "way for the same function of the same program. Each kind has a line with its\n"
               "hangs, machines, first version, and a command that explains its best example.\n"
               "\n"
               "--by takes kinds, regressions, packages (those of the root causes), reasons\n"
               "(how the time was spent), versions, machines and days.\n"
               "\n"
               "--by regressions lists the kinds that significantly more machines have with a\n"
               "version of their program than with the versions before it: Fisher's exact\n"
               "test over machines, corrected for the number of comparisons (Bonferroni). It\n"
               "knows only machines on which the program hung.",
    .example = "argus fleet\n"
               "argus fleet --sort=newest --new-since=2d\n"
               "argus fleet --by=regressions --program=app",
    .options = options,
    .flags = COMMAND_SHELL,
    .run = run,
};
