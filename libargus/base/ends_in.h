#ifndef ARGUS_BASE_ENDS_IN_H
#define ARGUS_BASE_ENDS_IN_H

#include <stdbool.h>
#include <string.h>

/* Whether `text` ends in `end`, and has something before it. */
static inline bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

#endif
