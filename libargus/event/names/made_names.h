/* Parses names of code made at run time, whose text also contains the source file. */
#ifndef ARGUS_EVENT_MADE_NAMES_H
#define ARGUS_EVENT_MADE_NAMES_H

#include "argus/trace.h"
#include "base/strtab.h"

/* Splits `text` into function, source file and line, as far as it has them; otherwise all of it is
 * the function. Strings are added to `texts`. Sets function, source and line of `ret`. */
struct argus_error *made_name_read(const char *text, struct strtab *texts,
                                   struct argus_name_entry *ret);

/* The indices first … end - 1 of those `names` (sorted by place) that lie in the code at
 * `start`. */
struct made_range {
    size_t first, end;
};

struct made_range made_names_within(const struct argus_name_entry *names, size_t count,
                                    uint64_t start, uint64_t bytes);

/* Copies function, source and line of `read` to `name`, a place in the code at `start`. */
void made_name_put(const struct argus_name_entry *read, uint64_t start,
                   struct argus_name_entry *name);

#endif
