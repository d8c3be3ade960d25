#include "exception_tables.h"

#include "bytes_cursor.h"

/* DW_EH_PE_…: how a pointer is written. */
enum {
    PE_OMIT = 0xff,
    PE_FORMAT = 0x0f,
    PE_ULEB = 0x01,
    PE_BASE = 0x70,
    PE_RELATIVE = 0x10,
    PE_INDIRECT = 0x80,
};

/* Bytes and sign by format; 0 bytes: unknown format. */
static const struct {
    uint8_t bytes;
    bool is_signed;
} formats[16] = {[0x00] = {8, false}, [0x02] = {2, false}, [0x03] = {4, false}, [0x04] = {8, false},
                 [0x0a] = {2, true},  [0x0b] = {4, true},  [0x0c] = {8, true}};

static uint64_t read_number(struct bytes_cursor *cursor, uint8_t format)
{
    if (format == PE_ULEB)
        return cursor_uleb(cursor);
    uint8_t bytes = formats[format].bytes;
    if (!bytes)
        cursor->bad = true;
    uint64_t number = cursor_number(cursor, bytes);
    if (bytes && bytes < 8 && formats[format].is_signed)
        number = (uint64_t)((int64_t)(number << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    return number;
}

/* 0 is a null pointer. */
static uint64_t read_pointer(struct bytes_cursor *cursor, uint8_t encoding)
{
    uint64_t place = cursor->address + cursor->at;
    if (encoding == PE_OMIT)
        return 0;
    uint64_t number = read_number(cursor, encoding & PE_FORMAT);
    if (!number || encoding & PE_INDIRECT)
        return 0;
    if ((encoding & PE_BASE) == PE_RELATIVE)
        return number + place;
    if (encoding & PE_BASE) /* relative to an address that only a loader knows */
        cursor->bad = true;
    return number;
}

/* --- landing pads --- */

bool exception_table_read(struct image *image, uint64_t address, uint64_t function)
{
    const struct image_segment *segment = NULL;
    if (image->pointers.length >
        image->file_bytes) /* one table for several functions, which no compiler writes */
        return true;
    for (size_t i = 0; i < image->segments.length; i++) {
        const struct image_segment *at = &image->segments.data[i];
        if (address >= at->address && address - at->address < at->bytes)
            segment = at;
    }
    if (!segment)
        return true;
    uint64_t offset = address - segment->address;
    struct bytes_cursor cursor = {
        .data = segment->data + offset, .bytes = segment->bytes - offset, .address = address};
    uint8_t base_encoding = (uint8_t)cursor_number(&cursor, 1);
    uint64_t base = base_encoding == PE_OMIT ? function : read_pointer(&cursor, base_encoding);
    if ((uint8_t)cursor_number(&cursor, 1) != PE_OMIT)
        cursor_uleb(&cursor); /* where the table of types is */
    uint8_t encoding = (uint8_t)cursor_number(&cursor, 1) & PE_FORMAT;
    uint64_t bytes = cursor_uleb(&cursor);
    struct bytes_cursor sites = cursor_part(&cursor, bytes);
    while (!sites.bad && sites.at < sites.bytes) {
        read_number(&sites, encoding);
        read_number(&sites, encoding);
        uint64_t pad = read_number(&sites, encoding);
        cursor_uleb(&sites);
        if (pad && !sites.bad && !vec_push(&image->pointers, base + pad))
            return false;
    }
    return true;
}

/* --- .eh_frame --- */

/* The part of a common entry (CIE) that the entries of functions (FDE) need. */
struct common {
    uint8_t pointer, tables; /* encodings */
    bool has_augmentation;
};

static void read_augmentation(struct bytes_cursor *cursor, const char *letters, size_t count,
                              struct common *ret)
{
    cursor_uleb(cursor); /* bytes */
    for (size_t i = 1; i < count && !cursor->bad; i++) {
        if (letters[i] == 'R')
            ret->pointer = (uint8_t)cursor_number(cursor, 1);
        else if (letters[i] == 'L')
            ret->tables = (uint8_t)cursor_number(cursor, 1);
        else if (letters[i] == 'P')
            read_number(cursor, (uint8_t)cursor_number(cursor, 1) & PE_FORMAT);
        else if (letters[i] != 'S' && letters[i] != 'B')
            return;
    }
}

static struct common read_common(struct bytes_cursor cursor)
{
    struct common common = {.tables = PE_OMIT};
    uint8_t version = (uint8_t)cursor_number(&cursor, 1);
    const char *letters = (const char *)cursor.data + cursor.at;
    size_t count = strnlen(letters, cursor.bytes - cursor.at);
    cursor_skip(&cursor, count + 1);
    cursor_uleb(&cursor); /* alignment of code */
    cursor_uleb(&cursor); /* of data: signed, but as long */
    if (version == 1)
        cursor_skip(&cursor, 1);
    else
        cursor_uleb(&cursor);
    common.has_augmentation = count && letters[0] == 'z';
    if (common.has_augmentation)
        read_augmentation(&cursor, letters, count, &common);
    return common;
}

static bool read_function(struct image *image, struct bytes_cursor cursor,
                          const struct common *common)
{
    uint64_t first = read_pointer(&cursor, common->pointer);
    read_number(&cursor, common->pointer & PE_FORMAT);
    if (cursor.bad || !first || !image_code(image, first))
        return true;
    if (!vec_push(&image->starts, first))
        return false;
    if (!common->has_augmentation || !cursor_uleb(&cursor) || common->tables == PE_OMIT)
        return true;
    uint64_t tables = read_pointer(&cursor, common->tables);
    return cursor.bad || !tables || exception_table_read(image, tables, first);
}

/* The entry of `id` bytes before `place`. */
static bool find_common(const struct bytes_cursor *all, uint64_t place, uint64_t id,
                        struct common *ret)
{
    if (id > place)
        return false;
    struct bytes_cursor at = *all;
    at.at = place - id;
    at.bad = false;
    uint64_t bytes = cursor_number(&at, 4);
    if (at.bad || bytes < 4 || bytes == 0xffffffff || cursor_number(&at, 4) != 0 || at.bad)
        return false;
    *ret = read_common(cursor_part(&at, bytes - 4));
    return true;
}

bool exception_tables_read(struct image *image, uint64_t address, uint64_t bytes)
{
    const uint8_t *data = image_bytes(image, address, bytes);
    struct bytes_cursor all = {.data = data, .bytes = data ? bytes : 0, .address = address};
    while (all.at + 8 <= all.bytes) {
        uint64_t entry_bytes = cursor_number(&all, 4);
        if (entry_bytes < 4 ||
            entry_bytes == 0xffffffff) /* the end, or a form that compilers do not write */
            break;
        uint64_t place = all.at, id;
        struct bytes_cursor entry = cursor_part(&all, entry_bytes);
        struct common common;
        id = cursor_number(&entry, 4);
        if (entry.bad)
            break;
        if (id && find_common(&all, place, id, &common)) {
            struct bytes_cursor rest = cursor_part(&entry, entry.bytes - entry.at);
            if (!read_function(image, rest, &common))
                return false;
        }
        cursor_skip(&all, entry_bytes);
    }
    return true;
}
