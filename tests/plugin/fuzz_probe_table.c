/* The table of probes, which a user writes: any bytes give rows or an error, and the recorder
 * accepts every row. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "plugin/probes/probe_table.h"
#include "recorder/probe_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct probe_table table = {0};
    struct argus_error *error = probe_table_parse(&table, "fuzz", (const char *)data, size);
    if (error && table.rows.length)
        abort();
    argus_error_destroy(error);
    for (size_t i = 0; i < table.rows.length; i++) {
        struct request_probe request = {.spec = table.rows.data[i].spec};
        error = probe_request_check(&request);
        if (error)
            abort();
    }
    probe_table_deinit(&table);
    return 0;
}
