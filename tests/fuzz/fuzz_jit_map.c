/* Lists of run-time generated code, as any program could write them. */
#include "event/names/jit_map.h"
#include "fuzz_made_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_made_code(data, size, jit_map_read);
    return 0;
}
