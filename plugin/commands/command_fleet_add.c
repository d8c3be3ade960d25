/* `argus fleet add`: the hangs of many files into the hang database. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/report.h"
#include "base/parallel.h"
#include "fleet/anonymous.h"
#include "fleet/pseudonym.h"
#include "plugin/analysis.h"
#include "plugin/fleet/fleet_place.h"
#include "plugin/fleet/fleet_workers.h"
#include "plugin/fleet/package_lookup.h"
#include "plugin/fleet/row_values.h"
#include "plugin/json_output.h"
#include "report/lines.h"

static const struct command_option options[] = {
    FLEET_OPTION_DATABASE,
    {"machine", 0, "NAME", "the files come from this machine [what the files say]"},
    {"machine-folders", 0, NULL, "each folder below DIR has the name of its machine"},
    {"anonymous", 0, NULL, "replace what tells about persons, machines and files by pseudonyms"},
    {"again", 0, NULL, "analyse files that were added before as well, and replace their hangs"},
    {"jobs", 'j', "N", "analyse N files at once [one for each CPU]"},
    COMMAND_OPTION_JSON,
    COMMAND_OPTIONS_END,
};

struct adding {
    struct session *session;
    const struct arguments *arguments;
    struct fleet_database *database;
    struct fleet_paths paths;
    VEC(const struct fleet_path *) wanted; /* those of `paths` to analyse */
    struct fleet_anonymizer anonymizer;
    bool anonymous;
    size_t added, known_hangs, known_files, read_files, without_hang, other_files;
    json_t *unreadable; /* [{"file", "why"}] */
    json_t *unpackaged; /* build IDs that this machine's package manager does not know: members */
};

static const char *shown_path(const struct adding *adding, const struct fleet_path *file,
                              char *buffer, size_t bytes)
{
    return adding->anonymous ? pseudonym(adding->anonymizer.salt, "file", file->path,
                                         strlen(file->path), buffer, bytes)
                             : file->path;
}

/* --- choosing the files --- */

static struct argus_error *find_files(struct adding *adding)
{
    struct argus_error *error = NULL;
    char pseudonym_of[64];
    for (size_t i = 0; !error && i < arguments_count(adding->arguments); i++)
        error = fleet_paths_add(&adding->paths, arguments_word(adding->arguments, i));
    fleet_paths_sort(&adding->paths);
    for (size_t i = 0; !error && i < adding->paths.items.length; i++) {
        const struct fleet_path *item = &adding->paths.items.data[i];
        struct fleet_file file = {.path =
                                      shown_path(adding, item, pseudonym_of, sizeof(pseudonym_of)),
                                  .bytes = item->bytes,
                                  .changed_ns = item->changed_ns};
        bool repeated = i && strcmp(item->path, item[-1].path) == 0;
        bool known = !arguments_has(adding->arguments, "again") &&
                     fleet_database_has_file(adding->database, &file);
        adding->known_files += known && !repeated;
        if (!known && !repeated && !vec_push(&adding->wanted, item))
            error = argus_error_memory();
    }
    return error;
}

/* --- what the trace itself does not say --- */

/* By this machine's package manager, if the same file is installed here. */
static bool look_up(struct adding *adding, const char *id, const char *path, char *name,
                    char *number)
{
    if (json_object_get(adding->unpackaged, id))
        return false;
    bool found = package_lookup_build(path, id, name, number);
    if (!found)
        json_object_set_new(adding->unpackaged, id, json_true());
    return found;
}

/* Finds package and version of a build ID: in the database, else on this machine. What is found is
 * kept in the database, also for the hangs that it has: the order of the files has no influence. */
static struct argus_error *find_package(struct adding *adding, json_t *row, const char *build_id,
                                        const char *path, const char *package, const char *version)
{
    char name[PACKAGE_BYTES] = "", number[PACKAGE_BYTES] = "";
    const char *id = text_of(row, build_id);
    struct argus_error *error = NULL;
    bool is_named = text_of(row, package)[0] != '\0';
    bool known =
        id[0] &&
        fleet_database_package(adding->database, id, name, sizeof(name), number, sizeof(number)) &&
        name[0];
    if (id[0] && is_named && !known)
        error = fleet_database_put_package(adding->database, id, text_of(row, package),
                                           text_of(row, version));
    else if (id[0] && !is_named && !known && look_up(adding, id, text_of(row, path), name, number))
        error = fleet_database_put_package(adding->database, id, name, number);
    if (!is_named && name[0]) {
        json_put(row, package, json_text(name));
        json_put(row, version, json_text(number));
    }
    /* builds tell versions apart even if their names are not known */
    if (!text_of(row, version)[0] && id[0]) {
        snprintf(number, sizeof(number), "build %.12s", id);
        json_put(row, version, json_text(number));
    }
    return error;
}

static void name_machine(const struct adding *adding, const struct fleet_path *file, json_t *row)
{
    const char *named = arguments_option(adding->arguments, "machine");
    char folder[256];
    if (named)
        json_put(row, "machine", json_text(named));
    else if (arguments_has(adding->arguments, "machine-folders") && file->machine_bytes) {
        snprintf(folder, sizeof(folder), "%.*s", (int)file->machine_bytes,
                 file->path + file->machine_at);
        json_put(row, "machine", json_text(folder));
    }
}

static struct argus_error *add_row(struct adding *adding, const struct fleet_path *file,
                                   json_t *row)
{
    bool added = false;
    name_machine(adding, file, row);
    struct argus_error *error =
        find_package(adding, row, "build_id", "program_path", "package", "version");
    if (!error)
        error = find_package(adding, row, "culprit_build_id", "culprit_path", "culprit_package",
                             "culprit_version");
    if (!error && adding->anonymous && !fleet_anonymize(&adding->anonymizer, row))
        error = argus_error_memory();
    if (!error)
        error = fleet_database_add(adding->database, row, arguments_has(adding->arguments, "again"),
                                   &added);
    adding->added += added;
    adding->known_hangs += !added;
    return error;
}

/* --- taking results --- */

/* Why the file was not read, as it may be told: errors begin with the path. `path`: the file's name
 * as it may be told. NULL without memory; the caller frees it. */
static char *shown_reason(const struct adding *adding, const struct fleet_result *result,
                          const char *path)
{
    size_t length = strlen(result->file->path);
    if (!adding->anonymous)
        return strdup(result->why);
    char *named = NULL, *text = NULL;
    size_t bytes;
    FILE *memory = open_memstream(&named, &bytes);
    for (const char *at = result->why; memory && *at;) {
        bool found = strncmp(at, result->file->path, length) == 0;
        fprintf(memory, "%.*s", found ? (int)strlen(path) : 1, found ? path : at);
        at += found ? length : 1;
    }
    bool whole = memory && fclose(memory) == 0;
    size_t room = whole ? 16 * bytes + 128 : 0; /* "a@b" becomes two pseudonyms */
    if (room && (text = malloc(room)))
        fleet_anonymous_text(&adding->anonymizer, named, text, room);
    free(named);
    return text;
}

static void add_unreadable(struct adding *adding, const char *path, const char *why)
{
    json_t *json = json_object();
    json_put(json, "file", json_text(path));
    json_put(json, "why", json_text(why));
    json_add(adding->unreadable, json);
}

static struct argus_error *take_rows(struct adding *adding, const struct fleet_result *result)
{
    struct argus_error *error = NULL;
    size_t count = json_array_size(result->rows);
    adding->read_files++;
    adding->without_hang += !count;
    for (size_t i = 0; !error && i < count; i++)
        error = add_row(adding, result->file, json_array_get(result->rows, i));
    return error;
}

static struct argus_error *take_file(struct adding *adding, const struct fleet_result *result,
                                     const char *path, const char *why)
{
    const struct fleet_file file = {.path = path,
                                    .bytes = result->file->bytes,
                                    .changed_ns = result->file->changed_ns,
                                    .hangs = (int64_t)json_array_size(result->rows),
                                    .why = why};
    struct argus_error *error = fleet_database_begin(adding->database);
    if (!error && result->rows)
        error = take_rows(adding, result);
    else if (!error)
        add_unreadable(adding, path, why);
    if (!error)
        error = fleet_database_put_file(adding->database, &file);
    return error ? error : fleet_database_commit(adding->database);
}

/* Each file is a transaction of its own, so what was done stays if the command is ended. */
static struct argus_error *take(void *context, const struct fleet_result *result)
{
    struct adding *adding = context;
    char pseudonym_of[64];
    if (result->is_other) {
        adding->other_files++;
        return NULL;
    }
    const char *path = shown_path(adding, result->file, pseudonym_of, sizeof(pseudonym_of));
    char *why = result->rows ? NULL : shown_reason(adding, result, path);
    struct argus_error *error =
        result->rows || why ? take_file(adding, result, path, why) : argus_error_memory();
    free(why);
    return error;
}

/* --- the answer --- */

static void print_text(struct adding *adding)
{
    struct argus_sink sink = session_sink(adding->session);
    size_t failed = json_array_size(adding->unreadable);
    argus_sink_printf(&sink, "%zu new hang%s in %zu file%s", adding->added,
                      adding->added == 1 ? "" : "s", adding->read_files,
                      adding->read_files == 1 ? "" : "s");
    if (adding->known_hangs)
        argus_sink_printf(&sink, "; %zu were known from other files", adding->known_hangs);
    if (adding->without_hang)
        argus_sink_printf(&sink, "; %zu without a hang", adding->without_hang);
    if (adding->known_files)
        argus_sink_printf(&sink, "; %zu files added before", adding->known_files);
    if (adding->other_files)
        argus_sink_printf(&sink, "; %zu other files", adding->other_files);
    argus_sink_printf(&sink, ".\n%s", failed ? "Not read:\n" : "");
    for (size_t i = 0; i < failed; i++) {
        const json_t *one = json_array_get(adding->unreadable, i);
        argus_sink_printf(&sink, "  %s: ", text_of(one, "file"));
        report_wrapped(&sink, 4, text_of(one, "why"));
    }
}

static struct argus_error *print(struct adding *adding)
{
    if (!arguments_has(adding->arguments, "json")) {
        print_text(adding);
        return NULL;
    }
    json_t *json = fleet_place_json("argus-fleet-add");
    json_put(json, "hangs_added", json_ns(adding->added));
    json_put(json, "hangs_known", json_ns(adding->known_hangs));
    json_put(json, "files_read", json_ns(adding->read_files));
    json_put(json, "files_without_hang", json_ns(adding->without_hang));
    json_put(json, "files_known", json_ns(adding->known_files));
    json_put(json, "files_other", json_ns(adding->other_files));
    json_put(json, "unreadable", json_incref(adding->unreadable));
    return json_output(adding->session, NULL, json);
}

/* A script has to notice that nothing of what it named could be read. */
static struct argus_error *nothing_read(const struct adding *adding)
{
    size_t failed = json_array_size(adding->unreadable);
    if (!failed || adding->read_files || adding->known_files)
        return NULL;
    return argus_error_create(
        ARGUS_ERROR_FORMAT,
        failed == 1 ? "the file could not be read" : "none of the %zu files could be read", failed);
}

static struct argus_error *run_work(struct adding *adding)
{
    uint64_t jobs = parallel_threads(64);
    struct argus_error *error = arguments_number(adding->arguments, "jobs", &jobs);
    if (!error)
        error = find_files(adding);
    struct fleet_work work = {.session = adding->session,
                              .arguments = adding->arguments,
                              .files = adding->wanted.data,
                              .count = adding->wanted.length,
                              .jobs = jobs > 64 ? 64 : (unsigned)jobs,
                              .take = take,
                              .context = adding};
    return error ? error : fleet_workers_run(&work);
}

static struct argus_error *run(struct session *session, const struct arguments *arguments)
{
    struct adding adding = {.session = session,
                            .arguments = arguments,
                            .anonymous = arguments_has(arguments, "anonymous"),
                            .unreadable = json_array(),
                            .unpackaged = json_object()};
    struct argus_error *error = arguments_expect(arguments, 1, SIZE_MAX);
    if (!error)
        error = fleet_place_open(arguments, true, &adding.database);
    if (!error) {
        fleet_anonymizer_init(&adding.anonymizer, fleet_database_salt(adding.database));
        error = run_work(&adding);
    }
    if (!error)
        error = print(&adding);
    if (!error)
        error = nothing_read(&adding);
    fleet_database_close(adding.database);
    json_decref(adding.unreadable);
    json_decref(adding.unpackaged);
    vec_deinit(&adding.wanted);
    fleet_paths_deinit(&adding.paths);
    return error;
}

const struct command command_fleet_add = {
    .name = "fleet add",
    .arguments = "DIR|FILE…",
    .missing = "DIR is missing: a folder of traces, e.g. of argus start --on-hang",
    .summary = "add the hangs of many traces to the hang database",
    .details = "Analyses each trace below the folders, several at once, and adds each hang of\n"
               "2 s or longer, and the hang for which a file was kept. Traces of other tools\n"
               "are added as well. A file that cannot be read is reported and skipped; if\n"
               "none could be read, the command fails (exit code 1). Adding a file twice\n"
               "changes nothing, and a hang that several files contain is one hang.\n"
               "\n"
               "The package and version of a program are those that the trace names, or, if\n"
               "the same build is installed here, those of this machine's package manager.",
    .example = "argus fleet add ~/hangs\n"
               "argus fleet add --machine-folders --anonymous /srv/uploads",
    .options = options,
    .flags = COMMAND_SHELL,
    .run = run,
};
