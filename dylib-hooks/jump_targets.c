/* Finds all jumps into a function. A thread that jumps into the middle of a window would execute a
 * part of the hook's jump. The sources are
 *
 *   - direct branches of the function itself and of its neighbours, decoded from their beginnings;
 *   - direct branches and calls with 32 bits anywhere in the code of the image (compilers put
 * unlikely parts of a function far away, under another name or none), and addresses that are taken
 * there: every place whose bytes could be one, decoded or not;
 *   - jump tables: what code of the function names by lea, read as offsets from the table itself,
 * and absolute tables of programs that are not relocated, as long as entries lie in the function;
 *   - addresses in itself that the function takes (computed goto);
 *   - pointers that the loader relocates (tables of labels and of functions);
 *   - landing pads of exceptions.
 *
 * Not found: code that computes an address inside itself in another way; no compiler is known to do
 * that. On arm64 the window is one instruction, so no jump into its middle is possible.
 */
#include <string.h>

#include "base/lower_bound.h"
#include "function_code.h"

#define NEIGHBOURHOOD 130 /* short branches reach no farther */
#define TABLE_MOST    65536

static const char branch[] = "the branch", taken[] = "an instruction that takes the address",
                  used[] = "an instruction that reads or writes data";

/* More jumps than the file has bytes: tables that overlap, which no compiler makes. */
static bool is_absurd(const struct function_code *code)
{
    return code->targets.length > code->image->file_bytes + TABLE_MOST;
}

/* False: no memory, or too many jumps. */
static bool add(struct function_code *code, enum target_kind kind, const char *what, uint64_t from,
                uint64_t to)
{
    struct jump_target target = {.to = to, .from = from, .what = what, .kind = kind};
    if (to < code->first || to >= code->end)
        return true;
    return !is_absurd(code) && vec_push(&code->targets, target);
}

/* --- jump tables --- */

static bool read_offset(const struct function_code *code, uint64_t table, uint32_t index,
                        uint64_t *ret_target)
{
    int32_t offset;
    const uint8_t *entry = image_bytes(code->image, table + 4ull * index, sizeof(offset));
    if (entry)
        memcpy(&offset, entry, sizeof(offset));
    *ret_target = entry ? table + (uint64_t)(int64_t)offset : 0;
    return entry != NULL;
}

/* The number of offsets at `table` that lead into the function. */
static uint32_t count_offsets(const struct function_code *code, uint64_t table)
{
    uint64_t target;
    uint32_t count = 0;
    while (count < TABLE_MOST && read_offset(code, table, count, &target) &&
           target >= code->first && target < code->end)
        count++;
    return count;
}

/* Code sections also have other tables, some of small numbers. A jump table has several entries,
 * and none leads into the table itself. */
static bool can_be_jumps(const struct function_code *code, uint64_t table, uint32_t count)
{
    uint64_t target;
    if (!image_code(code->image, table))
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (read_offset(code, table, i, &target) && target - table < 4ull * count)
            return false;
    return count > 1;
}

static bool add_offsets(struct function_code *code, uint64_t table)
{
    uint64_t target;
    uint32_t count = count_offsets(code, table);
    enum target_kind kind = image_code(code->image, table) ? TARGET_OF_ADDRESS : TARGET_OF_TABLE;
    bool done = true;
    if (!can_be_jumps(code, table, count))
        return true;
    for (uint32_t i = 0; i < count && done; i++)
        done =
            !read_offset(code, table, i, &target) || add(code, kind, "a jump table", table, target);
    return done;
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
        if (!add(code, TARGET_OF_TABLE, "a jump table", table, target))
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

/* The named address may be a table, also in a code section (Mach-O, and ELF with one segment for
 * both). */
static bool add_named(struct function_code *code, const struct insn *insn)
{
    size_t before = code->targets.length;
    if (!add_offsets(code, insn->target))
        return false;
    if (code->targets.length > before)
        return true;
    return insn->takes_address ? add(code, TARGET_OF_ADDRESS, taken, insn->address, insn->target)
                               : add(code, TARGET_OF_DATA, used, insn->address, insn->target);
}

static bool add_of_insn(struct function_code *code, const struct insn *insn, enum target_kind kind)
{
    if (has_direct_target(insn))
        return add(code, kind, branch, insn->address, insn->target);
    if (insn->flow == INSN_JUMP_INDIRECT && !insn->names_data)
        return add_addresses(code, insn->target);
    return !insn->names_data || add_named(code, insn);
}

/* Bytes that cannot be decoded are skipped one by one. */
static bool add_of_range(struct function_code *code, uint64_t first, uint64_t end,
                         enum target_kind kind)
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
        if (!add_of_insn(code, &insn, kind))
            return false;
        first += insn.length;
    }
    return true;
}

/* Small functions of assembly jump into each other (glibc: mempcpy into memcpy), also over others.
 */
static bool add_of_neighbours(struct function_code *code)
{
    uint64_t first = code->first, end = code->end;
    bool done = true;
    while (done && code->first - first < NEIGHBOURHOOD &&
           image_function_range(code->image, first - 1, &first, &end))
        done = add_of_range(code, first, end, TARGET_OF_FAR);
    end = code->end;
    while (done && end - code->end < NEIGHBOURHOOD &&
           image_function_range(code->image, end, &first, &end)) {
        /* Of instructions from there on, only near ones count. */
        uint64_t near = code->end + NEIGHBOURHOOD;
        done = add_of_range(code, first, near < end ? near : end, TARGET_OF_FAR);
    }
    return done;
}

static bool add_far(struct function_code *code)
{
    const struct far_branch *far = code->image->far_branches.data;
    size_t at, count = code->image->far_branches.length;
    LOWER_BOUND(at, count,
                far[at].to < code->first); /* the first one that leads into the function */
    bool done = true;
    for (; at < count && far[at].to < code->end && done; at++) {
        bool is_own = far[at].from >= code->first && far[at].from < code->end; /* decoded */
        bool takes = far[at].takes_address;
        done = is_own || add(code, takes ? TARGET_OF_ADDRESS : TARGET_OF_FAR,
                             takes ? taken : branch, far[at].from, far[at].to);
    }
    return done;
}

static bool add_pointers(struct function_code *code)
{
    static const char what[] = "a pointer or an exception table of the image, for the code";
    const struct image *image = code->image;
    for (size_t i = 0; i < image->pointers.length; i++)
        if (!add(code, TARGET_OF_TABLE, what, image->pointers.data[i], image->pointers.data[i]))
            return false;
    return true;
}

struct argus_error *jump_targets_collect(struct function_code *code)
{
    const struct image *image = code->image;
    if (image->arch == HOOK_ARCH_ARM64)
        return NULL;
    bool done = add_of_range(code, code->first, code->end, TARGET_OF_BRANCH) &&
                add_of_neighbours(code) && add_pointers(code) && add_far(code);
    if (!done && is_absurd(code))
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "more jumps seem to lead into the function than it can have");
    return done ? NULL : argus_error_memory();
}
