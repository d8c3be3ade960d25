/* Which of a user's rules count: the files of --rules, or those that `argus schema add` keeps in $XDG_CONFIG_HOME/argus/rules
 * (~/.config/argus/rules), in the order of their names. */
#ifndef ARGUS_PLUGIN_RULE_FILES_H
#define ARGUS_PLUGIN_RULE_FILES_H

#include "argus/schema.h"
#include "plugin/command.h"

#define RULE_FILES_MOST 8 /* of --rules in one command */

/* The names of kept files, sorted; for rule_names_deinit(). */
struct rule_names {
    char **names; /* owned */
    size_t count;
};

/* The directory of kept files, which need not exist; owned by the caller. */
struct argus_error *rule_files_directory(char **ret);
struct argus_error *rule_files_kept(struct rule_names *ret);
void rule_names_deinit(struct rule_names *names);

/* The rules of the `count` files `paths`, where "none" stands for no rules at all. With a mistake in one all mistakes of it are
 * said. */
struct argus_error *rule_files_read(struct session *session, const char *const *paths, size_t count,
                                    struct argus_rule_set **ret);

/* The rules for a command: those of its options --rules, or else the kept ones. NULL `arguments`: the kept ones. */
struct argus_error *rule_files_of(struct session *session, const struct arguments *arguments,
                                  struct argus_rule_set **ret);

/* The kept rules, but for those of the file `without` (may be NULL). A kept file that has become wrong is left out, and said. */
struct argus_error *rule_files_read_kept(struct session *session, const char *without,
                                         struct argus_rule_set **ret);

/* Whether a kept file can have this name. */
bool rule_files_good_name(const char *name);

/* The bytes of a file of rules; owned by the caller. */
struct argus_error *rule_files_load(const char *path, char **ret, size_t *ret_bytes);
/* Adds the rules of `text`, from `path`; says all mistakes as warnings, if there are several, before it returns the error. */
struct argus_error *rule_files_parse(struct session *session, struct argus_rule_set *set,
                                     const char *path, const char *text, size_t bytes);
/* Adds the rules of a file; says all mistakes as warnings before it returns the error. */
struct argus_error *rule_files_add(struct session *session, struct argus_rule_set *set,
                                   const char *path);

#endif
