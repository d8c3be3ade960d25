#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/names/demangle.h"
#include "steps/loops/loop_flags.h"
#include "steps/loops/loop_local_text.h"

static void append(char *buffer, size_t bytes, const char *text)
{
    size_t length = strlen(buffer);
    snprintf(buffer + length, bytes - length, "%s", text);
}

/* "optarg@GLIBC_2.2.5" is the copy of a library's variable, which is called optarg. */
static void append_name(char *buffer, size_t bytes, const char *symbol, uint64_t offset)
{
    char number[24];
    char *name = strndup(symbol, strcspn(symbol, "@"));
    char *readable = name ? demangle(name) : NULL;
    append(buffer, bytes, readable ? readable : name ? name : symbol);
    free(readable);
    free(name);
    snprintf(number, sizeof(number), "+0x%" PRIx64, offset);
    if (offset)
        append(buffer, bytes, number);
}

/* Which element of the array it is, is not known. */
static void append_element(char *buffer, size_t bytes, uint64_t offset)
{
    char number[32];
    snprintf(number, sizeof(number), "[i]+0x%" PRIx64, offset);
    append(buffer, bytes, offset ? number : "[i]");
}

bool loop_flag_text(const struct loop_flag *flag, char *buffer, size_t bytes)
{
    struct elf_variable variable;
    char number[32];
    buffer[0] = '\0';
    bool is_named = flag->foreign != NULL;
    if (flag->local.is_local) {
        loop_local_text(flag, buffer, bytes);
    } else if (flag->is_mapped) {
        append_name(buffer, bytes, "shared memory", flag->address);
    } else if (flag->foreign) {
        append_name(buffer, bytes, flag->foreign, flag->address);
    } else if (elf_file_variable_at(flag->file, flag->address, flag->is_thread_local, &variable)) {
        append_name(buffer, bytes, variable.name, flag->is_element ? 0 : variable.offset);
        if (flag->is_element)
            append_element(buffer, bytes, variable.offset);
        is_named = true;
    } else {
        snprintf(buffer, bytes, "0x%" PRIx64 "%s", flag->address, flag->is_element ? "[i]" : "");
    }
    for (uint32_t i = 0; i < flag->links; i++) {
        int64_t offset = flag->offsets[i];
        snprintf(number, sizeof(number), "->%s0x%" PRIx64, offset < 0 ? "-" : "",
                 (uint64_t)(offset < 0 ? -offset : offset));
        append(buffer, bytes, number);
    }
    return is_named;
}

/* The bits that are tested; 0: not known. */
static uint64_t bits_of(const struct loop_flag *flag)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < flag->tests.count; i++) {
        const struct loop_test *test = &flag->tests.all[i];
        if (!test->tests_bits || test->is_own)
            return 0;
        bits |= (uint64_t)test->operand;
    }
    return bits;
}

static bool find_member(const struct loop_flag *flag, uint64_t code, struct elf_member *ret)
{
    struct elf_member_root root = {
        .address = flag->address, .is_thread_local = flag->is_thread_local, .code = code};
    struct elf_reach reach = {.links = flag->links,
                              .offsets = flag->offsets,
                              .size_bytes = flag->size_bytes,
                              .bits = bits_of(flag)};
    if (flag->local.is_local)
        return loop_local_member(flag->file, &flag->local, &reach, ret);
    return !flag->foreign && !flag->is_mapped && elf_member_text(flag->file, &root, &reach, ret);
}

/* "jobs[0].is_done" is "jobs[i].is_done": which element it is, is not known. */
static void put_index(struct elf_member *member)
{
    char *open = strchr(member->text, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close)
        return;
    open[1] = 'i';
    memmove(open + 2, close, strlen(close) + 1);
}

bool loop_flag_member(const struct loop_flag *flag, uint64_t code, struct elf_member *ret)
{
    bool is_found = find_member(flag, code, ret);
    if (is_found && flag->is_element)
        put_index(ret);
    return is_found;
}
