/* Counts what a foreign file has and Argus does not use, by kind, to say it. */
#ifndef ARGUS_IMPORTER_OTHER_KINDS_H
#define ARGUS_IMPORTER_OTHER_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/idmap.h"
#include "base/vec.h"

struct other_kind {
    char *name; /* owned */
    uint64_t count;
};

/* Begins as zeros. */
struct other_kinds {
    VEC(struct other_kind) kinds;
    struct idmap place_of_name;
    uint64_t count; /* of all kinds, also of those that are too many to be kept */
};

void other_kinds_deinit(struct other_kinds *kinds);

/* The name is copied, and cut if it is long. False: there was no memory. */
bool other_kinds_add(struct other_kinds *kinds, const char *name, uint64_t count);

/* The most frequent ones: "print (21344), binder_transaction (300) and 12 other kinds". Empty:
 * there are none. */
void other_kinds_write(const struct other_kinds *kinds, char *ret, size_t room);

#endif
