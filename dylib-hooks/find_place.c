#include "find_place.h"

#include <stdio.h>
#include <string.h>

#include "pattern.h"

#define SHOWN 3

/* Where a pattern matches, and where it nearly matches. */
struct found {
    const struct image *image;
    const struct pattern *pattern;
    uint64_t places[SHOWN], like[SHOWN];
    uint32_t count, like_count, like_fit;
};

static void note(struct found *found, uint32_t fit, uint64_t address)
{
    if (fit == found->pattern->count) {
        if (found->count++ < SHOWN)
            found->places[found->count - 1] = address;
        return;
    }
    if (2 * fit <= found->pattern->count || fit < found->like_fit)
        return;
    if (fit > found->like_fit)
        found->like_count = 0;
    found->like_fit = fit;
    if (found->like_count < SHOWN)
        found->like[found->like_count++] = address;
}

static void look(struct found *found, struct decoder *decoder, uint64_t first, uint64_t end)
{
    const uint8_t *code = image_bytes(found->image, first, (size_t)(end - first));
    for (uint64_t at = first; code && at < end;) {
        struct insn insn;
        size_t left = (size_t)(end - at);
        if (!decoder_next(decoder, code, left, at, &insn)) {
            at++;
            code++;
            continue;
        }
        note(found, pattern_fit(found->pattern, decoder, code, left, at), at);
        at += insn.length;
        code += insn.length;
    }
}

/* "g_main_dispatch+0x1c" */
static void put_place(const struct image *image, uint64_t address, size_t room, char *ret)
{
    uint64_t start = 0;
    const char *name = image_function_name(image, address, &start);
    if (name && address - start < 1 << 20)
        snprintf(ret, room, "%.80s+0x%llx", name, (unsigned long long)(address - start));
    else
        snprintf(ret, room, "0x%llx", (unsigned long long)address);
}

static void put_places(const struct image *image, const uint64_t *places, uint32_t count,
                       size_t room, char *ret)
{
    size_t used = 0;
    *ret = '\0';
    for (uint32_t i = 0; i < count && i < SHOWN; i++) {
        char place[100];
        put_place(image, places[i], sizeof(place), place);
        int length = snprintf(ret + used, room - used, "%s%s", i ? ", " : "", place);
        used += length > 0 && (size_t)length < room - used ? (size_t)length : 0;
    }
}

static struct argus_error *judge(const struct found *found, const struct hook_row *row,
                                 uint64_t *ret)
{
    char where[400];
    if (found->count == 1) {
        *ret = found->places[0] + row->offset;
        return NULL;
    }
    if (found->count > 1) {
        put_places(found->image, found->places, found->count, sizeof(where), where);
        return argus_error_create(
            ARGUS_ERROR_USAGE,
            "the pattern \"%s\" fits %u places: %s%s; make it longer, or name "
            "the place",
            row->find, found->count, where, found->count > SHOWN ? ", …" : "");
    }
    put_places(found->image, found->like, found->like_count, sizeof(where), where);
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "the pattern \"%s\" fits nowhere in %s%s%s",
                              row->find, row->anywhere ? "its code" : row->function,
                              *where ? "; most like it: " : "", where);
}

static struct argus_error *find_pattern(const struct image *image, struct decoder *decoder,
                                        const struct hook_row *row, uint64_t first, uint64_t end,
                                        uint64_t *ret)
{
    struct pattern pattern;
    struct argus_error *error = pattern_parse(row->find, &pattern);
    if (error)
        return error;
    struct found found = {.image = image, .pattern = &pattern};
    if (!row->anywhere)
        look(&found, decoder, first, end);
    for (size_t i = 0; i < image->segments.length && row->anywhere; i++) {
        const struct image_segment *segment = &image->segments.data[i];
        if (segment->is_code)
            look(&found, decoder, segment->address, segment->address + segment->bytes);
    }
    error = judge(&found, row, ret);
    pattern_deinit(&pattern);
    return error;
}

static struct argus_error *find_first(const struct image *image, struct decoder *decoder,
                                      const struct hook_row *row, uint64_t *ret)
{
    const struct image_function *function = NULL;
    uint64_t first = 0, end = 0;
    *ret = row->offset;
    if (!row->function && !row->find)
        return NULL;
    struct argus_error *error =
        row->function ? image_find_function(image, row->function, &function) : NULL;
    if (error)
        return error;
    if (function && !image_function_range(image, function->address, &first, &end))
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s is not in its code", row->function);
    if (row->find)
        return find_pattern(image, decoder, row, first, end, ret);
    *ret = first + row->offset;
    if (*ret < end)
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "%s has only 0x%llx bytes, so +0x%llx is not in it", row->function,
                              (unsigned long long)(end - first), (unsigned long long)row->offset);
}

struct argus_error *find_place(const struct image *image, struct decoder *decoder,
                               const struct hook_row *row, uint64_t *ret)
{
    struct argus_error *error = find_first(image, decoder, row, ret);
    for (uint32_t i = 0; i < row->skip && !error; i++) {
        struct insn insn;
        const struct image_segment *code = image_code(image, *ret);
        if (!code || !decoder_next(decoder, code->data + (*ret - code->address),
                                   (size_t)(code->address + code->bytes - *ret), *ret, &insn))
            return argus_error_create(ARGUS_ERROR_USAGE, "skip=%u leads out of its code",
                                      row->skip);
        *ret += insn.length;
    }
    return error;
}
