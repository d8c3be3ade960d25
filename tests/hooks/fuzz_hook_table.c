/* Tables of hooks, for both architectures. */
#include "fuzz.h"
#include "hook_table.h"
#include "pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (enum hook_arch arch = HOOK_ARCH_X86_64; arch <= HOOK_ARCH_ARM64; arch++) {
        struct hook_table table;
        struct argus_error *error =
            hook_table_parse("fuzz", (const char *)data, size, arch, &table);
        for (size_t i = 0; !error && i < table.rows.length; i++) {
            struct pattern pattern;
            const char *find = table.rows.data[i].find;
            struct argus_error *wrong = find ? pattern_parse(find, &pattern) : NULL;
            if (find && !wrong)
                pattern_deinit(&pattern);
            argus_error_destroy(wrong);
        }
        if (!error)
            hook_table_deinit(&table);
        argus_error_destroy(error);
    }
    return 0;
}
