/* The reader of Mach-O files, on files made here byte by byte, whole and damaged; and, with
 * arguments, on one that a linker made:
 *
 *     test_macos_macho FILE aarch64|x86_64 FUNCTION…
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/macho.h"
#include "event/binary/macho_layout.h"

#define PATH "test.macho"

/* Two functions and a variable, and a symbol of another file. */
struct image {
    struct macho_header header;
    struct macho_segment text;
    struct macho_section code;
    struct macho_segment data;
    struct macho_section variables;
    struct macho_command uuid_command;
    uint8_t uuid[MACHO_UUID_BYTES];
    struct macho_symtab symtab;
    struct macho_nlist symbols[5];
    char names[40];
};

enum { COMMANDS = 4, BASE = 0x4000, DATA = 0x8000 };

static const char names[40] = "\0_first\0_second\0_flag\0_puts\0.local\0";

static struct image make_image(void)
{
    struct image image = {
        .header = {MACHO_MAGIC, MACHO_CPU_ARM64, 0, 6, COMMANDS, 0, 0, 0},
        .text = {MACHO_SEGMENT, sizeof(struct macho_segment) + sizeof(struct macho_section),
                 "__TEXT", BASE, 0x1000, 0, 0x1000, 5, 5, 1, 0},
        .code = {.flags = MACHO_PURE_INSTRUCTIONS},
        .data = {MACHO_SEGMENT, sizeof(struct macho_segment) + sizeof(struct macho_section),
                 "__DATA", DATA, 0x1000, 0x1000, 0x100, 3, 3, 1, 0},
        .uuid_command = {MACHO_UUID, sizeof(struct macho_command) + MACHO_UUID_BYTES},
        .uuid = {1, 2, 3},
        .symtab = {MACHO_SYMTAB, sizeof(struct macho_symtab), offsetof(struct image, symbols), 5,
                   offsetof(struct image, names), sizeof(names)},
        .symbols = {{8, MACHO_TYPE_SECTION | MACHO_TYPE_GLOBAL, 1, 0, BASE + 0x200}, /* second */
                    {1, MACHO_TYPE_SECTION | MACHO_TYPE_GLOBAL, 1, 0, BASE + 0x100}, /* first */
                    {16, MACHO_TYPE_SECTION | MACHO_TYPE_GLOBAL, 2, 0, DATA + 0x10}, /* flag */
                    {22, MACHO_TYPE_GLOBAL, 0, 0, 0},              /* puts, of libSystem */
                    {28, MACHO_TYPE_SECTION, 1, 0, BASE + 0x100}}, /* a second name of first */
    };
    image.header.command_bytes = offsetof(struct image, symbols) - sizeof(image.header);
    memcpy(image.names, names, sizeof(names));
    return image;
}

static void write_file(const void *bytes, size_t length)
{
    FILE *file = fopen(PATH, "wb");
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static struct macho *open_image(const struct image *image)
{
    struct macho *macho = NULL;
    write_file(image, sizeof(*image));
    assert_null(macho_open(PATH, MACHO_CPU_ARM64, NULL, &macho));
    assert_non_null(macho);
    return macho;
}

static void assert_name(const struct macho *macho, uint64_t address, bool is_function,
                        const char *name)
{
    const struct macho_symbol *symbol = macho_find(macho, address, is_function);
    if (name)
        assert_non_null(symbol);
    else
        assert_null(symbol);
    if (name)
        assert_string_equal(symbol->name, name);
}

static void test_names(void **state)
{
    (void)state;
    struct image image = make_image();
    struct macho *macho = open_image(&image);
    assert_name(macho, BASE + 0x100, true, "first"); /* the global one of two names */
    assert_name(macho, BASE + 0x1ff, true, "first");
    assert_name(macho, BASE + 0x200, true, "second");
    assert_name(macho, BASE + 0xfff, true, "second");
    assert_name(macho, BASE + 0xff, true, NULL);
    assert_name(macho, BASE + 0x1000, true, NULL); /* between the segments */
    assert_name(macho, DATA + 0x18, false, "flag");
    assert_name(macho, DATA + 0x18, true, NULL); /* the last function is in another segment */
    assert_name(macho, BASE + 0x100, false, NULL);
    size_t count;
    macho_symbols(macho, &count);
    assert_int_equal(count, 4); /* not that of another file */
    macho_close(macho);
}

static void test_places(void **state)
{
    (void)state;
    struct image image = make_image();
    struct macho *macho = open_image(&image);
    uint64_t address;
    uint8_t uuid[MACHO_UUID_BYTES];
    uint32_t magic;
    assert_true(macho_address(macho, 0x123, &address));
    assert_int_equal(address, BASE + 0x123);
    assert_true(macho_address(macho, 0x1010, &address));
    assert_int_equal(address, DATA + 0x10);
    assert_false(macho_address(macho, 0x1100, &address)); /* not in the file: zeros */
    assert_true(macho_uuid(macho, uuid));
    assert_memory_equal(uuid, image.uuid, sizeof(uuid));
    assert_true(macho_read(macho, 0, 4, &magic));
    assert_int_equal(magic, MACHO_MAGIC);
    assert_false(macho_read(macho, sizeof(image) - 3, 4, &magic));
    assert_false(macho_read(macho, UINT64_MAX, 4, &magic));
    macho_close(macho);
}

static void test_another_build_is_none(void **state)
{
    (void)state;
    struct image image = make_image();
    struct macho *macho = NULL;
    uint8_t other[MACHO_UUID_BYTES] = {9};
    write_file(&image, sizeof(image));
    assert_null(macho_open(PATH, MACHO_CPU_ANY, other, &macho));
    assert_null(macho);
    assert_null(macho_open(PATH, MACHO_CPU_X86_64, NULL, &macho));
    assert_null(macho);
    assert_null(macho_open(PATH, MACHO_CPU_ANY, image.uuid, &macho));
    assert_non_null(macho);
    macho_close(macho);
}

static void put_big(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Two slices; the second one is x86_64 and has another UUID. */
static size_t make_fat(uint8_t *bytes)
{
    struct image arm = make_image(), intel = make_image();
    const uint32_t cpus[2] = {MACHO_CPU_ARM64, MACHO_CPU_X86_64}, offsets[2] = {0x1000, 0x3000};
    intel.header.cpu = MACHO_CPU_X86_64;
    intel.uuid[0] = 77;
    memset(bytes, 0, 0x4000);
    put_big(bytes, MACHO_UNIVERSAL);
    put_big(bytes + 4, 2);
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t *at = bytes + MACHO_FAT_HEADER_BYTES + i * MACHO_FAT_SLICE_BYTES;
        put_big(at, cpus[i]);
        put_big(at + 8, offsets[i]);
        put_big(at + 12, sizeof(struct image));
    }
    memcpy(bytes + offsets[0], &arm, sizeof(arm));
    memcpy(bytes + offsets[1], &intel, sizeof(intel));
    return offsets[1] + sizeof(intel);
}

static void test_fat_files(void **state)
{
    (void)state;
    static uint8_t bytes[0x4000];
    size_t length = make_fat(bytes);
    struct macho *macho = NULL;
    uint8_t uuid[MACHO_UUID_BYTES] = {77, 2, 3};
    write_file(bytes, length);
    assert_null(macho_open(PATH, MACHO_CPU_ANY, uuid, &macho));
    assert_int_equal(macho_cpu(macho), MACHO_CPU_X86_64);
    assert_name(macho, BASE + 0x100, true, "first");
    macho_close(macho);
    assert_null(macho_open(PATH, MACHO_CPU_ARM64, NULL, &macho));
    assert_int_equal(macho_cpu(macho), MACHO_CPU_ARM64);
    macho_close(macho);
}

static void expect_error(const char *word)
{
    struct macho *macho = NULL;
    struct argus_error *error = macho_open(PATH, MACHO_CPU_ANY, NULL, &macho);
    assert_non_null(error);
    assert_null(macho);
    assert_non_null(strstr(error->message, PATH));
    if (!strstr(error->message, word))
        fail_msg("\"%s\" does not say \"%s\"", error->message, word);
    argus_error_destroy(error);
}

static void test_errors_say_where(void **state)
{
    (void)state;
    struct image image = make_image();
    write_file("no", 2);
    expect_error("too short");
    write_file("#!/bin/sh\n echo this is a script, and long enough\n", 48);
    expect_error("at offset 0: no 64-bit Mach-O header");
    image.text.bytes = 4;
    write_file(&image, sizeof(image));
    expect_error("at offset 32: a load command with an impossible length");
    image = make_image();
    image.text.section_count = 2;
    write_file(&image, sizeof(image));
    expect_error("more sections");
    image = make_image();
    image.symtab.symbol_count = UINT32_MAX;
    write_file(&image, sizeof(image));
    expect_error("a symbol table that ends beyond the end of the file");
    image = make_image();
    image.header.command_count = 99;
    write_file(&image, sizeof(image));
    expect_error("fewer load commands");
    image = make_image();
    image.header.command_bytes = UINT32_MAX;
    write_file(&image, sizeof(image));
    expect_error("load commands that end beyond the end of the file");
    static uint8_t fat[0x4000];
    size_t length = make_fat(fat);
    put_big(fat + 4, 0x34); /* in a Java class the version is here */
    write_file(fat, length);
    expect_error("more slices");
    length = make_fat(fat);
    put_big(fat + MACHO_FAT_HEADER_BYTES + 12, 0x7fffffff);
    write_file(fat, length);
    expect_error("at offset 4096: a slice that ends beyond the end of the file");
}

/* Opened or refused, but never read beyond the end, which the sanitizers check. */
static void look(void)
{
    struct macho *macho = NULL;
    struct argus_error *error = macho_open(PATH, MACHO_CPU_ANY, NULL, &macho);
    assert_true(!error || !macho);
    if (macho) {
        size_t count;
        const struct macho_symbol *symbols = macho_symbols(macho, &count);
        for (size_t i = 0; i < count; i++)
            assert_true(strlen(symbols[i].name) < 40);
        macho_find(macho, BASE + 0x180, true);
    }
    macho_close(macho);
    argus_error_destroy(error);
}

static void test_truncated_at_every_byte(void **state)
{
    (void)state;
    struct image image = make_image();
    for (size_t length = 1; length < sizeof(image); length++) {
        write_file(&image, length);
        look();
    }
}

static void test_every_byte_damaged(void **state)
{
    (void)state;
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    for (size_t at = 0; at < sizeof(struct image); at++) {
        for (size_t i = 0; i < sizeof(values); i++) {
            struct image image = make_image();
            ((uint8_t *)&image)[at] = values[i];
            write_file(&image, sizeof(image));
            look();
        }
    }
}

static void test_no_file(void **state)
{
    (void)state;
    struct macho *macho = NULL;
    struct argus_error *error = macho_open("/dev/null", MACHO_CPU_ANY, NULL, &macho);
    assert_non_null(strstr(error->message, "no regular file"));
    argus_error_destroy(error);
    error = macho_open("not-there.macho", MACHO_CPU_ANY, NULL, &macho);
    assert_non_null(strstr(error->message, "not-there.macho: cannot open"));
    argus_error_destroy(error);
}

/* A file of a real linker: it must have the functions of its source. */
static int look_for(const char *path, const char *arch, char **functions)
{
    struct macho *macho = NULL;
    enum macho_cpu cpu = strcmp(arch, "aarch64") == 0 ? MACHO_CPU_ARM64 : MACHO_CPU_X86_64;
    struct argus_error *error = macho_open(path, cpu, NULL, &macho);
    size_t count = 0;
    if (error || !macho) {
        printf("%s\n", error ? error->message : "no such slice");
        argus_error_destroy(error);
        return 1;
    }
    const struct macho_symbol *symbols = macho_symbols(macho, &count);
    int missing = 0;
    for (; *functions; functions++) {
        bool found = false;
        for (size_t i = 0; i < count && !found; i++)
            found = symbols[i].is_function && !strcmp(symbols[i].name, *functions) &&
                    !strcmp(macho_find(macho, symbols[i].address + 1, true)->name, *functions);
        printf("%s: %s\n", *functions, found ? "found" : "MISSING");
        missing += !found;
    }
    macho_close(macho);
    return missing != 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_another_build_is_none),
        cmocka_unit_test(test_fat_files),
        cmocka_unit_test(test_errors_say_where),
        cmocka_unit_test(test_truncated_at_every_byte),
        cmocka_unit_test(test_every_byte_damaged),
        cmocka_unit_test(test_no_file),
    };
    if (argc > 3)
        return look_for(argv[1], argv[2], argv + 3);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
