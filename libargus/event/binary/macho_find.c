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

/* The last start of a function at or before `address` in `segment`; 0: none. */
static uint64_t start_before(const struct macho *macho, const struct macho_range *segment,
                             uint64_t address)
{
    size_t behind;
    LOWER_BOUND(behind, macho->starts.length, macho->starts.data[behind] <= address);
    return behind && macho->starts.data[behind - 1] >= segment->address
               ? macho->starts.data[behind - 1]
               : 0;
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
        if (symbol->is_function != is_function)
            continue;
        bool another = is_function && start_before(macho, segment, address) > symbol->address;
        return another ? NULL : symbol;
    }
    return NULL;
}

bool macho_function_start(const struct macho *macho, uint64_t address, uint64_t *ret)
{
    const struct macho_range *segment = segment_of(macho, address);
    const struct macho_symbol *symbol = macho_find(macho, address, true);
    uint64_t start = segment ? start_before(macho, segment, address) : 0;
    *ret = symbol && symbol->address > start ? symbol->address : start;
    return *ret != 0;
}
