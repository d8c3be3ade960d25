/* Prints the distinct chains of functions in the code of a function of a file, a line each, innermost
 * first: "inner:12 outer:30", with the line at which each one was. At the end, a file of split debug
 * information that is missing.
 *
 *     print_inlines FILE SYMBOL
 */
#include <stdio.h>
#include <string.h>

#include "event/binary/elf_inlines.h"

static void print_chain(struct elf_file *file, uint64_t address, const char *symbol,
                        char *line_before, size_t bytes)
{
    struct elf_inline inlines[ELF_INLINES_MAX];
    char line[4096];
    uint32_t number;
    size_t used = 0, count = elf_file_inlines(file, address, inlines);
    if (!elf_file_line(file, address, &number))
        number = 0;
    for (size_t i = 0; i < count && used < sizeof(line); i++) {
        used += (size_t)snprintf(line + used, sizeof(line) - used, "%s:%u ", inlines[i].function,
                                 number);
        number = inlines[i].line;
    }
    if (used < sizeof(line))
        snprintf(line + used, sizeof(line) - used, "%s:%u", symbol, number);
    if (strcmp(line, line_before) != 0)
        puts(line);
    snprintf(line_before, bytes, "%s", line);
}

int main(int argc, char **argv)
{
    struct elf_identity any = {.build_id_bytes = 0};
    bool stale;
    struct elf_file *file = argc == 3 ? elf_file_open(argv[1], &any, &stale) : NULL;
    if (!file)
        return 1;
    char line[4096] = "";
    uint64_t start, offset;
    size_t bytes;
    for (size_t i = 0; elf_file_code(file, i, &start, &bytes); i++)
        for (uint64_t address = start; address < start + bytes; address++) {
            const char *function = elf_file_function(file, address, &offset);
            if (function && strstr(function, argv[2]))
                print_chain(file, address, argv[2], line, sizeof(line));
        }
    const char *missing = elf_file_missing_split(file, &bytes);
    if (missing)
        printf("missing %zu: %s\n", bytes, missing);
    elf_file_close(file);
    return 0;
}
