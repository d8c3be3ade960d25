/* Who may jump into a function, and where? A thread that comes to the middle of a window would execute a part of our jump. Looked
 * at are
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
#include <string.h>

#include "function_code.h"

#define NEIGHBOURHOOD 130 /* short branches reach no farther */
#define TABLE_MOST    65536

/* More jumps than the file has bytes: tables that overlap, which no compiler makes. */
static bool is_absurd(const struct function_code *code)
{
    return code->targets.length > code->image->file_bytes + TABLE_MOST;
}

/* False: no memory, or absurd. */
static bool add(struct function_code *code, const char *what, uint64_t from, uint64_t to)
{
    if (to < code->first || to >= code->end)
        return true;
    return !is_absurd(code) &&
           vec_push(&code->targets, (struct jump_target){.to = to, .from = from, .what = what});
}

/* --- jump tables --- */

static bool add_offsets(struct function_code *code, uint64_t table)
{
    for (uint32_t i = 0; i < TABLE_MOST; i++) {
        int32_t offset;
        const uint8_t *entry = image_bytes(code->image, table + 4ull * i, sizeof(offset));
        if (!entry)
            return true;
        memcpy(&offset, entry, sizeof(offset));
        uint64_t target = table + (uint64_t)(int64_t)offset;
        if (target < code->first || target >= code->end)
            return true;
        if (!add(code, "a jump table", table, target))
            return false;
    }
    return true;
}

static bool add_addresses(struct function_code *code, uint64_t table)
{
    for (uint32_t i = 0; i < TABLE_MOST; i++) {
        uint64_t target;
        const uint8_t *entry = image_bytes(code->image, table + 8ull * i, sizeof(target));
        if (!entry)
            return true;
        memcpy(&target, entry, sizeof(target));
        if (target < code->first || target >= code->end)
            return true;
        if (!add(code, "a jump table", table, target))
            return false;
    }
    return true;
}

/* --- decoded code --- */

static bool has_direct_target(const struct insn *insn)
{
    return insn->flow == INSN_JUMP || insn->flow == INSN_BRANCH ||
           insn->flow == INSN_SHORT_BRANCH || insn->flow == INSN_CALL;
}

static bool add_of_insn(struct function_code *code, const struct insn *insn)
{
    if (has_direct_target(insn))
        return add(code, "the branch", insn->address, insn->target);
    if (insn->flow == INSN_JUMP_INDIRECT && !insn->names_data)
        return add_addresses(code, insn->target);
    if (insn->names_data && !image_code(code->image, insn->target))
        return add_offsets(code, insn->target);
    return true;
}

/* What cannot be decoded is passed over byte by byte. */
static bool add_of_range(struct function_code *code, uint64_t first, uint64_t end)
{
    while (first < end) {
        struct insn insn;
        const uint8_t *bytes = image_bytes(code->image, first, 1);
        if (!bytes)
            return true;
        if (!decoder_next(code->decoder, bytes, (size_t)(end - first), first, &insn)) {
            first++;
            continue;
        }
        if (!add_of_insn(code, &insn))
            return false;
        first += insn.length;
    }
    return true;
}

/* Of the neighbours only what is near: their own ends are far away. */
static bool add_of_neighbours(struct function_code *code)
{
    uint64_t first, end;
    if (image_function_range(code->image, code->first - 1, &first, &end) &&
        !add_of_range(code, first, end))
        return false;
    if (!image_function_range(code->image, code->end, &first, &end))
        return true;
    return add_of_range(code, first, first + NEIGHBOURHOOD < end ? first + NEIGHBOURHOOD : end);
}

/* --- all code --- */

/* Where the 32 bits begin of what could be a branch at `bytes`; 0: it is none. */
static size_t branch_operand(const uint8_t *bytes)
{
    if (bytes[0] == 0xe8 || bytes[0] == 0xe9)
        return 1;
    return bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80 ? 2 : 0;
}

static bool add_of_segment(struct function_code *code, const struct image_segment *segment)
{
    for (uint64_t i = 0; i + 6 <= segment->bytes; i++) {
        size_t operand = branch_operand(segment->data + i);
        int32_t distance;
        uint64_t from = segment->address + i;
        if (!operand || (from >= code->first && from < code->end)) /* its own are decoded */
            continue;
        memcpy(&distance, segment->data + i + operand, sizeof(distance));
        if (!add(code, "the branch", from, from + operand + 4 + (uint64_t)(int64_t)distance))
            return false;
    }
    return true;
}

static bool add_pointers(struct function_code *code)
{
    static const char what[] = "a pointer or an exception table of the image, for the code";
    const struct image *image = code->image;
    for (size_t i = 0; i < image->pointers.length; i++)
        if (!add(code, what, image->pointers.data[i], image->pointers.data[i]))
            return false;
    return true;
}

struct argus_error *jump_targets_collect(struct function_code *code)
{
    const struct image *image = code->image;
    if (image->arch == HOOK_ARCH_ARM64)
        return NULL;
    bool done =
        add_of_range(code, code->first, code->end) && add_of_neighbours(code) && add_pointers(code);
    for (size_t i = 0; i < image->segments.length && done; i++)
        if (image->segments.data[i].is_code)
            done = add_of_segment(code, &image->segments.data[i]);
    if (!done && is_absurd(code))
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "more jumps seem to lead into the function than it can have");
    return done ? NULL : argus_error_memory();
}
