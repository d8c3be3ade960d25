/* Names memory that is reached from a variable of a file, and reads such a name.
 *
 *     print_members FILE VARIABLE[+OFFSET][->OFFSET…] BYTES [BITS]
 *     print_members FILE --read NAME
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/data_symbols.h"
#include "event/binary/elf_members.h"

static int read_name(const char *path, const char *text)
{
    struct argus_data_place place;
    struct argus_error *error = argus_data_file_members_read(path, text, &place);
    if (error)
        printf("%s\n", error->message);
    else
        printf("%s %" PRIu64 "\n", place.text, place.bytes);
    argus_error_destroy(error);
    return 0;
}

static int print_name(const char *path, char *text, uint32_t bytes, uint64_t bits)
{
    struct elf_identity any = {.build_id_bytes = 0};
    struct argus_data_symbol symbol;
    struct elf_member member;
    int64_t offsets[8];
    bool stale, found = false;
    uint32_t links = 0;
    for (char *arrow = strstr(text, "->"); arrow; arrow = strstr(arrow + 2, "->")) {
        offsets[links++] = strtoll(arrow + 2, NULL, 0);
        *arrow = '\0';
    }
    char *plus = strchr(text, '+');
    uint64_t offset = plus ? strtoull(plus + 1, NULL, 0) : 0;
    if (plus)
        *plus = '\0';
    struct argus_error *error = argus_data_file_symbol_find(path, text, &symbol, &found);
    struct elf_file *file = elf_file_open(path, &any, &stale);
    struct elf_member_root root = {.address = symbol.address + offset,
                                   .is_thread_local = symbol.is_thread_local};
    struct elf_reach reach = {links, offsets, bytes, bits};
    if (error || !found || !file)
        return 1;
    if (elf_member_text(file, &root, &reach, &member))
        printf("%s %" PRIu32 "%s\n", member.text, member.skipped_bytes,
               member.is_bit_field ? " bits" : "");
    else
        printf("-\n");
    elf_file_close(file);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[2], "--read") == 0)
        return read_name(argv[1], argv[3]);
    if (argc < 4)
        return 1;
    return print_name(argv[1], argv[2], (uint32_t)strtoul(argv[3], NULL, 0),
                      argc > 4 ? strtoull(argv[4], NULL, 0) : 0);
}
