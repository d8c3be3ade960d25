/* Names of code made at run time, as its makers write them: with the source file in the same text. */
#ifndef ARGUS_EVENT_MADE_NAMES_H
#define ARGUS_EVENT_MADE_NAMES_H

#include "argus/trace.h"
#include "base/strtab.h"

/* Splits `text` into function, source file and line, as far as it has them; else all of it is the function. Strings are put into
 * `texts`. Function, source and line of `ret` are set. */
struct argus_error *made_name_read(const char *text, struct strtab *texts,
                                   struct argus_name_entry *ret);

/* Those of `names` (sorted by place) that lie in the code at `start` are the indices first … end - 1. */
struct made_range {
    size_t first, end;
};

struct made_range made_names_within(const struct argus_name_entry *names, size_t count,
                                    uint64_t start, uint64_t bytes);

/* Gives `name`, a place in the code at `start`, the function, source and line of `read`. */
void made_name_put(const struct argus_name_entry *read, uint64_t start,
                   struct argus_name_entry *name);

#endif
