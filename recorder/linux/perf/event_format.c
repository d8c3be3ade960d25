#include "linux/perf/event_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t event_format_id(const char *text)
{
    const char *line = strstr(text, "\nID:");
    unsigned long id = line ? strtoul(line + 4, NULL, 10) : 0;
    return id <= UINT32_MAX ? (uint32_t)id : 0;
}

/* Whether the declaration of `length` bytes ("char comm[16]", "__data_loc char[] filename")
 * declares `name`. */
static bool declares(const char *declaration, size_t length, const char *name)
{
    size_t name_length = strlen(name);
    const char *bracket = length ? memchr(declaration, '[', length) : NULL;
    if (length > 0 && declaration[length - 1] == ']' && bracket)
        length = (size_t)(bracket - declaration);
    return length > name_length && declaration[length - name_length - 1] == ' ' &&
           memcmp(declaration + length - name_length, name, name_length) == 0;
}

/* `line` begins after "field:". */
static bool parse_field(const char *line, const char *name, struct event_field *ret)
{
    unsigned is_signed;
    size_t length = strcspn(line, ";\n");
    if (line[length] != ';' || !declares(line, length, name) ||
        sscanf(line + length, "; offset:%u; size:%u; signed:%u;", &ret->offset, &ret->bytes,
               &is_signed) != 3)
        return false;
    ret->is_signed = is_signed;
    ret->is_elsewhere = strncmp(line, "__data_loc ", 11) == 0;
    return ret->bytes > 0 && ret->bytes < 65536 && ret->offset < 65536;
}

bool event_format_find(const char *text, const char *name, struct event_field *ret)
{
    for (const char *line = text; (line = strstr(line, "field:")); line++) {
        if (parse_field(line + strlen("field:"), name, ret))
            return true;
    }
    return false;
}

static bool is_inside(uint64_t offset, uint64_t bytes, size_t raw_bytes)
{
    return offset <= raw_bytes && bytes <= raw_bytes - offset;
}

uint64_t event_field_number(const struct event_field *field, const void *raw, size_t raw_bytes)
{
    union {
        int8_t s8;
        uint8_t u8;
        int16_t s16;
        uint16_t u16;
        int32_t s32;
        uint32_t u32;
        uint64_t u64;
    } value = {0};
    if (field->bytes > sizeof(value) || !is_inside(field->offset, field->bytes, raw_bytes))
        return 0;
    memcpy(&value, (const char *)raw + field->offset, field->bytes);
    switch (field->bytes) {
    case 1:
        return field->is_signed ? (uint64_t)value.s8 : value.u8;
    case 2:
        return field->is_signed ? (uint64_t)value.s16 : value.u16;
    case 4:
        return field->is_signed ? (uint64_t)value.s32 : value.u32;
    default:
        return value.u64;
    }
}

uint64_t event_field_element(const struct event_field *field, size_t index, const void *raw,
                             size_t raw_bytes)
{
    uint64_t value = 0, at = index * sizeof(value);
    if (at + sizeof(value) <= field->bytes && is_inside(field->offset, field->bytes, raw_bytes))
        memcpy(&value, (const char *)raw + field->offset + at, sizeof(value));
    return value;
}

const char *event_field_text(const struct event_field *field, const void *raw, size_t raw_bytes,
                             size_t *ret_bytes)
{
    uint64_t offset = field->offset, bytes = field->bytes;
    if (field->is_elsewhere) {
        uint64_t place = event_field_number(field, raw, raw_bytes);
        offset = place & 0xffff;
        bytes = place >> 16 & 0xffff;
    }
    *ret_bytes = 0;
    if (!is_inside(offset, bytes, raw_bytes))
        return "";
    const char *text = (const char *)raw + offset;
    *ret_bytes = strnlen(text, bytes);
    return text;
}
