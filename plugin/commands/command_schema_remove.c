#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/probes/rule_files.h"

static struct argus_error *not_there(const char *name)
{
    struct rule_names names;
    char list[600] = "";
    size_t used = 0;
    struct argus_error *error = rule_files_kept(&names);
    if (error)
        return error;
    for (size_t i = 0; i < names.count && used < sizeof(list); i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
                                 names.names[i]);
    rule_names_deinit(&names);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "no rules are kept as \"%s\"; there %s%s",
                              name, used ? "are: " : "are none", list);
}

static struct argus_error *take_away(struct session *session, const char *name)
{
    char *directory, *path = NULL;
    if (!rule_files_good_name(name) || strchr(name, '/'))
        return not_there(name);
    struct argus_error *error = rule_files_directory(&directory);
    if (error)
        return error;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        path = NULL;
    free(directory);
    if (!path)
        return argus_error_memory();
    if (unlink(path) == 0)
        session_printf(session, "removed %s\n", path);
    else
        error = errno == ENOENT || errno == ENOTDIR
                    ? not_there(name)
                    : argus_error_os(errno, "cannot remove %s", path);
    free(path);
    return error;
}

static struct argus_error *run_remove(struct session *session, const struct arguments *arguments)
{
    struct argus_error *error = arguments_expect(arguments, 1, SIZE_MAX);
    for (size_t i = 0; !error && i < arguments_count(arguments); i++)
        error = take_away(session, arguments_word(arguments, i));
    return error;
}

const struct command command_schema_remove = {
    .name = "schema remove",
    .arguments = "NAME…",
    .missing = "NAME is missing: of a file that argus schema add took",
    .summary = "forget files of rules that were added",
    .details = "NAME is the name of the file without its folder, as \"schema list\" shows it.",
    .example = "argus schema remove my.rules",
    .run = run_remove,
};
