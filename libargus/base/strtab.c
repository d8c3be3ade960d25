#include "base/strtab.h"

#include <stdlib.h>
#include <string.h>

/* uthash must not call exit() if an allocation fails: the library runs inside the user's
 * debugger. */
#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(elem) ((elem)->failed = true)
#include <stdbool.h>
#include <uthash.h>

#include "base/vec.h"

struct entry {
    UT_hash_handle hh;
    uint32_t id;
    bool failed;
    char text[];
};

struct strtab {
    struct entry *by_text; /* owned hash over the entries */
    VEC(struct entry *) entries;
};

struct strtab *strtab_create(void)
{
    struct strtab *table = calloc(1, sizeof(*table));
    uint32_t id;
    struct argus_error *error = table ? strtab_intern(table, "", 0, &id) : NULL;
    if (error) {
        argus_error_destroy(error);
        strtab_destroy(table);
        return NULL;
    }
    return table;
}

void strtab_destroy(struct strtab *table)
{
    if (!table)
        return;
    HASH_CLEAR(hh, table->by_text);
    for (size_t i = 0; i < table->entries.length; i++)
        free(table->entries.data[i]);
    vec_deinit(&table->entries);
    free(table);
}

struct argus_error *strtab_intern(struct strtab *table, const char *text, size_t length,
                                  uint32_t *ret)
{
    length = strnlen(text, length);
    struct entry *entry;
    HASH_FIND(hh, table->by_text, text, length, entry);
    if (entry) {
        *ret = entry->id;
        return NULL;
    }
    entry = calloc(1, sizeof(*entry) + length + 1);
    if (!entry || !vec_reserve(&table->entries, 1)) {
        free(entry);
        return argus_error_memory();
    }
    memcpy(entry->text, text, length);
    entry->id = (uint32_t)table->entries.length;
    HASH_ADD_KEYPTR(hh, table->by_text, entry->text, length, entry);
    if (entry->failed) {
        free(entry);
        return argus_error_memory();
    }
    table->entries.data[table->entries.length++] = entry;
    *ret = entry->id;
    return NULL;
}

const char *strtab_get(const struct strtab *table, uint32_t id)
{
    return id < table->entries.length ? table->entries.data[id]->text : "";
}

uint32_t strtab_count(const struct strtab *table)
{
    return (uint32_t)table->entries.length;
}
