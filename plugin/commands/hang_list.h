/* `argus hangs FOLDER`: the traces of a folder and the hang of each, without an analysis where the file says it itself
 * (argus/kept_hang.h). */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_LIST_H
#define ARGUS_PLUGIN_COMMANDS_HANG_LIST_H

#include "argus/kept_hang.h"
#include "plugin/command.h"

/* A trace with its hang; of one that was kept for none, the first that `argus hangs FILE` lists. */
struct hang_list_row {
    char *file; /* name in the folder; owned */
    struct argus_kept_hang hang;
    uint64_t wall_ns;    /* when it began; since 1970 */
    uint64_t hang_count; /* in the trace, where it was analysed; 0: the file said it itself */
};

/* A file that is called a trace and cannot be read, or has no hang. */
struct hang_list_rest {
    char *file; /* owned */
    char *why;  /* owned */
};

struct hang_list {
    const char *folder;         /* borrowed */
    struct hang_list_row *rows; /* owned; the newest first */
    size_t row_count;
    struct hang_list_rest *rest; /* owned; by name */
    size_t rest_count;
    uint64_t other_count; /* files that are not called .argus */
};

/* Whether the first word of the command is a folder. */
bool hang_list_wanted(const struct arguments *arguments);

/* Reads the folder that is the first word. Deinit also after an error. */
struct argus_error *hang_list_read(struct session *session, const struct arguments *arguments,
                                   struct hang_list *ret);
void hang_list_deinit(struct hang_list *list);

struct argus_error *hang_list_print(struct session *session, const struct hang_list *list,
                                    bool json);

#endif
