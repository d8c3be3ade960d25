/* Tables of lines and frames of an interpreter with any contents: the first bytes choose the
 * queries. */
#include <stdlib.h>
#include <string.h>

#include "event/names/interpreted.h"
#include "fuzz.h"

enum { MOST_ENTRIES = 64 };

static void take_frames(const uint8_t *data, size_t size)
{
    uint64_t entries[MOST_ENTRIES], found[MOST_ENTRIES];
    size_t count = size / sizeof(*entries) < MOST_ENTRIES ? size / sizeof(*entries) : MOST_ENTRIES;
    memcpy(entries, data, count * sizeof(*entries));
    struct interpreted interpreted = {entries, count, 0, size & 1};
    bool cut;
    size_t taken = 0;
    for (uint64_t low = 0; low < 1 << 16; low += 64) {
        uint64_t function = low % 128 ? low : interpreted_function(&interpreted);
        const struct interpreted_place place = {low, low + 64, function};
        size_t got = interpreted_take(&interpreted, &place, found, 5, &cut);
        taken += got;
        if (got > 5 || interpreted.at > count)
            abort();
    }
    if (taken > count)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct argus_code_entry code = {.line = 1, .bytes = 1 << 10};
    uint64_t offset = size ? data[0] * 7u : 0;
    uint8_t *table = malloc(size + 1); /* exact size, so that the sanitizer detects overruns */
    if (!table)
        return 0;
    if (size > 1)
        memcpy(table, data + 1, size - 1);
    code.table = table;
    code.table_bytes = size > 1 ? (uint32_t)(size - 1) : 0;
    if (interpreted_line(&code, offset) > INT32_MAX)
        abort();
    take_frames(data, size);
    free(table);
    return 0;
}
