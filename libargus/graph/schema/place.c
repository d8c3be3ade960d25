#include "argus/schema.h"

#include "base/scan.h"

#define FARTHEST_OFFSET (1 << 20) /* of a field in a structure */

static bool take_argument(const char **at, struct argus_place *ret)
{
    uint64_t number;
    if (scan_text(at, "result")) {
        ret->argument = ARGUS_PLACE_ARGUMENTS + 1;
        return true;
    }
    if (!scan_text(at, "arg") || !scan_number(at, ARGUS_PLACE_ARGUMENTS, &number) || number == 0)
        return false;
    ret->argument = (uint8_t)number;
    return true;
}

static const struct {
    const char *name;
    uint8_t bytes;
    bool is_signed;
} sizes[] = {
    {"u8", 1, false}, {"u16", 2, false}, {"u32", 4, false}, {"u64", 8, false},
    {"s8", 1, true},  {"s16", 2, true},  {"s32", 4, true},
};

static bool take_size(const char **at, struct argus_place *ret)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        if (!scan_text(at, sizes[i].name))
            continue;
        ret->bytes = sizes[i].bytes;
        ret->is_signed = sizes[i].is_signed;
        return true;
    }
    return false;
}

bool argus_place_parse(const char **at, struct argus_place *ret)
{
    uint64_t offset;
    *ret = (struct argus_place){.bytes = 8};
    if (!take_argument(at, ret))
        return false;
    while (scan_text(at, "->")) {
        if (ret->steps == ARGUS_PLACE_STEPS || !scan_number(at, FARTHEST_OFFSET, &offset))
            return false;
        ret->offsets[ret->steps++] = (int32_t)offset;
    }
    return !scan_text(at, ":") || take_size(at, ret);
}
