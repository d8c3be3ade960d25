/* The last steps of loading tables, which need all of them. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace/code_names.h"
#include "trace/image_file.h"
#include "trace/late_stacks.h"
#include "trace/reader.h"

static int compare_symbols(const void *left, const void *right)
{
    const struct argus_kernel_symbol *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    int names = strcmp(a->name, b->name);
    return names ? names : strcmp(a->module, b->module);
}

static void sort_symbols(struct trace_tables *tables)
{
    struct argus_kernel_symbol *symbols = tables->symbols.data;
    size_t kept = 0;
    if (tables->symbols.length)
        qsort(symbols, tables->symbols.length, sizeof(*symbols), compare_symbols);
    for (size_t i = 0; i < tables->symbols.length; i++) /* a ring contains them repeatedly */
        if (i == 0 || compare_symbols(&symbols[kept - 1], &symbols[i]) != 0)
            symbols[kept++] = symbols[i];
    tables->symbols.length = kept;
}

/* Of several entries for one file, the one written last sorts first. */
static int compare_build_ids(const void *left, const void *right)
{
    const struct argus_image_entry *a = left, *b = right;
    int files = image_file_compare(a, b);
    return files ? files : a->pid < b->pid ? 1 : -1;
}

/* Keeps only the last entry written for each file. */
static void sort_build_ids(struct trace_tables *tables)
{
    struct argus_image_entry *build_ids = tables->build_ids.data;
    size_t kept = 0;
    if (tables->build_ids.length)
        qsort(build_ids, tables->build_ids.length, sizeof(*build_ids), compare_build_ids);
    for (size_t i = 0; i < tables->build_ids.length; i++)
        if (i == 0 || image_file_compare(&build_ids[kept - 1], &build_ids[i]) != 0)
            build_ids[kept++] = build_ids[i];
    tables->build_ids.length = kept;
}

static void apply_build_ids(struct trace_tables *tables)
{
    size_t count = tables->build_ids.length;
    for (size_t i = 0; i < tables->images.length && count; i++) {
        struct argus_image_entry *image = &tables->images.data[i];
        if (image->build_id_bytes)
            continue;
        const struct argus_image_entry *found =
            bsearch(image, tables->build_ids.data, count, sizeof(*found), image_file_compare);
        if (!found)
            continue;
        memcpy(image->build_id, found->build_id, sizeof(image->build_id));
        image->build_id_bytes = found->build_id_bytes;
    }
}

struct place {
    uint32_t number, index;
};

/* By number; of several entries with one number, the one written last sorts first. */
static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->index > b->index ? -1 : a->index < b->index;
}

/* Sorts entries by their number, found at offset `number_at` in each, and keeps only the last one
 * written for each number (a ring contains them repeatedly). False without memory. */
static bool keep_last(void *data, size_t *length, size_t entry_bytes, size_t number_at)
{
    size_t count = *length, kept = 0;
    struct place *order = malloc((count + 1) * sizeof(*order));
    char *sorted = malloc((count + 1) * entry_bytes);
    bool done = order && sorted;
    for (size_t i = 0; done && i < count; i++) {
        order[i].index = (uint32_t)i;
        memcpy(&order[i].number, (char *)data + i * entry_bytes + number_at, sizeof(uint32_t));
    }
    if (done && count) {
        qsort(order, count, sizeof(*order), compare_places);
        for (size_t i = 0; i < count; i++)
            if (i == 0 || order[i - 1].number != order[i].number)
                memcpy(sorted + kept++ * entry_bytes, (char *)data + order[i].index * entry_bytes,
                       entry_bytes);
        memcpy(data, sorted, kept * entry_bytes);
        *length = kept;
    }
    free(order);
    free(sorted);
    return done;
}

static int compare_bytes(const struct argus_code_entry *a, const struct argus_code_entry *b)
{
    uint32_t least = a->table_bytes < b->table_bytes ? a->table_bytes : b->table_bytes;
    int bytes = least ? memcmp(a->table, b->table, least) : 0;
    return bytes ? bytes : (a->table_bytes > b->table_bytes) - (a->table_bytes < b->table_bytes);
}

/* By process, address and time, then by all other members. */
static int compare_code(const void *left, const void *right)
{
    const struct argus_code_entry *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->seen_ticks != b->seen_ticks)
        return a->seen_ticks < b->seen_ticks ? -1 : 1;
    int names = strcmp(a->function, b->function);
    if (names)
        return names;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    int sources = strcmp(a->source, b->source);
    return sources ? sources : compare_bytes(a, b);
}

static void finish_code(struct trace_tables *tables)
{
    static const uint8_t no_table[1];
    struct argus_code_entry *code = tables->code.data;
    size_t at = 0, kept = 0, count = tables->code.length;
    for (size_t i = 0; i < count; at += code[i++].table_bytes)
        code[i].table = tables->code_bytes.data ? tables->code_bytes.data + at : no_table;
    if (count)
        qsort(code, count, sizeof(*code), compare_code);
    for (size_t i = 0; i < count; i++) /* a ring contains them repeatedly */
        if (i == 0 || compare_code(&code[kept - 1], &code[i]) != 0)
            code[kept++] = code[i];
    tables->code.length = kept;
}

bool tables_finish(struct trace_tables *tables)
{
    sort_symbols(tables);
    sort_build_ids(tables);
    apply_build_ids(tables);
    finish_code(tables);
    return late_stacks_finish(tables) && names_finish(tables) &&
           keep_last(tables->probes.data, &tables->probes.length, sizeof(*tables->probes.data),
                     offsetof(struct argus_probe_entry, number)) &&
           keep_last(tables->flags.data, &tables->flags.length, sizeof(*tables->flags.data),
                     offsetof(struct argus_flag_entry, number));
}
