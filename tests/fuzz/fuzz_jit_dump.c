/* Dumps of run-time generated code, as any program could write them. */
#include "event/names/jit_dump.h"
#include "fuzz_made_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_made_code(data, size, jit_dump_read);
    return 0;
}
