/* Whether a thread of this name was ever seen, and which names are similar. For --unwind, whose
 * name may be misspelt. */
#ifndef ARGUS_RECORDER_NAME_SEARCH_H
#define ARGUS_RECORDER_NAME_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol.h"

#define NAME_SEARCH_LIKE 3

struct name_search {
    const char *wanted; /* borrowed */
    bool found;         /* the name was seen */
    bool any_stack;     /* a stack of some name of --unwind was copied */
    size_t like_count;  /* similar names, the most similar first */
    unsigned distances[NAME_SEARCH_LIKE];
    char like[NAME_SEARCH_LIKE][PROTOCOL_COMM_BYTES];
};

/* Compares the name of one thread. */
void name_search_offer(struct name_search *search, const char *name);

/* "--unwind editr: no process or thread of this name was seen; names like it: editor, edit". `ret`
 * always gets a NUL. */
void name_search_write(const struct name_search *search, char *ret, size_t room);

#endif
