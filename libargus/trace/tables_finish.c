/* What can be done with the tables only when all of them are read. */
#include <stdlib.h>
#include <string.h>

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
    for (size_t i = 0; i < tables->symbols.length; i++) /* a ring repeats them */
        if (i == 0 || compare_symbols(&symbols[kept - 1], &symbols[i]) != 0)
            symbols[kept++] = symbols[i];
    tables->symbols.length = kept;
}

static int compare_files(const void *left, const void *right)
{
    const struct argus_image_entry *a = left, *b = right;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    if (a->dev_major != b->dev_major)
        return a->dev_major < b->dev_major ? -1 : 1;
    if (a->dev_minor != b->dev_minor)
        return a->dev_minor < b->dev_minor ? -1 : 1;
    return strcmp(a->path, b->path);
}

/* Of several for one file the last one written comes first. */
static int compare_build_ids(const void *left, const void *right)
{
    const struct argus_image_entry *a = left, *b = right;
    int files = compare_files(a, b);
    return files ? files : a->pid < b->pid ? 1 : -1;
}

/* Keeps the last one written for each file. */
static void sort_build_ids(struct trace_tables *tables)
{
    struct argus_image_entry *build_ids = tables->build_ids.data;
    size_t kept = 0;
    if (tables->build_ids.length)
        qsort(build_ids, tables->build_ids.length, sizeof(*build_ids), compare_build_ids);
    for (size_t i = 0; i < tables->build_ids.length; i++)
        if (i == 0 || compare_files(&build_ids[kept - 1], &build_ids[i]) != 0)
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
            bsearch(image, tables->build_ids.data, count, sizeof(*found), compare_files);
        if (!found)
            continue;
        memcpy(image->build_id, found->build_id, sizeof(image->build_id));
        image->build_id_bytes = found->build_id_bytes;
    }
}

/* By number; of several with one number the last one written, which has the highest address, comes first. */
static int compare_probes(const void *left, const void *right)
{
    const struct argus_probe_entry *a = *(const struct argus_probe_entry *const *)left;
    const struct argus_probe_entry *b = *(const struct argus_probe_entry *const *)right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a > b ? -1 : a < b;
}

/* Sorts, and keeps the last one written of each number: a ring repeats them. False without memory. */
static bool sort_probes(struct trace_tables *tables)
{
    size_t count = tables->probes.length, kept = 0;
    const struct argus_probe_entry **order = malloc((count + 1) * sizeof(*order));
    struct argus_probe_entry *sorted = malloc((count + 1) * sizeof(*sorted));
    bool done = order && sorted;
    if (done && count) {
        for (size_t i = 0; i < count; i++)
            order[i] = &tables->probes.data[i];
        qsort(order, count, sizeof(*order), compare_probes);
        for (size_t i = 0; i < count; i++)
            if (i == 0 || order[i - 1]->number != order[i]->number)
                sorted[kept++] = *order[i];
        memcpy(tables->probes.data, sorted, kept * sizeof(*sorted));
        tables->probes.length = kept;
    }
    free(order);
    free(sorted);
    return done;
}

bool tables_finish(struct trace_tables *tables)
{
    sort_symbols(tables);
    sort_build_ids(tables);
    apply_build_ids(tables);
    return sort_probes(tables);
}
