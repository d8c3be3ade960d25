/* Interned strings: every distinct string is stored once and identified by a 32-bit ID.
 *
 * Id 0 is the empty string. Ids are dense and in order of first interning, so the same input gives
 * the same ids. Not thread-safe.
 */
#ifndef ARGUS_BASE_STRTAB_H
#define ARGUS_BASE_STRTAB_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

struct strtab;

/* An empty table; NULL without memory. */
struct strtab *strtab_create(void);
void strtab_destroy(struct strtab *table);

/* The id of `text` of `length` bytes (need not be NUL-terminated; NUL bytes end it). */
struct argus_error *strtab_intern(struct strtab *table, const char *text, size_t length,
                                  uint32_t *ret);

/* The NUL-terminated string of `id`, borrowed, valid as long as the table; "" for an id that does
 * not exist. */
const char *strtab_get(const struct strtab *table, uint32_t id);

/* Number of strings, ID 0 included. */
uint32_t strtab_count(const struct strtab *table);

#endif
