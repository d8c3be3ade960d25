/* Makes text UTF-8: names come from other programs and files, and all code after the reader relies
 * on well-formed UTF-8. */
#ifndef ARGUS_BASE_UTF8_H
#define ARGUS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Replaces every byte of `text` that is not part of well-formed UTF-8 (RFC 3629) by '?'. The length
 * does not change. */
void utf8_repair(char *text, size_t length);

/* The same for a name: also replaces line breaks and tabs, which would look like Argus's own output
 * (shown.h). */
void utf8_repair_name(char *text, size_t length);

/* The bytes of the well-formed sequence at the beginning of `text`; 0: there is none. `length` is
 * at least 1. */
size_t utf8_length(const char *text, size_t length);
/* How many bytes of `text` are at most `most` and end between two characters. */
size_t utf8_cut(const char *text, size_t length, size_t most);
/* Whether all of `text` is the beginning of a longer sequence. `length` is at least 1. */
bool utf8_is_begun(const char *text, size_t length);

#endif
