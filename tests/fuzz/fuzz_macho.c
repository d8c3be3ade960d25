/* A Mach-O file that a trace of macOS names: its slices, segments and symbols. */
#include <stdlib.h>
#include <string.h>

#include "event/binary/macho.h"
#include "fuzz.h"
#include "fuzz_file.h"

static void look_at(const struct macho *macho)
{
    size_t count, sum = 0;
    const struct macho_symbol *symbols = macho_symbols(macho, &count);
    uint8_t bytes[64], uuid[MACHO_UUID_BYTES];
    for (size_t i = 0; i < count; i++) {
        uint64_t offset, address;
        sum += strlen(symbols[i].name);
        if (i && symbols[i].address < symbols[i - 1].address)
            abort();
        if (macho_offset(macho, symbols[i].address, &offset) &&
            macho_address(macho, offset, &address))
            sum += macho_read(macho, offset, sizeof(bytes), bytes);
        macho_find(macho, symbols[i].address + 1, i & 1);
    }
    volatile size_t seen = sum + macho_uuid(macho, uuid) + macho_end(macho);
    (void)seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum macho_cpu cpus[] = {MACHO_CPU_X86_64, MACHO_CPU_ARM64};
    for (size_t i = 0; i < sizeof(cpus) / sizeof(*cpus); i++) {
        struct macho *macho = NULL;
        argus_error_destroy(macho_open(fuzz_file(data, size), cpus[i], NULL, &macho));
        if (macho)
            look_at(macho);
        macho_close(macho);
    }
    return 0;
}
