/* Pseudonyms: equal for equal texts, and not to be traced back without the key. */
#ifndef ARGUS_FLEET_PSEUDONYM_H
#define ARGUS_FLEET_PSEUDONYM_H

#include <stdbool.h>
#include <stddef.h>

enum { PSEUDONYM_DIGITS = 12 };

/* Writes "KIND-" and 12 hexadecimal digits to `buffer` and returns it. `salt`: the key as 32
 * hexadecimal digits. */
const char *pseudonym(const char *salt, const char *kind, const char *text, size_t length,
                      char *buffer, size_t bytes);

/* Whether the first `length` bytes of the text have the form that pseudonym() gives it for this
 * kind. */
bool is_pseudonym(const char *text, size_t length, const char *kind);

#endif
