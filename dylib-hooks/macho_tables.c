#include "bytes_cursor.h"
#include "exception_tables.h"
#include "macho_reader.h"

#define POINTER_BITS 36 /* of a chained fixup that are the target */

static struct argus_error *read_symbols(struct macho_reader *reader)
{
    const struct macho_symtab *table = &reader->symtab;
    if (!macho_is_within(reader, table->symbols, 16ull * table->symbol_count) ||
        !macho_is_within(reader, table->strings, table->string_bytes))
        return macho_damaged("the symbol table", table->symbols);
    for (uint32_t i = 0; i < table->symbol_count; i++) {
        struct macho_nlist symbol;
        memcpy(&symbol, reader->data + table->symbols + 16ull * i, sizeof(symbol));
        if ((symbol.type & MACHO_TYPE_MASK) != MACHO_TYPE_SECTION ||
            symbol.type & MACHO_DEBUG_MASK || symbol.name >= table->string_bytes ||
            !image_code(reader->image, symbol.value))
            continue;
        const char *name = (const char *)reader->data + table->strings + symbol.name;
        size_t most = table->string_bytes - symbol.name, skip = most && *name == '_';
        if (!image_add_function(reader->image, name + skip, most - skip, symbol.value))
            return argus_error_memory();
    }
    return NULL;
}

static struct argus_error *read_starts(struct macho_reader *reader)
{
    const struct macho_data *table = &reader->starts;
    if (!macho_is_within(reader, table->offset, table->data_bytes))
        return macho_damaged("the table of functions", table->offset);
    struct bytes_cursor cursor = {.data = reader->data + table->offset, .bytes = table->data_bytes};
    uint64_t address = reader->text;
    while (cursor.at < cursor.bytes) {
        uint64_t distance = cursor_uleb(&cursor);
        if (!distance || cursor.bad)
            break;
        address += distance;
        if (image_code(reader->image, address) && !vec_push(&reader->image->starts, address))
            return argus_error_memory();
    }
    return NULL;
}

/* From the compact unwind information, reads only the landing pads: pairs of function and table. */
static bool read_unwind_info(struct macho_reader *reader)
{
    struct image *image = reader->image;
    const uint8_t *data =
        image_bytes(image, reader->unwind_info.address, reader->unwind_info.bytes);
    struct bytes_cursor all = {.data = data, .bytes = data ? reader->unwind_info.bytes : 0};
    cursor_skip(&all, 20);
    uint64_t index = cursor_number(&all, 4), count = cursor_number(&all, 4);
    if (all.bad || count < 2 || index > all.bytes || count > (all.bytes - index) / 12)
        return true;
    all.at = index + 8;
    uint64_t first = cursor_number(&all, 4);
    all.at = index + 12 * (count - 1) + 8;
    uint64_t end = cursor_number(&all, 4);
    if (all.bad || first > end || end > all.bytes)
        return true;
    for (all.at = first; all.at + 8 <= end;) {
        uint64_t function = reader->text + cursor_number(&all, 4);
        uint64_t table = reader->text + cursor_number(&all, 4);
        if (!exception_table_read(image, table, function))
            return false;
    }
    return true;
}

static bool read_pointers(struct image *image, uint64_t text)
{
    for (size_t i = 0; i < image->segments.length; i++) {
        const struct image_segment *segment = &image->segments.data[i];
        for (uint64_t at = 0; !segment->is_code && at + 8 <= segment->bytes; at += 8) {
            uint64_t word;
            memcpy(&word, segment->data + at, sizeof(word));
            uint64_t target = word & ((1ull << POINTER_BITS) - 1);
            if (!image_code(image, target))
                target += text; /* some chains count from the header */
            if (word && image_code(image, target) && !vec_push(&image->pointers, target))
                return false;
        }
    }
    return true;
}

struct argus_error *macho_read_tables(struct macho_reader *reader)
{
    struct argus_error *error = read_symbols(reader);
    if (!error)
        error = read_starts(reader);
    if (error)
        return error;
    bool done =
        exception_tables_read(reader->image, reader->eh_frame.address, reader->eh_frame.bytes) &&
        read_unwind_info(reader) && read_pointers(reader->image, reader->text);
    if (done && !reader->image->name)
        reader->image->name = strdup("");
    return done && reader->image->name ? NULL : argus_error_memory();
}
