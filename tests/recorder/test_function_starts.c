/* Where a user's probe may be: never inside an instruction. The second opinion is Capstone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "recorder/linux/function_starts.h"
#include "recorder/linux/instruction_length.h"
#include "steps/instruction.h"

#if defined(__x86_64__)
#define SET INSTRUCTION_X86_64
#else
#define SET INSTRUCTION_ARM64
#endif

#define BEGINNING 48u

/* Of the C library, which a distribution has compiled. */
static const char *const functions[] = {"malloc",  "free",   "qsort",    "fopen",  "fclose",
                                        "printf",  "getenv", "strtoull", "fgets",  "opendir",
                                        "readdir", "popen",  "system",   "setenv", "realpath"};
#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

struct library {
    int fd;
    uintptr_t base;
    const uint8_t *text; /* of its longest executable segment */
    size_t text_bytes;
    uint64_t text_offset; /* in the file */
};

/* The C library's own function, not that of a sanitizer which intercepts its calls. */
static void *function_of(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    return dlsym(library ? library : RTLD_DEFAULT, name);
}

static int find_segment(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct library *library = context;
    (void)bytes;
    if (info->dlpi_addr != library->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *row = &info->dlpi_phdr[i];
        if (row->p_type != PT_LOAD || !(row->p_flags & PF_X) || row->p_filesz < library->text_bytes)
            continue;
        library->text = (const uint8_t *)library->base + row->p_vaddr;
        library->text_bytes = row->p_filesz;
        library->text_offset = row->p_offset;
    }
    return 1;
}

static int open_library(void **state)
{
    static struct library library;
    Dl_info info;
    void *function = function_of("qsort");
    if (!function || !dladdr(function, &info))
        return 1;
    library = (struct library){.fd = open(info.dli_fname, O_RDONLY | O_CLOEXEC),
                               .base = (uintptr_t)info.dli_fbase};
    dl_iterate_phdr(find_segment, &library);
    *state = &library;
    return library.fd < 0 || !library.text;
}

static int close_library(void **state)
{
    const struct library *library = *state;
    return close(library->fd);
}

static const uint8_t *code_of(const char *name)
{
    return function_of(name);
}

static uint64_t offset_of(const struct library *library, const uint8_t *code)
{
    return (uint64_t)(code - library->text) + library->text_offset;
}

static size_t decoded_length(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes)
{
    struct instruction instruction;
    return instruction_decode(decoder, code, bytes, 0, &instruction) ? instruction.length : 0;
}

static void functions_begin_where_symbols_say(void **state)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        uint64_t offset = offset_of(*state, code_of(functions[i]));
        const struct library *library = *state;
        if (!function_starts_allow(library->fd, offset, false) ||
            !function_starts_allow(library->fd, offset, true))
            fail_msg("%s at %#llx", functions[i], (unsigned long long)offset);
        assert_false(function_starts_allow(library->fd, offset + 1, true));
    }
}

/* Each byte of the beginnings: what is allowed begins an instruction. */
static void no_place_is_inside_an_instruction(void **state)
{
    const struct library *library = *state;
    struct instruction_decoder *decoder;
    unsigned allowed = 0, begun = 0;
    assert_null(instruction_decoder_create(SET, &decoder));
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        const uint8_t *code = code_of(functions[i]);
        bool begins[BEGINNING] = {0};
        for (size_t at = 0, length; at < BEGINNING; at += length) {
            begins[at] = true;
            length = decoded_length(decoder, code + at, 16);
            if (!length)
                break;
        }
        for (size_t at = 0; at < BEGINNING; at++) {
            bool allows = function_starts_allow(library->fd, offset_of(library, code + at), false);
            if (allows && !begins[at])
                fail_msg("%s+%zu is no instruction", functions[i], at);
            allowed += allows;
            begun += begins[at];
        }
    }
    instruction_decoder_destroy(decoder);
    assert_true(allowed * 10 >= begun * 9); /* some functions are shorter, some codes not known */
}

/* The whole library. */
static void lengths_are_capstones(void **state)
{
    const struct library *library = *state;
    struct instruction_decoder *decoder;
    size_t known = 0, all = 0;
    assert_null(instruction_decoder_create(SET, &decoder));
    for (size_t at = 0, length; at + 16 < library->text_bytes; at += length) {
        length = decoded_length(decoder, library->text + at, 16);
        size_t own = instruction_length(library->text + at, 16);
        if (!length) {
            length = 1;
            continue;
        }
        if (own && own != length)
            fail_msg("%#zx: %02x %02x %02x %02x has %zu bytes, not %zu", at, library->text[at],
                     library->text[at + 1], library->text[at + 2], library->text[at + 3], length,
                     own);
        known += own != 0;
        all++;
    }
    instruction_decoder_destroy(decoder);
    assert_true(known * 100 >= all * 80);
}

static void what_is_no_program_has_no_functions(void **state)
{
    char path[] = "/tmp/argus-starts-XXXXXX";
    int fd = mkstemp(path);
    uint8_t bytes[4096];
    (void)state;
    unlink(path);
    assert_false(function_starts_allow(fd, 0, false));
    for (unsigned round = 0; round < 300; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)rand();
        memcpy(bytes, "\177ELF\2\1\1", 7);
        bytes[54] = 56, bytes[55] = 0; /* e_phentsize */
        bytes[57] = 0;                 /* e_phnum */
        memset(bytes + 33, 0, 7);      /* e_phoff */
        assert_int_equal(pwrite(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
        function_starts_allow(fd, (uint64_t)rand() % 5000, round & 1);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_begin_where_symbols_say),
        cmocka_unit_test(no_place_is_inside_an_instruction),
        cmocka_unit_test(lengths_are_capstones),
        cmocka_unit_test(what_is_no_program_has_no_functions),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
