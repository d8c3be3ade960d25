#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/event.h"
#include "argus/record.h"
#include "hook_table.h"

/* Names of registers and where they are in struct argus_hook_context of each architecture
 * (argus_hook.h; a test compares). */
struct register_name {
    const char *name;
    uint8_t index;
};

static const struct register_name registers_x86_64[] = {
    {"arg1", 9},    {"arg2", 10}, {"arg3", 13}, {"arg4", 14}, {"arg5", 8}, {"arg6", 7},
    {"result", 17}, {"rax", 17},  {"rbx", 12},  {"rcx", 14},  {"rdx", 13}, {"rsi", 10},
    {"rdi", 9},     {"rbp", 11},  {"rsp", 0},   {"r8", 8},    {"r9", 7},   {"r10", 6},
    {"r11", 5},     {"r12", 4},   {"r13", 3},   {"r14", 2},   {"r15", 1},  {NULL, 0},
};

/* x0 to x30 are at their own number. */
static const struct register_name registers_arm64[] = {
    {"arg1", 0}, {"arg2", 1}, {"arg3", 2},   {"arg4", 3}, {"arg5", 4}, {"arg6", 5},
    {"arg7", 6}, {"arg8", 7}, {"result", 0}, {"sp", 32},  {NULL, 0},
};

static bool find_register(enum hook_arch arch, const char *name, size_t length, uint8_t *ret)
{
    const struct register_name *row = arch == HOOK_ARCH_ARM64 ? registers_arm64 : registers_x86_64;
    for (; row->name; row++) {
        if (strlen(row->name) != length || strncmp(row->name, name, length) != 0)
            continue;
        *ret = row->index;
        return true;
    }
    unsigned number = 0, used = 0;
    for (used = 1; used < length && isdigit((unsigned char)name[used]) && used < 3; used++)
        number = 10 * number + (unsigned)(name[used] - '0');
    *ret = (uint8_t)number;
    return arch == HOOK_ARCH_ARM64 && length >= 2 && *name == 'x' && used == length && number <= 30;
}

bool hook_word_number(const char **at, uint64_t *ret)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    *ret = strtoull(*at, &end, strncmp(*at, "0x", 2) == 0 ? 16 : 10);
    *at = end;
    return errno == 0;
}

static bool take_step(const char **at, struct hook_value *ret)
{
    uint64_t number;
    *at += 2;
    bool negative = **at == '-';
    *at += negative;
    if (ret->steps == HOOK_VALUE_STEPS || !hook_word_number(at, &number) || number > INT32_MAX)
        return false;
    ret->offsets[ret->steps++] = negative ? -(int32_t)number : (int32_t)number;
    return true;
}

/* ":u16", ":s32" */
static bool take_size(const char **at, struct hook_value *ret)
{
    uint64_t bits;
    ret->is_signed = (*at)[1] == 's';
    if ((*at)[1] != 'u' && (*at)[1] != 's')
        return false;
    *at += 2;
    if (!hook_word_number(at, &bits) || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
        return false;
    ret->bytes = (uint8_t)(bits / 8);
    return true;
}

static bool take_value(enum hook_arch arch, const char **at, struct hook_value *ret)
{
    size_t length = 0;
    *ret = (struct hook_value){.bytes = 8};
    while (isalnum((unsigned char)(*at)[length]))
        length++;
    if (!find_register(arch, *at, length, &ret->base))
        return false;
    ret->base++;
    *at += length;
    while (strncmp(*at, "->", 2) == 0)
        if (!take_step(at, ret))
            return false;
    return **at != ':' || take_size(at, ret);
}

bool hook_word_value(enum hook_arch arch, const char *text, struct hook_value *ret)
{
    return take_value(arch, &text, ret) && !*text;
}

bool hook_word_condition(enum hook_arch arch, const char *text, struct hook_row *ret)
{
    if (!take_value(arch, &text, &ret->when))
        return false;
    if (strncmp(text, ">=", 2) == 0)
        ret->compare = HOOK_ATLEAST;
    else if (*text == '<')
        ret->compare = HOOK_LESS;
    else if (*text == '=')
        ret->compare = HOOK_EQUAL;
    else
        return false;
    text += ret->compare == HOOK_ATLEAST ? 2 : 1;
    return hook_word_number(&text, &ret->compare_with) && !*text;
}

/* The name of a UI event has spaces, a word of the table has underscores. */
static bool take_event(const char **at, uint32_t *ret)
{
    size_t length = strcspn(*at, ",");
    for (uint32_t i = 0; i < ARGUS_UI_EVENTS; i++) {
        const char *name = argus_ui_event_name(i);
        size_t k = 0;
        while (k < length && name[k] && (*at)[k] == (name[k] == ' ' ? '_' : name[k]))
            k++;
        if (k != length || name[k])
            continue;
        *at += length;
        *ret = i;
        return true;
    }
    return false;
}

bool hook_word_kinds(const char *text, struct hook_row *ret)
{
    while (true) {
        uint64_t number;
        struct hook_kind *kind = &ret->kinds[ret->kind_count];
        if (ret->kind_count == HOOK_KINDS_MOST || !hook_word_number(&text, &number) ||
            number > UINT32_MAX || *text++ != ':' || !take_event(&text, &kind->kind))
            return false;
        kind->number = (uint32_t)number;
        ret->kind_count++;
        if (!*text)
            return true;
        text++;
    }
}

bool hook_word_shape(const char *text, uint32_t *ret)
{
    for (uint32_t i = ARGUS_PROBE_QUEUE; i < ARGUS_PROBE_SHAPES; i++) {
        if (strcmp(argus_probe_shape_name(i), text) != 0)
            continue;
        *ret = i;
        return true;
    }
    *ret = ROW_ID;
    return strcmp(text, "id") == 0;
}

/* FUNCTION, FUNCTION+OFFSET, 0xADDRESS, *, *+OFFSET. Names of C++ functions may have any character
 * but +digits at the end. */
bool hook_word_place(const char *text, struct hook_row *ret)
{
    const char *plus = strrchr(text, '+'), *offset = plus ? plus + 1 : "";
    size_t length = strlen(text);
    if (strncmp(text, "0x", 2) == 0)
        return hook_word_number(&text, &ret->offset) && !*text;
    if (plus && isdigit((unsigned char)*offset)) {
        if (!hook_word_number(&offset, &ret->offset) || *offset)
            return false;
        length = (size_t)(plus - text);
    }
    ret->anywhere = length == 1 && *text == '*';
    if (length == 0)
        return false;
    if (!ret->anywhere)
        ret->function = strndup(text, length);
    return ret->anywhere || ret->function;
}
