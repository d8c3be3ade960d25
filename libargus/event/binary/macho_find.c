#include "event/binary/macho_parts.h"

#include <string.h>

#include "base/lower_bound.h"

enum macho_cpu macho_cpu(const struct macho *macho)
{
    return macho->cpu;
}

bool macho_uuid(const struct macho *macho, uint8_t ret[MACHO_UUID_BYTES])
{
    memcpy(ret, macho->uuid, MACHO_UUID_BYTES);
    return macho->has_uuid;
}

bool macho_address(const struct macho *macho, uint64_t offset_bytes, uint64_t *ret)
{
    for (size_t i = 0; i < macho->segments.length; i++) {
        const struct macho_range *segment = &macho->segments.data[i];
        if (offset_bytes >= segment->offset &&
            offset_bytes - segment->offset < segment->file_bytes) {
            *ret = segment->address + (offset_bytes - segment->offset);
            return true;
        }
    }
    return false;
}

bool macho_offset(const struct macho *macho, uint64_t address, uint64_t *ret)
{
    for (size_t i = 0; i < macho->segments.length; i++) {
        const struct macho_range *segment = &macho->segments.data[i];
        if (address >= segment->address && address - segment->address < segment->file_bytes) {
            *ret = segment->offset + (address - segment->address);
            return true;
        }
    }
    return false;
}

uint64_t macho_end(const struct macho *macho)
{
    uint64_t end = 0;
    for (size_t i = 0; i < macho->segments.length; i++) {
        const struct macho_range *segment = &macho->segments.data[i];
        if (segment->bytes <= UINT64_MAX - segment->address &&
            segment->address + segment->bytes > end)
            end = segment->address + segment->bytes;
    }
    return end;
}

bool macho_read(const struct macho *macho, uint64_t offset_bytes, size_t bytes, void *ret)
{
    if (!macho_lies_in(offset_bytes, bytes, macho->slice_bytes))
        return false;
    memcpy(ret, macho->slice + offset_bytes, bytes);
    return true;
}

const struct macho_symbol *macho_symbols(const struct macho *macho, size_t *ret_count)
{
    *ret_count = macho->symbols.length;
    return macho->symbols.data;
}

static const struct macho_range *segment_of(const struct macho *macho, uint64_t address)
{
    for (size_t i = 0; i < macho->segments.length; i++) {
        const struct macho_range *segment = &macho->segments.data[i];
        if (address >= segment->address && address - segment->address < segment->bytes)
            return segment;
    }
    return NULL;
}

const struct macho_symbol *macho_find(const struct macho *macho, uint64_t address, bool is_function)
{
    const struct macho_range *segment = segment_of(macho, address);
    size_t behind;
    LOWER_BOUND(behind, macho->symbols.length, macho->symbols.data[behind].address <= address);
    for (; segment && behind > 0; behind--) {
        const struct macho_symbol *symbol = &macho->symbols.data[behind - 1];
        if (symbol->address < segment->address)
            return NULL;
        if (symbol->is_function == is_function)
            return symbol;
    }
    return NULL;
}
