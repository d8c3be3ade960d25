/* Which files of a folder of `argus start --on-hang` are kept. Hangs of one program with one
 * signature are of one kind. Of each kind the longest hang is kept first, then the newest, then the
 * next newest. If two files show one freeze, because the recorder had reported it in two ways, one
 * is kept. If all files together are too large, the program with the most files loses one. So a
 * program that freezes again and again does not displace files of others.
 *
 * Files are deleted only if their notes say that --on-hang wrote them (argus/kept_hang.h) and they
 * still have the name that it gave them. Files that a person renamed or added are kept. The quota
 * keeps no state of its own, so it works across restarts.
 */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_QUOTA_H
#define ARGUS_PLUGIN_COMMANDS_HANG_QUOTA_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

struct hang_quota {
    uint64_t most_of_kind; /* number of files */
    uint64_t most_bytes;   /* of all files together */
};

struct hang_file {
    char name[NAME_MAX + 1];
    char process[64];
    uint64_t signature; /* 0: not known */
    uint64_t wall_ns;   /* begin of the hang; since 1970 */
    uint64_t duration_ns;
    uint64_t order_ns; /* end of the trace, since 1970: of two snapshots, which was the first */
    uint64_t pid, tid; /* the thread that froze */
    uint64_t bytes;
    /* rank in its kind, where 0 is the last to be deleted; set by hang_quota_choose() */
    size_t place;
    size_t sibling_count; /* files of its program that stay; set by hang_quota_choose() */
    bool drop;            /* to be deleted; set by hang_quota_choose() */
    bool is_twin;         /* … because another file shows the same freeze */
};

/* Sorts `files`, the newest first, and marks those that are to be deleted. */
void hang_quota_choose(struct hang_file *files, size_t count, const struct hang_quota *quota);

/* Applies the quota to the current folder. `name`: the file just written; `*ret_full`: its kind has
 * lost a file. */
struct argus_error *hang_quota_apply(const struct hang_quota *quota, const char *name,
                                     bool *ret_full);

/* Whether the name has the form that --on-hang gives to files. */
bool hang_quota_is_name(const char *name);

#endif
