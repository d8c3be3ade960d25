/* Which files of a folder of `argus start --on-hang` stay. Hangs of one program with one signature are of one kind; of each kind the
 * longest stays, then the newest, then the next newest. So a program that freezes again and again takes no place from others.
 *
 * Only files are deleted that say themselves that --on-hang wrote them (argus/kept_hang.h) and still have the name that it gives: what a
 * person renamed or put there stays. It needs no memory of its own, so it goes on over restarts. */
#ifndef ARGUS_PLUGIN_COMMANDS_HANG_QUOTA_H
#define ARGUS_PLUGIN_COMMANDS_HANG_QUOTA_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

struct hang_quota {
    uint64_t most_of_kind; /* files */
    uint64_t most_bytes;   /* of all files together */
};

struct hang_file {
    char name[NAME_MAX + 1];
    char process[64];
    uint64_t signature; /* 0: not known */
    uint64_t wall_ns;   /* when it began; since 1970 */
    uint64_t duration_ns;
    uint64_t bytes;
    size_t place; /* in its kind: 0 is the last that would be deleted; by hang_quota_choose() */
    bool drop;    /* by hang_quota_choose() */
};

/* Sorts `files`, the newest first, and says of each whether it is to be deleted. */
void hang_quota_choose(struct hang_file *files, size_t count, const struct hang_quota *quota);

/* Applies the quota to the current folder. `name`: the file that was just written; `*ret_full`: its kind has lost one. */
struct argus_error *hang_quota_apply(const struct hang_quota *quota, const char *name,
                                     bool *ret_full);

/* Whether --on-hang gives such names to files. */
bool hang_quota_is_name(const char *name);

#endif
