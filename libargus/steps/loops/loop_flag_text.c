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

/* "optarg@GLIBC_2.2.5" is the copy of a library's variable, which is called optarg. `is_element`:
 * which element of the array it is, is not known. */
static void append_name(char *buffer, size_t bytes, const char *symbol, uint64_t offset,
                        bool is_element)
{
    char number[24];
    char *name = strndup(symbol, strcspn(symbol, "@"));
    char *readable = name ? demangle(name) : NULL;
    append(buffer, bytes, readable ? readable : name ? name : symbol);
    free(readable);
    free(name);
    append(buffer, bytes, is_element ? "[i]" : "");
    snprintf(number, sizeof(number), "+0x%" PRIx64, offset);
    if (offset)
        append(buffer, bytes, number);
}

bool loop_flag_text(const struct loop_flag *flag, char *buffer, size_t bytes)
{
    struct elf_variable variable;
    char number[32];
    buffer[0] = '\0';
    bool is_named = flag->foreign != NULL, is_element = flag->elements & 1;
    if (flag->local.is_local) {
        loop_local_text(flag, buffer, bytes);
        append(buffer, bytes, is_element ? "[i]" : "");
    } else if (flag->is_mapped) {
        append_name(buffer, bytes, "shared memory", flag->address, is_element);
    } else if (flag->foreign) {
        append_name(buffer, bytes, flag->foreign, flag->address, is_element);
    } else if (elf_file_variable_at(flag->file, flag->address, flag->is_thread_local, &variable)) {
        append_name(buffer, bytes, variable.name, variable.offset, is_element);
        is_named = true;
    } else {
        snprintf(buffer, bytes, "0x%" PRIx64 "%s", flag->address, is_element ? "[i]" : "");
    }
    for (uint32_t i = 0; i < flag->links; i++) {
        int64_t offset = flag->offsets[i];
        snprintf(number, sizeof(number), "->%s0x%" PRIx64 "%s", offset < 0 ? "-" : "",
                 (uint64_t)(offset < 0 ? -offset : offset),
                 flag->elements >> (i + 1) & 1 ? "[i]" : "");
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

/* "[12]", and not the "[abi:cxx11]" of a member's name. NULL: none. */
static char *find_number(char *text)
{
    for (char *open = strchr(text, '['); open; open = strchr(open + 1, '[')) {
        size_t digits = strspn(open + 1, "0123456789");
        if (digits && open[1 + digits] == ']')
            return open;
    }
    return NULL;
}

/* The part of the text that names the array: up to the first pointer, or behind the last one. */
static char *part_of(struct elf_member *member, bool is_last, char **ret_end)
{
    char *part = member->text + member->name_bytes, *next;
    *ret_end = strstr(part, "->");
    while (is_last && (next = strstr(part, "->")))
        part = next + 2;
    if (is_last || !*ret_end)
        *ret_end = part + strlen(part);
    return part;
}

/* "jobs->is_done" is "jobs[i].is_done" if the pointer leads to an array. */
static bool put_behind_pointer(struct elf_member *member, char *part)
{
    char rest[sizeof(member->text)];
    size_t room = sizeof(member->text) - (size_t)(part - 2 - member->text);
    bool is_pointer =
        part > member->text + member->name_bytes && *part != '-' && !(*part >= '0' && *part <= '9');
    if (!is_pointer || strlen(part) + sizeof("[i].") > room)
        return false;
    snprintf(rest, sizeof(rest), "%s", part);
    snprintf(part - 2, room, "[i].%s", rest);
    return true;
}

bool loop_member_put_index(struct elf_member *member, bool is_last)
{
    char *end, *part = part_of(member, is_last, &end), *open = find_number(part);
    if (!open || open >= end)
        return is_last && put_behind_pointer(member, part);
    char *close = strchr(open, ']'), *another = find_number(close);
    if (another && another < end)
        return false;
    open[1] = 'i';
    memmove(open + 2, close, strlen(close) + 1); /* the number is as long or longer */
    return true;
}

bool loop_flag_member(const struct loop_flag *flag, uint64_t code, struct elf_member *ret)
{
    bool is_first = flag->elements == 1, is_last = flag->elements >> flag->links == 1;
    if ((flag->elements & CODE_DISTANT) || (flag->elements && !is_first && !is_last))
        return false;
    return find_member(flag, code, ret) &&
           (!flag->elements || loop_member_put_index(ret, !is_first));
}
