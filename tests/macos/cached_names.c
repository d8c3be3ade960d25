/* The names of functions in dyld's shared cache, by the code that argus uses on a Mac
 * (event/macos/macho_as_elf.c), built for Linux as well:
 *
 *     cached_names names CACHE UUID DISTANCE…      # a line for each distance from the library's header
 *     cached_names damage CACHE [FILE…]            # opens it with each byte of its files damaged
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/dyld_cache.h"
#include "event/binary/elf_file.h"

static const char *cache_path;

const char *dyld_shared_cache_file_path(void);

/* Of libSystem on a Mac. */
const char *dyld_shared_cache_file_path(void)
{
    return cache_path;
}

static void print_name(struct elf_file *file, uint64_t distance)
{
    uint64_t address, offset, start;
    const char *name = elf_file_address(file, distance, &address)
                           ? elf_file_function(file, address, &offset)
                           : NULL;
    if (!name)
        puts("?");
    else if (elf_file_function_start(file, address, &start) && start + offset == address)
        printf("%s+%llu\n", name, (unsigned long long)offset);
    else
        printf("%s begins elsewhere\n", name);
}

static int names(char **words)
{
    struct elf_identity identity = {.build_id_bytes = MACHO_UUID_BYTES};
    struct dyld_cache *cache = NULL;
    struct argus_error *error = dyld_cache_open(cache_path, &cache);
    bool stale;
    if (error) {
        fprintf(stderr, "%s\n", error->message);
        argus_error_destroy(error);
        return 1;
    }
    dyld_cache_close(cache);
    for (int i = 0; i < MACHO_UUID_BYTES; i++)
        sscanf(words[0] + 2 * i, "%2hhx", &identity.build_id[i]);
    struct elf_file *file = elf_file_open("/usr/lib/in-no-folder.dylib", &identity, &stale);
    if (!file)
        puts("no such library");
    for (char **word = words + 1; *word && file; word++)
        print_name(file, strtoull(*word, NULL, 0));
    elf_file_close(file);
    return 0;
}

/* --- damage --- */

/* Opened or refused, but nothing may be read beyond the end, which the sanitizers check. */
static void look(void)
{
    struct dyld_cache *cache = NULL;
    argus_error_destroy(dyld_cache_open(cache_path, &cache));
    for (uint8_t first = 1; cache && first < 200; first = (uint8_t)(first + 100)) {
        uint8_t uuid[MACHO_UUID_BYTES];
        struct macho *macho = NULL;
        size_t count = 0;
        for (uint8_t i = 0; i < MACHO_UUID_BYTES; i++)
            uuid[i] = (uint8_t)(first + i);
        argus_error_destroy(dyld_cache_image(cache, uuid, &macho));
        const struct macho_symbol *symbols = macho ? macho_symbols(macho, &count) : NULL;
        for (size_t i = 0; i < count; i++)
            macho_find(macho, symbols[i].address + strlen(symbols[i].name), true);
        macho_close(macho);
    }
    dyld_cache_close(cache);
}

static bool put_byte(const char *path, long at, int value)
{
    FILE *file = fopen(path, "r+b");
    bool put = file && fseek(file, at, SEEK_SET) == 0 && fputc(value, file) != EOF;
    return file && fclose(file) == 0 && put;
}

/* Only bytes that are not zero, and those of the header: the rest is padding. */
static int damage_file(const char *path)
{
    static uint8_t bytes[1 << 17];
    static const uint8_t values[] = {0x01, 0x7f, 0x80, 0xff};
    FILE *file = fopen(path, "rb");
    long length = file ? (long)fread(bytes, 1, sizeof(bytes), file) : 0;
    if (!file || fclose(file) != 0)
        return 1;
    for (long at = 0; at < length; at++) {
        if (!bytes[at] && at > 0x240)
            continue;
        for (size_t i = 0; i < sizeof(values); i++) {
            if (!put_byte(path, at, bytes[at] ^ values[i]))
                return 1;
            look();
        }
        if (!put_byte(path, at, bytes[at]))
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    cache_path = argv[2];
    if (strcmp(argv[1], "names") == 0 && argc > 3)
        return names(argv + 3);
    int failed = 0;
    for (char **path = argv + 2; *path; path++)
        failed |= damage_file(*path);
    return failed;
}
