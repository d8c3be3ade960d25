#include "image.h"

#include <stdlib.h>
#include <string.h>

/* By their first bytes, those under the mask. `operand`: offset of the 32 bits, which are the last
 * of the instruction. */
static const struct {
    uint8_t bytes[3], mask[3];
    uint8_t operand;
    bool takes_address;
} forms[] = {
    {{0xe8}, {0xfe}, 1, false}, /* call, jmp */
    {{0x0f, 0x80}, {0xff, 0xf0}, 2, false},
    {{0x48, 0x8d, 0x05}, {0xf8, 0xff, 0xc7}, 3, true}, /* lea */
};

enum { LONGEST = 7, FORMS = sizeof(forms) / sizeof(*forms) };

static bool fits(const uint8_t *bytes, size_t form)
{
    return (bytes[0] & forms[form].mask[0]) == forms[form].bytes[0] &&
           (bytes[1] & forms[form].mask[1]) == forms[form].bytes[1] &&
           (bytes[2] & forms[form].mask[2]) == forms[form].bytes[2];
}

/* False: no memory. */
static bool look_at(struct image *image, const uint8_t *bytes, uint64_t address)
{
    for (size_t form = 0; form < FORMS; form++) {
        int32_t distance;
        if (!fits(bytes, form))
            continue;
        memcpy(&distance, bytes + forms[form].operand, sizeof(distance));
        struct far_branch found = {.from = address, .takes_address = forms[form].takes_address};
        found.to = address + forms[form].operand + 4 + (uint64_t)(int64_t)distance;
        return !image_code(image, found.to) || vec_push(&image->far_branches, found);
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct far_branch *left = a, *right = b;
    if (left->to != right->to)
        return left->to < right->to ? -1 : 1;
    return left->from < right->from ? -1 : left->from > right->from;
}

bool image_find_far_branches(struct image *image)
{
    bool done = true;
    for (size_t i = 0; i < image->segments.length && done; i++) {
        const struct image_segment *segment = &image->segments.data[i];
        for (uint64_t at = 0; segment->is_code && at + LONGEST <= segment->bytes && done; at++)
            done = look_at(image, segment->data + at, segment->address + at);
    }
    if (done && image->far_branches.length)
        qsort(image->far_branches.data, image->far_branches.length,
              sizeof(*image->far_branches.data), compare);
    return done;
}
