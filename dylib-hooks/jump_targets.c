/* Who may jump into the middle of a window? A thread that did would execute a part of our jump. Looked at are
 *
 *   - direct branches of the function itself and of its neighbours, decoded from their beginnings;
 *   - direct branches and calls with 32 bits anywhere in the code of the image (compilers put unlikely parts of a function far
 *     away, under another name or none): every place whose bytes could be one, decoded or not;
 *   - jump tables: what code of the function names by lea, read as offsets from the table itself, and absolute tables of
 *     programs that are not relocated, as long as entries lie in the function;
 *   - pointers that the loader relocates (computed goto, tables of functions);
 *   - landing pads of exceptions.
 *
 * What remains is code that computes an address in its own middle in another way; no compiler is known to do that.
 * On arm64 the window is one instruction, so nobody can jump into its middle.
 */
#include "window.h"

#include <string.h>

#define NEIGHBOURHOOD 130 /* short branches reach no farther */
#define TABLE_MOST    65536

static bool is_inside(const struct window *window, uint64_t target)
{
    return target > window->address && target < window->address + window->bytes;
}

static struct argus_error *inside(const struct window *window, const char *what, uint64_t from,
                                  uint64_t target)
{
    return argus_error_create(
        ARGUS_ERROR_UNSUPPORTED,
        "%s at 0x%llx leads to +0x%llx, into the middle of the %u bytes that the jump would cover; "
        "choose that place itself, or one behind it",
        what, (unsigned long long)from, (unsigned long long)(target - window->function_first),
        window->bytes);
}

/* --- jump tables --- */

static struct argus_error *check_offsets(const struct image *image, const struct window *window,
                                         uint64_t table)
{
    for (uint32_t i = 0; i < TABLE_MOST; i++) {
        int32_t offset;
        const uint8_t *entry = image_bytes(image, table + 4ull * i, sizeof(offset));
        if (!entry)
            return NULL;
        memcpy(&offset, entry, sizeof(offset));
        uint64_t target = table + (uint64_t)(int64_t)offset;
        if (target < window->function_first || target >= window->function_end)
            return NULL;
        if (is_inside(window, target))
            return inside(window, "a jump table", table, target);
    }
    return NULL;
}

static struct argus_error *check_addresses(const struct image *image, const struct window *window,
                                           uint64_t table)
{
    for (uint32_t i = 0; i < TABLE_MOST; i++) {
        uint64_t target;
        const uint8_t *entry = image_bytes(image, table + 8ull * i, sizeof(target));
        if (!entry)
            return NULL;
        memcpy(&target, entry, sizeof(target));
        if (target < window->function_first || target >= window->function_end)
            return NULL;
        if (is_inside(window, target))
            return inside(window, "a jump table", table, target);
    }
    return NULL;
}

/* --- decoded code --- */

static bool has_direct_target(const struct insn *insn)
{
    return insn->flow == INSN_JUMP || insn->flow == INSN_BRANCH ||
           insn->flow == INSN_SHORT_BRANCH || insn->flow == INSN_CALL;
}

static struct argus_error *check_insn(const struct image *image, const struct window *window,
                                      const struct insn *insn)
{
    if (has_direct_target(insn))
        return is_inside(window, insn->target)
                   ? inside(window, "the branch", insn->address, insn->target)
                   : NULL;
    if (insn->flow == INSN_JUMP_INDIRECT && !insn->names_data)
        return check_addresses(image, window, insn->target);
    if (insn->names_data && !image_code(image, insn->target))
        return check_offsets(image, window, insn->target);
    return NULL;
}

/* What cannot be decoded is passed over byte by byte. */
static struct argus_error *check_range(const struct image *image, struct decoder *decoder,
                                       const struct window *window, uint64_t first, uint64_t end)
{
    struct argus_error *error = NULL;
    while (first < end && !error) {
        struct insn insn;
        const uint8_t *bytes = image_bytes(image, first, 1);
        if (!bytes)
            return NULL;
        if (!decoder_next(decoder, bytes, end - first, first, &insn)) {
            first++;
            continue;
        }
        error = check_insn(image, window, &insn);
        first += insn.length;
    }
    return error;
}

static struct argus_error *check_neighbours(const struct image *image, struct decoder *decoder,
                                            const struct window *window)
{
    uint64_t first, end;
    struct argus_error *error = NULL;
    if (window->address - window->function_first < NEIGHBOURHOOD &&
        image_function_range(image, window->function_first - 1, &first, &end))
        error = check_range(image, decoder, window, first, end);
    if (!error && window->function_end - window->address < NEIGHBOURHOOD &&
        image_function_range(image, window->function_end, &first, &end))
        error = check_range(image, decoder, window, first, end);
    return error;
}

/* --- all code --- */

/* Where the 32 bits begin of what could be a branch at `bytes`; 0: it is none. */
static size_t branch_operand(const uint8_t *bytes)
{
    if (bytes[0] == 0xe8 || bytes[0] == 0xe9)
        return 1;
    return bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80 ? 2 : 0;
}

static struct argus_error *check_segment(const struct window *window,
                                         const struct image_segment *segment)
{
    for (uint64_t i = 0; i + 6 <= segment->bytes; i++) {
        size_t operand = branch_operand(segment->data + i);
        int32_t distance;
        if (!operand)
            continue;
        memcpy(&distance, segment->data + i + operand, sizeof(distance));
        uint64_t target = segment->address + i + operand + 4 + (uint64_t)(int64_t)distance;
        if (is_inside(window, target))
            return inside(window, "the branch", segment->address + i, target);
    }
    return NULL;
}

static struct argus_error *check_pointers(const struct image *image, const struct window *window)
{
    size_t low = 0, high = image->pointers.length;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->pointers.data[middle] <= window->address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < image->pointers.length && is_inside(window, image->pointers.data[low]))
        return inside(window, "a pointer or an exception table of the image, for the code",
                      image->pointers.data[low], image->pointers.data[low]);
    return NULL;
}

struct argus_error *window_check_targets(const struct image *image, struct decoder *decoder,
                                         const struct window *window)
{
    if (image->arch == HOOK_ARCH_ARM64)
        return NULL;
    struct argus_error *error =
        check_range(image, decoder, window, window->function_first, window->function_end);
    if (!error)
        error = check_neighbours(image, decoder, window);
    if (!error)
        error = check_pointers(image, window);
    for (size_t i = 0; i < image->segments.length && !error; i++)
        if (image->segments.data[i].is_code)
            error = check_segment(window, &image->segments.data[i]);
    return error;
}
