/* Makes text UTF-8: names come from other programs and files, and all code after the reader relies
 * on well-formed UTF-8. */
#ifndef ARGUS_BASE_UTF8_H
#define ARGUS_BASE_UTF8_H

#include <stddef.h>

/* Replaces every byte of `text` that is not part of well-formed UTF-8 (RFC 3629) by '?'. The length
 * does not change. */
void utf8_repair(char *text, size_t length);

#endif
