/* Pseudonyms: equal for equal texts, and not to be traced back without the key. */
#ifndef ARGUS_FLEET_PSEUDONYM_H
#define ARGUS_FLEET_PSEUDONYM_H

#include <stddef.h>

/* Writes "KIND-" and 12 hexadecimal digits to `buffer` and returns it. `salt`: the key as 32
 * hexadecimal digits. */
const char *pseudonym(const char *salt, const char *kind, const char *text, size_t length,
                      char *buffer, size_t bytes);

#endif
