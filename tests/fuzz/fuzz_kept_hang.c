/* Notes of a trace, with any contents. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "argus/kept_hang.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct argus_kept_hang hang = {.pid = 0};
    char *note = malloc(size + 1);
    if (!note)
        return 0;
    memcpy(note, data, size);
    note[size] = '\0';
    if (argus_kept_hang_read(note, &hang) && hang.start_ns + hang.duration_ns < hang.start_ns)
        abort();
    if (strlen(hang.process) >= sizeof(hang.process) || strlen(hang.cause) >= sizeof(hang.cause))
        abort();
    free(note);
    return 0;
}
