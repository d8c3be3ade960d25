/* A whole .argus file, with all checksums corrected, through the whole analysis: tables of images,
 * names, stacks, code, flags and so on, besides records. */
#include <stdlib.h>
#include <string.h>

#include "analyse_trace.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "seal_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct argus_trace *trace = NULL;
    uint8_t *sealed = malloc(size + 1);
    if (!sealed)
        return 0;
    memcpy(sealed, data, size);
    seal_trace(sealed, size);
    argus_error_destroy(argus_trace_open(fuzz_file(sealed, size), &trace));
    if (trace)
        analyse_trace(trace, data, size);
    argus_trace_close(trace);
    free(sealed);
    return 0;
}
