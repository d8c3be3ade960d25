/* Parsing small languages. Each function moves `*at` behind what it has read; if that is not there,
 * it leaves `*at` unchanged. */
#ifndef ARGUS_BASE_SCAN_H
#define ARGUS_BASE_SCAN_H

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A decimal number that is at most `most`. */
static inline bool scan_number(const char **at, uint64_t most, uint64_t *ret)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *ret = strtoull(*at, &end, 10);
    *at = end;
    return errno == 0 && *ret <= most;
}

static inline bool scan_text(const char **at, const char *text)
{
    size_t length = strlen(text);
    if (strncmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}

#endif
