/* Finds the user's rules: the files of --rules, or else those that `argus schema add` keeps in
 * $XDG_CONFIG_HOME/argus/rules (~/.config/argus/rules), in the order of their names. */
#ifndef ARGUS_PLUGIN_RULE_FILES_H
#define ARGUS_PLUGIN_RULE_FILES_H

#include "argus/schema.h"
#include "plugin/command.h"

#define RULE_FILES_MOST 8 /* --rules in one command */

/* The names of kept files, sorted; for rule_names_deinit(). */
struct rule_names {
    char **names; /* owned */
    size_t count;
};

/* The directory of kept files, which need not exist; the caller owns it. */
struct argus_error *rule_files_directory(char **ret);
struct argus_error *rule_files_kept(struct rule_names *ret);
void rule_names_deinit(struct rule_names *names);

/* The rules of the `count` files `paths`; "none" stands for no rules. If a file has a mistake, all
 * its mistakes are printed. */
struct argus_error *rule_files_read(struct session *session, const char *const *paths, size_t count,
                                    struct argus_rule_set **ret);

/* The rules for a command: those of its --rules options, or else the kept ones. `arguments` NULL:
 * the kept ones. */
struct argus_error *rule_files_of(struct session *session, const struct arguments *arguments,
                                  struct argus_rule_set **ret);

/* The kept rules, except those of the file `without` (may be NULL). A kept file that has become
 * invalid is skipped with a warning. */
struct argus_error *rule_files_read_kept(struct session *session, const char *without,
                                         struct argus_rule_set **ret);

/* Whether a kept file can have this name. */
bool rule_files_good_name(const char *name);

/* The bytes of a rules file; the caller owns them. */
struct argus_error *rule_files_load(const char *path, char **ret, size_t *ret_bytes);
/* Adds the rules of `text`, from `path`. If there are several mistakes, prints all as warnings
 * before it returns the error. */
struct argus_error *rule_files_parse(struct session *session, struct argus_rule_set *set,
                                     const char *path, const char *text, size_t bytes);
/* Adds the rules of a file. Prints all mistakes as warnings before it returns the error. */
struct argus_error *rule_files_add(struct session *session, struct argus_rule_set *set,
                                   const char *path);

#endif
