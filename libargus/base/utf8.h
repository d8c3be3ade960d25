/* Names come from other people's programs and files; everything behind the reader may count on
 * UTF-8. */
#ifndef ARGUS_BASE_UTF8_H
#define ARGUS_BASE_UTF8_H

#include <stddef.h>

/* Replaces every byte of `text` that is not part of well-formed UTF-8 (RFC 3629) by '?'. The length
 * stays. */
void utf8_repair(char *text, size_t length);

#endif
