#include "linux/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strtab.h"
#include "base/vec.h"

struct symbol {
    uint64_t address;
    uint32_t name, module; /* in the string table */
};

struct symbols {
    VEC(struct symbol) list;
    struct strtab *strings;
};

/* "address type name\t[module]"; only code. */
static struct argus_error *take_line(struct symbols *symbols, char *line)
{
    char *rest, *save = NULL;
    uint64_t address = strtoull(line, &rest, 16);
    char *type = strtok_r(rest, " \t\n", &save), *name = strtok_r(NULL, " \t\n", &save);
    char *module = strtok_r(NULL, " \t\n[]", &save);
    if (address == 0 || !type || !name || !strchr("tTwW", type[0]))
        return NULL;
    struct symbol symbol = {.address = address};
    struct argus_error *error = strtab_intern(symbols->strings, name, strlen(name), &symbol.name);
    if (!error && module)
        error = strtab_intern(symbols->strings, module, strlen(module), &symbol.module);
    if (!error && !vec_push(&symbols->list, symbol))
        error = argus_error_memory();
    return error;
}

static struct argus_error *read_symbols(struct symbols *symbols)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    if (!file)
        return errno == ENOENT ? NULL : argus_error_os(errno, "cannot read /proc/kallsyms");
    struct argus_error *error = NULL;
    char line[1024];
    while (!error && fgets(line, sizeof(line), file))
        error = take_line(symbols, line);
    fclose(file);
    return error;
}

static int compare_symbols(const void *a, const void *b)
{
    const struct symbol *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

static int compare_addresses(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* Merges both sorted lists; writes each symbol that contains an address once. */
static struct argus_error *write_hits(const struct symbols *symbols, const uint64_t *addresses,
                                      size_t count, struct argus_writer *writer)
{
    VEC(struct argus_kernel_symbol) hits = {0};
    struct argus_error *error = NULL;
    size_t at = 0, length = symbols->list.length;
    for (size_t i = 0; i < count && !error; i++) {
        size_t before = at;
        while (at < length && symbols->list.data[at].address <= addresses[i])
            at++;
        if (at == 0 || (at == before && hits.length > 0))
            continue;
        const struct symbol *symbol = &symbols->list.data[at - 1];
        struct argus_kernel_symbol hit = {.address = symbol->address,
                                          .name = strtab_get(symbols->strings, symbol->name),
                                          .module = strtab_get(symbols->strings, symbol->module)};
        if (!vec_push(&hits, hit))
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
    struct symbols symbols = {.strings = strtab_create()};
    struct argus_error *error = symbols.strings ? read_symbols(&symbols) : argus_error_memory();
    if (!error && symbols.list.length > 0) {
        qsort(symbols.list.data, symbols.list.length, sizeof(*symbols.list.data), compare_symbols);
        qsort(addresses, count, sizeof(*addresses), compare_addresses);
        error = write_hits(&symbols, addresses, count, writer);
    }
    strtab_destroy(symbols.strings);
    vec_deinit(&symbols.list);
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
