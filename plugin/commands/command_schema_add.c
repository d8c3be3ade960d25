/* Keeps a rules file, which then applies to every recording and every analysis of this user. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/paths.h"
#include "plugin/probes/rule_files.h"
#include "recorder/client/output.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct argus_error *write_all(int fd, const char *text, size_t bytes, const char *path)
{
    while (bytes) {
        ssize_t written = write(fd, text, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return argus_error_os(errno, "cannot write %s", path);
        text += written;
        bytes -= (size_t)written;
    }
    return NULL;
}

/* Writes `text` to the file `name` in the rules directory, replacing an existing one. */
static struct argus_error *keep(const char *name, const char *text, size_t bytes, char **ret_path)
{
    struct output output;
    char *directory;
    struct argus_error *error = rule_files_directory(&directory);
    if (error)
        return error;
    if (asprintf(ret_path, "%s/%s", directory, name) < 0) {
        *ret_path = NULL;
        free(directory);
        return argus_error_memory();
    }
    paths_make_directories(directory);
    free(directory);
    error = output_create(*ret_path, &output);
    if (error)
        return error;
    error = write_all(output.fd, text, bytes, *ret_path);
    if (!error)
        error = output_commit(&output);
    output_deinit(&output);
    return error;
}

/* Checks the file together with the files already kept, except one of the same name, which it
 * replaces. */
static struct argus_error *check(struct session *session, const char *path, const char *name,
                                 const char *text, size_t bytes, size_t *ret_rules)
{
    struct argus_rule_set *set;
    const struct argus_user_rule *rules;
    struct argus_error *error = rule_files_read_kept(session, name, &set);
    if (error)
        return error;
    size_t before = argus_rule_set_rules(set, &rules);
    error = rule_files_parse(session, set, path, text, bytes);
    *ret_rules = argus_rule_set_rules(set, &rules) - before;
    argus_rule_set_destroy(set);
    return error;
}

static struct argus_error *add(struct session *session, const char *path)
{
    const char *name = base_name(path);
    char *text = NULL, *kept = NULL;
    size_t bytes = 0, count = 0;
    if (!rule_files_good_name(name))
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "rules are kept under the name of their file: give it one "
            "without a dot in front, a ~ at the end and \".part\", not \"%s\"",
            name);
    struct argus_error *error = rule_files_load(path, &text, &bytes);
    if (!error)
        error = check(session, path, name, text, bytes, &count);
    if (!error && !count)
        error = argus_error_create(ARGUS_ERROR_FORMAT, "%s has no rules", path);
    if (!error)
        error = keep(name, text, bytes, &kept);
    if (!error)
        session_printf(session, "%zu rule%s added, kept as %s\n", count, count == 1 ? "" : "s",
                       kept);
    free(text);
    free(kept);
    return error;
}

static struct argus_error *run_add(struct session *session, const struct arguments *arguments)
{
    struct argus_error *error = arguments_expect(arguments, 1, SIZE_MAX);
    for (size_t i = 0; !error && i < arguments_count(arguments); i++)
        error = add(session, arguments_word(arguments, i));
    return error;
}

const struct command command_schema_add = {
    .name = "schema add",
    .arguments = "RULES-FILE…",
    .missing = "RULES-FILE is missing: a file of rules (argus-rules(5))",
    .summary = "check files of rules, and keep them",
    .details = "The rules then apply to everything that you record and analyse, unless --rules\n"
               "names others. All mistakes in a file are reported, with line and column; such\n"
               "a file is not kept. A file of the same name is replaced. argus-rules(5)\n"
               "explains how to write rules.",
    .example = "argus schema add my.rules",
    .run = run_add,
};
