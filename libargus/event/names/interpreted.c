/* A stack of interpreted frames contains marks: the address on the C stack of a struct that the
 * interpreting C function has there. The mark lies in that function's part of the C stack, so it
 * tells exactly to which call of the interpreter a frame belongs, even if the compiler renamed or
 * split the function.
 *
 * An interpreter without such a struct has another mark, the start of the interpreting function:
 * the frames behind it belong to that function's next frame on the C stack.
 *
 * Lines: if the table is the byte ARGUS_CODE_EVEN_LINES, the addresses are made so that each line
 * has UNIT_BYTES of them. Otherwise it is
 * CPython's: Objects/locations.md. An entry begins with a byte whose top bit is set:
 * four bits are its form, three the number of its instructions minus one. Then follow the
 * difference of its line to the previous entry's line, and columns. Numbers have six bits per byte;
 * bit 6 means that the number continues.
 */
#include "event/names/interpreted.h"

#include <string.h>

#include "base/lower_bound.h"

enum { UNIT_BYTES = 2 };

/* --- frames --- */

struct interpreted interpreted_of(const struct argus_trace *trace, uint64_t snapshot_id)
{
    struct interpreted ret = {0};
    ret.count = argus_trace_stack(trace, snapshot_id ^ ARGUS_STACK_INTERPRETED, &ret.entries);
    ret.is_cut = ret.count && ret.entries[ret.count - 1] < ARGUS_FRAME_ENDS;
    ret.count -= ret.is_cut;
    return ret;
}

#define MARKS_LEADING (ARGUS_FRAME_MARK_BEFORE | ARGUS_FRAME_MARK_INSIDE)

static bool is_mark(uint64_t entry)
{
    return entry & (MARKS_LEADING | ARGUS_FRAME_MARK_AFTER);
}

static bool marks(uint64_t entry, uint64_t kind, uint64_t low, uint64_t high)
{
    uint64_t address = entry & ~kind;
    return entry & kind && address >= low && address < high;
}

uint64_t interpreted_function(const struct interpreted *interpreted)
{
    if (interpreted->at >= interpreted->count)
        return 0;
    uint64_t entry = interpreted->entries[interpreted->at];
    return entry & ARGUS_FRAME_MARK_INSIDE ? entry & ~ARGUS_FRAME_MARK_INSIDE : 0;
}

/* Whether the frames behind the mark `entry` belong to the C function at `place`. */
static bool leads(uint64_t entry, const struct interpreted_place *place)
{
    if (entry & ARGUS_FRAME_MARK_INSIDE)
        return place->function && (entry & ~ARGUS_FRAME_MARK_INSIDE) == place->function;
    return marks(entry, ARGUS_FRAME_MARK_BEFORE, place->low, place->high);
}

size_t interpreted_take(struct interpreted *interpreted, const struct interpreted_place *place,
                        uint64_t *ret, size_t room, bool *ret_cut)
{
    const uint64_t *entries = interpreted->entries;
    size_t first = interpreted->at, end;
    *ret_cut = false;
    if (first == interpreted->count)
        return 0;
    bool before = entries[first] & MARKS_LEADING;
    if (before && !leads(entries[first], place))
        return 0;
    first += before;
    for (end = first; end < interpreted->count && !is_mark(entries[end]);)
        end++;
    bool ends = end < interpreted->count;
    if (!before && (!ends || !marks(entries[end], ARGUS_FRAME_MARK_AFTER, place->low, place->high)))
        return 0;
    size_t count = end - first < room ? end - first : room;
    memcpy(ret, entries + first, count * sizeof(*ret));
    *ret_cut = count < end - first || (!ends && interpreted->is_cut);
    interpreted->at = before ? end : end + 1;
    return count;
}

/* --- lines --- */

/* A reader's position in the table. */
struct lines {
    const uint8_t *at, *end;
    int64_t line;
};

static uint64_t take_number(struct lines *lines)
{
    uint64_t number = 0;
    unsigned shift = 0;
    while (lines->at < lines->end) {
        uint8_t byte = *lines->at++;
        if (shift < 36)
            number |= (uint64_t)(byte & 63) << shift;
        shift += 6;
        if (!(byte & 64))
            break;
    }
    return number;
}

static int64_t take_difference(struct lines *lines)
{
    uint64_t number = take_number(lines);
    int64_t magnitude = (int64_t)(number >> 1);
    return number & 1 ? -magnitude : magnitude;
}

/* Reads an entry after its first byte. False: its instructions have no line. */
static bool take_line(struct lines *lines, unsigned form)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    if (form == NONE)
        return false;
    if (form == NO_COLUMNS || form == LONG)
        lines->line += take_difference(lines);
    else if (form >= ONE_LINE)
        lines->line += form - ONE_LINE;
    return true; /* columns follow, up to the next byte with the top bit set */
}

/* Lines at addresses that were made from them; the last address stands for an unknown line. */
static uint32_t even_line(const struct argus_code_entry *code, uint64_t offset)
{
    uint64_t line = code->line + offset / UNIT_BYTES;
    return offset + UNIT_BYTES < code->bytes && line <= INT32_MAX ? (uint32_t)line : 0;
}

uint32_t interpreted_line(const struct argus_code_entry *code, uint64_t offset)
{
    if (code->table_bytes == 1 && code->table[0] == ARGUS_CODE_EVEN_LINES)
        return even_line(code, offset);
    struct lines lines = {code->table, code->table + code->table_bytes, code->line};
    uint64_t covered = 0;
    while (lines.at < lines.end) {
        uint8_t head = *lines.at++;
        if (!(head & 0x80))
            continue;
        bool has_line = take_line(&lines, head >> 3 & 15);
        covered += ((head & 7u) + 1) * UNIT_BYTES;
        if (offset < covered)
            return has_line && lines.line > 0 && lines.line <= INT32_MAX ? (uint32_t)lines.line : 0;
    }
    return 0;
}

/* --- names --- */

static struct argus_error *keep_text(struct strtab *texts, const char *text, const char **ret)
{
    uint32_t id = 0;
    struct argus_error *error = strtab_intern(texts, text, strlen(text), &id);
    *ret = strtab_get(texts, id);
    return error;
}

static bool covers(const struct argus_code_entry *code, uint64_t place)
{
    return place - code->start < code->bytes;
}

static bool is_same(const struct argus_code_entry *a, const struct argus_code_entry *b)
{
    return a->start == b->start && a->bytes == b->bytes && a->line == b->line &&
           strcmp(a->function, b->function) == 0 && strcmp(a->source, b->source) == 0;
}

/* The only function that was at `place`; NULL: there was none, or more than one. */
static const struct argus_code_entry *find_code(const struct argus_code_entry *code, size_t count,
                                                uint64_t place)
{
    const struct argus_code_entry *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!covers(&code[i], place))
            continue;
        if (found && !is_same(found, &code[i]))
            return NULL;
        found = &code[i];
    }
    return found;
}

struct argus_error *interpreted_name(const struct argus_trace *trace,
                                     struct argus_name_entry *names, size_t count,
                                     struct strtab *texts)
{
    const struct argus_code_entry *code;
    struct argus_error *error = NULL;
    size_t all = argus_trace_code(trace, &code), first, end;
    if (!count)
        return NULL;
    LOWER_BOUND(first, all, code[first].pid < names[0].pid);
    LOWER_BOUND(end, all, code[end].pid <= names[0].pid);
    for (size_t i = 0; !error && i < count; i++) {
        const struct argus_code_entry *found = find_code(code + first, end - first, names[i].place);
        if (!found || !found->function[0])
            continue;
        error = keep_text(texts, found->function, &names[i].function);
        if (!error)
            error = keep_text(texts, found->source, &names[i].source);
        names[i].distance = names[i].place - found->start;
        names[i].has_start = true;
        names[i].line = interpreted_line(found, names[i].distance);
        names[i].lack = ARGUS_LACK_NONE;
    }
    return error;
}
