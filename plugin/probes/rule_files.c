#include "plugin/probes/rule_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_file.h"

struct argus_error *rule_files_directory(char **ret)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = -1;
    *ret = NULL;
    if (config && config[0] == '/') /* the XDG specification says to ignore relative paths */
        length = asprintf(ret, "%s/argus/rules", config);
    else if (home && home[0] == '/')
        length = asprintf(ret, "%s/.config/argus/rules", home);
    else
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "neither XDG_CONFIG_HOME nor HOME is set: there is no place for "
                                  "rules");
    return length < 0 ? argus_error_memory() : NULL;
}

/* Hidden files, and temporary files of editors or of Argus, are no rules. */
bool rule_files_good_name(const char *name)
{
    size_t length = strlen(name);
    return length && name[0] != '.' && name[length - 1] != '~' && !strstr(name, ".part");
}

static int is_kept(const struct dirent *entry)
{
    return rule_files_good_name(entry->d_name);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

struct argus_error *rule_files_kept(struct rule_names *ret)
{
    char *directory;
    struct dirent **entries;
    *ret = (struct rule_names){0};
    struct argus_error *error = rule_files_directory(&directory);
    if (error || !directory)
        return error;
    int count = scandir(directory, &entries, is_kept, by_bytes);
    if (count < 0 && errno != ENOENT && errno != ENOTDIR)
        error = argus_error_os(errno, "cannot read %s", directory);
    free(directory);
    if (count < 0)
        return error;
    ret->names = calloc((size_t)count + 1, sizeof(*ret->names));
    for (int i = 0; i < count; i++) {
        if (ret->names && (ret->names[ret->count] = strdup(entries[i]->d_name)))
            ret->count++;
        free(entries[i]);
    }
    free(entries);
    if (ret->names && ret->count == (size_t)count)
        return NULL;
    rule_names_deinit(ret);
    return argus_error_memory();
}

void rule_names_deinit(struct rule_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->names[i]);
    free(names->names);
    *names = (struct rule_names){0};
}

struct argus_error *rule_files_load(const char *path, char **ret, size_t *ret_bytes)
{
    return text_file_read(path, "the rules ", "is too large for a file of rules", ret, ret_bytes);
}

/* Prints the mistakes, unless there is only one, which the error itself describes. */
static void say_mistakes(struct session *session, const struct argus_rule_set *set)
{
    const struct argus_rule_mistake *mistakes;
    size_t count = argus_rule_set_mistakes(set, &mistakes);
    for (size_t i = 0; i < count && count > 1; i++)
        session_warn(session, "%s:%u:%u: %s", mistakes[i].file, mistakes[i].line,
                     mistakes[i].column, mistakes[i].reason);
}

struct argus_error *rule_files_parse(struct session *session, struct argus_rule_set *set,
                                     const char *path, const char *text, size_t bytes)
{
    struct argus_error *error = argus_rule_set_parse(set, path, text, bytes);
    say_mistakes(session, set);
    return error;
}

struct argus_error *rule_files_add(struct session *session, struct argus_rule_set *set,
                                   const char *path)
{
    struct argus_error *error = argus_rule_set_read(set, path);
    say_mistakes(session, set);
    return error;
}

/* An invalid kept file (changed by someone, or from a newer Argus) only loses its own rules. */
static struct argus_error *add_kept(struct session *session, struct argus_rule_set *set,
                                    const char *directory, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return argus_error_memory();
    struct argus_error *error = rule_files_add(session, set, path);
    free(path);
    if (!error || error->code == ARGUS_ERROR_MEMORY)
        return error;
    session_warn(session, "none of its rules is used: %s", error->message);
    argus_error_destroy(error);
    return NULL;
}

static struct argus_error *add_all_kept(struct session *session, struct argus_rule_set *set,
                                        const char *without)
{
    char *directory;
    struct rule_names names;
    struct argus_error *error = rule_files_directory(&directory);
    if (error) { /* without a home folder there are none */
        bool nowhere = error->code == ARGUS_ERROR_NOT_FOUND;
        if (!nowhere)
            return error;
        argus_error_destroy(error);
        return NULL;
    }
    error = rule_files_kept(&names);
    for (size_t i = 0; !error && i < names.count; i++)
        if (!without || strcmp(names.names[i], without) != 0)
            error = add_kept(session, set, directory, names.names[i]);
    rule_names_deinit(&names);
    free(directory);
    return error;
}

static struct argus_error *read_into(struct argus_error *error, struct argus_rule_set *set,
                                     struct argus_rule_set **ret)
{
    if (error)
        argus_rule_set_destroy(set);
    else
        *ret = set;
    return error;
}

struct argus_error *rule_files_read_kept(struct session *session, const char *without,
                                         struct argus_rule_set **ret)
{
    struct argus_rule_set *set;
    struct argus_error *error = argus_rule_set_create(&set);
    return error ? error : read_into(add_all_kept(session, set, without), set, ret);
}

struct argus_error *rule_files_read(struct session *session, const char *const *paths, size_t count,
                                    struct argus_rule_set **ret)
{
    struct argus_rule_set *set;
    struct argus_error *error = argus_rule_set_create(&set);
    if (error)
        return error;
    for (size_t i = 0; !error && i < count; i++)
        if (strcmp(paths[i], "none") != 0)
            error = rule_files_add(session, set, paths[i]);
    return read_into(error, set, ret);
}

struct argus_error *rule_files_of(struct session *session, const struct arguments *arguments,
                                  struct argus_rule_set **ret)
{
    const char *paths[RULE_FILES_MOST + 1];
    size_t count = 0;
    while (arguments && count <= RULE_FILES_MOST &&
           (paths[count] = arguments_option_at(arguments, "rules", count)))
        count++;
    if (count > RULE_FILES_MOST)
        return argus_error_create(ARGUS_ERROR_USAGE, "more than %d files of rules",
                                  RULE_FILES_MOST);
    return count ? rule_files_read(session, paths, count, ret)
                 : rule_files_read_kept(session, NULL, ret);
}
