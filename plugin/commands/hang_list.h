/* `argus hangs FOLDER`: lists the traces of a folder with their hangs. A trace is analysed only if
 * the file does not name its hang itself (argus/kept_hang.h). */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_LIST_H
#define ARGUS_PLUGIN_COMMANDS_HANG_LIST_H

#include "argus/kept_hang.h"
#include "plugin/command.h"

/* A trace and its hang. If it was not kept for a hang, the first one that `argus hangs FILE`
 * lists. */
struct hang_list_row {
    char *file; /* name in the folder; owned */
    struct argus_kept_hang hang;
    uint64_t wall_ns; /* when it began; since 1970 */
    /* hangs found by an analysis of the trace; 0: not analysed, because the file names its hang */
    uint64_t hang_count;
};

/* A file with a trace's name that cannot be read, or that has no hang. */
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
    uint64_t other_count; /* number of files not named .argus */
};

/* Whether the first word of the command is a folder. */
bool hang_list_wanted(const struct arguments *arguments);

/* Reads the folder that is the command's first word. Deinit also after an error. */
struct argus_error *hang_list_read(struct session *session, const struct arguments *arguments,
                                   struct hang_list *ret);
void hang_list_deinit(struct hang_list *list);

struct argus_error *hang_list_print(struct session *session, const struct hang_list *list,
                                    bool json);

#endif
