#include "linux/kallsyms.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "base/vec.h"

#define LONGEST_LINE 1024

/* The last symbol at or before a wanted address that was read so far. */
struct nearest {
    uint64_t address;
    char *line; /* with its name and module; owned, of LONGEST_LINE bytes; NULL: none */
};

static int compare_addresses(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* "address type name\t[module]"; only code. Most of the kernel's symbols are nobody's nearest, so
 * a line is only copied. False without memory. */
static bool take_line(const char *line, const uint64_t *addresses, size_t count,
                      struct nearest *nearest)
{
    char *rest;
    uint64_t address = strtoull(line, &rest, 16);
    size_t i;
    LOWER_BOUND(i, count, addresses[i] < address);
    if (address == 0 || i == count || rest[0] != ' ' || !rest[1] || !strchr("tTwW", rest[1]) ||
        (nearest[i].line && nearest[i].address > address))
        return true;
    if (!nearest[i].line)
        nearest[i].line = malloc(LONGEST_LINE);
    if (!nearest[i].line)
        return false;
    nearest[i].address = address;
    memcpy(nearest[i].line, rest + 2, strlen(rest + 2) + 1);
    return true;
}

static struct argus_error *read_symbols(const uint64_t *addresses, size_t count,
                                        struct nearest *nearest)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    if (!file)
        return errno == ENOENT ? NULL : argus_error_os(errno, "cannot read /proc/kallsyms");
    bool taken = true;
    char line[LONGEST_LINE];
    while (taken && fgets(line, sizeof(line), file))
        taken = take_line(line, addresses, count, nearest);
    fclose(file);
    return taken ? NULL : argus_error_memory();
}

/* Writes each symbol that contains an address once. It is the nearest of the first address behind
 * it; addresses behind that one may have none of their own. */
static struct argus_error *write_nearest(struct nearest *nearest, size_t count,
                                         struct argus_writer *writer)
{
    VEC(struct argus_kernel_symbol) hits = {0};
    struct argus_error *error = NULL;
    for (size_t i = 0; i < count && !error; i++) {
        if (!nearest[i].line)
            continue;
        char *save = NULL, *name = strtok_r(nearest[i].line, " \t\n", &save);
        const char *module = strtok_r(NULL, " \t\n[]", &save);
        struct argus_kernel_symbol hit = {
            .address = nearest[i].address, .name = name, .module = module ? module : ""};
        if (name && !vec_push(&hits, hit))
            error = argus_error_memory();
    }
    if (!error && hits.length > 0)
        error = argus_writer_kernel_symbols(writer, hits.data, hits.length);
    vec_deinit(&hits);
    return error;
}

struct argus_error *kallsyms_write(uint64_t *addresses, size_t count, struct argus_writer *writer)
{
    if (count == 0)
        return NULL;
    struct nearest *nearest = calloc(count, sizeof(*nearest));
    if (!nearest)
        return argus_error_memory();
    qsort(addresses, count, sizeof(*addresses), compare_addresses);
    struct argus_error *error = read_symbols(addresses, count, nearest);
    if (!error)
        error = write_nearest(nearest, count, writer);
    for (size_t i = 0; i < count; i++)
        free(nearest[i].line);
    free(nearest);
    return error;
}

uint64_t kallsyms_find(const char *name)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    if (!file)
        return 0;
    uint64_t address = 0;
    char line[1024];
    while (!address && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        char *rest;
        uint64_t candidate = strtoull(line, &rest, 16);
        /* " t name"; a module's symbol is followed by a tab and the module */
        if (strlen(rest) > 3 && strcmp(rest + 3, name) == 0)
            address = candidate;
    }
    fclose(file);
    return address;
}
