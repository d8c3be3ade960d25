/* Lines of /proc/locks. The kernel writes them, but any program can choose the values in them (IDs,
 * ranges). */
#include "fuzz.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "linux/held_locks.h"

/* Asserts that the record is valid for the graph: every value fits its field. */
static void check(const struct argus_record *record)
{
    uint32_t what = ARGUS_FILE_LOCK_WHAT(record->arg[1]);
    uint32_t kind = ARGUS_FILE_LOCK_KIND(record->arg[1]);
    bool is_lock = kind == ARGUS_FILE_LOCK_FLOCK || kind == ARGUS_FILE_LOCK_PROCESS ||
                   kind == ARGUS_FILE_LOCK_OPEN || kind == ARGUS_FILE_LOCK_LEASE;
    if ((what != ARGUS_FILE_LOCK_GOT && what != ARGUS_FILE_LOCK_WAITS) || !is_lock ||
        record->tid > INT32_MAX || ARGUS_FILE_LOCK_FLAGS(record->arg[1]) > 3)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = NULL;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        struct argus_record record;
        if (held_locks_parse(line, &record))
            check(&record);
    }
    free(text);
    return 0;
}
