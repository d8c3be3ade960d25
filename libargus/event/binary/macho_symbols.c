/* The symbols of a Mach-O file, and the addresses of its functions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/macho_parts.h"

/* Apple's builder of shared caches gives this name to functions whose name it removed
 * (dyld-1378, cache_builder/NewSharedCacheBuilder.cpp). */
#define REMOVED "<redacted>"

static const uint8_t *linkedit_at(const struct macho *macho, uint64_t offset, uint64_t bytes)
{
    const struct macho_linkedit *edit = &macho->linkedit;
    if (offset < edit->first || !macho_lies_in(offset - edit->first, bytes, edit->length))
        return NULL;
    return edit->data + (offset - edit->first);
}

static struct argus_error *take_symbol(struct macho *macho, const struct macho_nlist *entry,
                                       const char *names, uint64_t names_bytes)
{
    bool is_here =
        (entry->type & MACHO_TYPE_MASK) == MACHO_TYPE_SECTION && !(entry->type & MACHO_DEBUG_MASK);
    const char *name = names + entry->name;
    if (!is_here || entry->name >= names_bytes || !memchr(name, '\0', names_bytes - entry->name) ||
        entry->section == 0 || entry->section > macho->sections_run.length)
        return NULL; /* of another file, for a debugger, or damaged: other segments may be usable */
    struct macho_symbol symbol = {
        .address = entry->value,
        .name = name[0] == '_' ? name + 1 : name,
        .is_function = macho->sections_run.data[entry->section - 1],
        .is_global = entry->type & MACHO_TYPE_GLOBAL,
    };
    bool added = strcmp(name, REMOVED) != 0 ? vec_push(&macho->symbols, symbol)
                                            : vec_push(&macho->starts, entry->value);
    return added ? NULL : argus_error_memory();
}

struct argus_error *macho_take_symbols(struct macho *macho, const uint8_t *entries, size_t count,
                                       const char *strings, uint64_t string_bytes)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++) {
        struct macho_nlist entry;
        memcpy(&entry, entries + i * sizeof(entry), sizeof(entry));
        error = take_symbol(macho, &entry, strings, string_bytes);
    }
    return error;
}

/* Distances, each as ULEB128, the first one from the header; 0 ends the list. */
static struct argus_error *take_starts(struct macho *macho, const struct macho_data *table)
{
    const uint8_t *at = linkedit_at(macho, table->offset, table->data_bytes);
    uint64_t address = 0, distance = 0;
    unsigned shift = 0;
    for (size_t i = 0; i < macho->segments.length && !address; i++)
        if (macho->segments.data[i].offset == 0 && macho->segments.data[i].file_bytes)
            address = macho->segments.data[i].address;
    for (uint32_t i = 0; at && i < table->data_bytes && shift < 64; i++) {
        distance |= (uint64_t)(at[i] & 0x7f) << shift;
        shift += 7;
        if (at[i] & 0x80)
            continue;
        if (!distance)
            break;
        address += distance;
        if (!vec_push(&macho->starts, address))
            return argus_error_memory();
        distance = shift = 0;
    }
    return NULL;
}

static int compare_symbols(const void *a, const void *b)
{
    const struct macho_symbol *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    if (left->is_global != right->is_global)
        return left->is_global
                   /* if an address has two names, the global one is preferred: it sorts last */
                   ? 1
                   : -1;
    return strcmp(left->name, right->name);
}

static int compare_starts(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

void macho_sort_symbols(struct macho *macho)
{
    if (macho->symbols.length)
        qsort(macho->symbols.data, macho->symbols.length, sizeof(*macho->symbols.data),
              compare_symbols);
    if (macho->starts.length)
        qsort(macho->starts.data, macho->starts.length, sizeof(*macho->starts.data),
              compare_starts);
}

/* The segments must be read before, whose sections tell which symbols are functions. */
struct argus_error *macho_take_tables(struct macho *macho, const struct macho_tables *tables)
{
    const struct macho_symtab *symtab = &tables->symtab;
    uint64_t entry_bytes = (uint64_t)symtab->symbol_count * sizeof(struct macho_nlist);
    const uint8_t *entries = linkedit_at(macho, symtab->symbols, entry_bytes);
    const uint8_t *strings = linkedit_at(macho, symtab->strings, symtab->string_bytes);
    struct argus_error *error = NULL;
    if (tables->symtab_offset && (!entries || !strings))
        return argus_error_create(ARGUS_ERROR_FORMAT,
                                  "at offset %" PRIu64
                                  ": a symbol table that ends beyond the end of the file",
                                  tables->symtab_offset);
    if (tables->symtab_offset)
        error = macho_take_symbols(macho, entries, symtab->symbol_count, (const char *)strings,
                                   symtab->string_bytes);
    if (!error)
        error = take_starts(macho, &tables->starts);
    if (!error)
        macho_sort_symbols(macho);
    return error;
}
