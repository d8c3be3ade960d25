#include "event/unwind/unwind_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "event/binary/function_range.h"

#define MOST_CODE_BYTES (1u << 20) /* of a function that is searched for calls */

static struct code find_code(struct unwinder *unwinder, uint32_t process, uint64_t time_ns,
                             uint64_t address)
{
    const struct images *images = unwinder->images;
    uint32_t image = images_find(images, process, time_ns, address);
    bool stale;
    struct code code = {0};
    if (image == UINT32_MAX)
        return code;
    code.moved = images->entries[image].start - images->entries[image].file_offset;
    if (function_range_find(images->entries[image].path, address - code.moved, &code.start,
                            &code.bytes))
        code.elf = elf_files_get(&unwinder->files, image, &stale);
    return code;
}

struct code codes_at(struct codes *codes, struct unwinder *unwinder, uint32_t process,
                     uint64_t time_ns, uint64_t address)
{
    uint64_t key = (uint64_t)process << 48 | (address & ((1ull << 48) - 1));
    uint32_t index = idmap_get(&codes->by_address, key);
    if (index != IDMAP_NONE)
        return codes->code.data[index];
    struct code code = find_code(unwinder, process, time_ns, address);
    codes->no_memory |= !vec_push(&codes->code, code) ||
                        !idmap_put(&codes->by_address, key, (uint32_t)codes->code.length - 1);
    return code;
}

void codes_deinit(struct codes *codes)
{
    idmap_deinit(&codes->by_address);
    vec_deinit(&codes->code);
}

bool code_is_same(const struct code *a, const struct code *b)
{
    return a->elf && a->elf == b->elf && a->start == b->start;
}

/* Whether the instruction at `code` is a direct call, and the distance from its start to the
 * target. */
static bool is_call(unsigned machine, const uint8_t *code, int64_t *ret_distance,
                    uint32_t *ret_bytes)
{
    int32_t relative;
    uint32_t word;
    if (machine != EM_AARCH64) {
        memcpy(&relative, code + 1, sizeof(relative));
        *ret_bytes = 5;
        *ret_distance = (int64_t)relative + *ret_bytes;
        return code[0] == 0xe8;
    }
    memcpy(&word, code, sizeof(word));
    *ret_bytes = 4;
    *ret_distance = ((int64_t)(word & 0x3ffffff) ^ 0x2000000) - 0x2000000; /* sign extension */
    *ret_distance *= 4;
    return word >> 26 == 0x25;
}

/* On x86, instruction boundaries are unknown. But five bytes that look like a call of exactly this
 * function do not occur by chance. */
uint32_t code_count_calls(unsigned machine, const struct code *caller, const struct code *callee,
                          uint64_t *ret_return)
{
    uint32_t step = machine == EM_AARCH64 ? 4 : 1, found = 0, bytes;
    uint64_t from, to, size = caller->bytes;
    int64_t distance;
    if (!caller->elf || caller->elf != callee->elf || size > MOST_CODE_BYTES ||
        !elf_file_address(caller->elf, caller->start, &from) ||
        !elf_file_address(callee->elf, callee->start, &to))
        return 0;
    uint8_t *code = malloc(size + 5);
    if (code && elf_file_read(caller->elf, caller->start, size, code))
        for (uint64_t at = 0; at + 5 <= size; at += step)
            if (is_call(machine, code + at, &distance, &bytes) &&
                from + at + (uint64_t)distance == to) {
                *ret_return = caller->start + at + bytes;
                found++;
            }
    free(code);
    return found;
}
