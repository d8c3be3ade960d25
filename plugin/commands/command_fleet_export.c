/* `argus fleet export`: the hangs as files that engines for large data query. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/anonymous.h"
#include "plugin/fleet/fleet_place.h"
#include "plugin/json_output.h"
#include "plugin/output_file.h"
#include "plugin/paths.h"

static const struct command_option options[] = {
    FLEET_OPTION_DATABASE,
    {"anonymous", 0, NULL, "replace what tells about persons, machines and files by pseudonyms"},
    COMMAND_OPTIONS_END,
};

enum { DAY_BYTES = 11 };

struct exporting {
    const char *folder;
    struct fleet_anonymizer anonymizer;
    bool anonymous;
    char day[DAY_BYTES]; /* of the open file; "": none is */
    struct output_file file;
    size_t hangs, days;
};

static struct argus_error *close_day(struct exporting *exporting, struct argus_error *error)
{
    if (!exporting->day[0])
        return error;
    exporting->day[0] = '\0';
    return output_file_close(&exporting->file, error);
}

/* DIR/hangs/day=2026-11-26/hangs.jsonl: engines take the day from the folder's name. */
static struct argus_error *open_day(struct exporting *exporting, const char *day)
{
    char *folder = NULL, *path = NULL;
    struct argus_error *error = argus_error_memory();
    if (asprintf(&folder, "%s/hangs/day=%s", exporting->folder, day) < 0)
        folder = NULL;
    if (folder && asprintf(&path, "%s/hangs.jsonl", folder) < 0)
        path = NULL;
    if (path) {
        paths_make_directories(folder);
        error = output_file_open(path, &exporting->file);
    }
    if (!error) {
        snprintf(exporting->day, sizeof(exporting->day), "%s", day);
        exporting->days++;
    }
    free(folder);
    free(path);
    return error;
}

static struct argus_error *write_row(struct exporting *exporting, json_t *row)
{
    json_t *whole = fleet_place_json("argus-fleet-hang");
    if (!whole || json_object_update(whole, row) != 0) {
        json_decref(whole);
        return argus_error_memory();
    }
    char *text = json_dumps(whole, JSON_COMPACT);
    json_decref(whole);
    bool written = text && fprintf(exporting->file.file, "%s\n", text) > 0;
    free(text);
    exporting->hangs++;
    return written ? NULL : argus_error_os(errno, "cannot write below %s", exporting->folder);
}

static struct argus_error *take(void *context, json_t *row)
{
    struct exporting *exporting = context;
    char day[DAY_BYTES];
    const char *time = json_string_value(json_object_get(row, "time"));
    snprintf(day, sizeof(day), "%.10s", time ? time : "1970-01-01");
    struct argus_error *error = NULL;
    if (exporting->anonymous && !fleet_anonymize(&exporting->anonymizer, row))
        error = argus_error_memory();
    if (!error && strcmp(day, exporting->day) != 0) {
        error = close_day(exporting, NULL);
        if (!error)
            error = open_day(exporting, day);
    }
    return error ? error : write_row(exporting, row);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct fleet_database *database = NULL;
    struct exporting exporting = {.anonymous = arguments_has(arguments, "anonymous")};
    struct argus_error *error = arguments_expect(arguments, 1, 1);
    char *folder = error ? NULL : paths_expand_home(arguments_word(arguments, 0));
    if (!error)
        error = folder ? fleet_place_open(arguments, false, &database) : argus_error_memory();
    if (!error) {
        exporting.folder = folder;
        fleet_anonymizer_init(&exporting.anonymizer, fleet_database_salt(database));
        error = close_day(&exporting, fleet_database_rows(database, take, &exporting));
    }
    if (!error)
        session_printf(session, "%zu hangs of %zu days in %s/hangs\n", exporting.hangs,
                       exporting.days, folder);
    fleet_database_close(database);
    free(folder);
    return error;
}

const struct command command_fleet_export = {
    .name = "fleet export",
    .arguments = "DIR",
    .missing = "DIR is missing: a folder for the files",
    .summary = "write all hangs as files that DuckDB, Spark and others query",
    .details = "Writes DIR/hangs/day=YYYY-MM-DD/hangs.jsonl: a JSON object for each hang, as\n"
               "fleet-hang.json in share/argus/schema describes it. Files of the same days\n"
               "are replaced. examples/fleet has queries for DuckDB and Spark.",
    .example = "argus fleet export /srv/hangs\n"
               "argus fleet export --anonymous /srv/hangs",
    .options = options,
    .flags = COMMAND_SHELL,
    .run = run,
};
