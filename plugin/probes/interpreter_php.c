/* A PHP has no variable with its version. But each contains the text by which it recognises
 * extensions that were built for it: "API", the engine's version, "NTS", and nothing more if it was
 * built without debugging (Zend/zend_build.h). A PHP with threads has no such text, and no variable
 * of this name.
 */
#include "plugin/probes/interpreter_php.h"

#include <stdio.h>
#include <string.h>

#include "event/binary/elf_exports.h"

/* In the part of the file that has constants. */
enum { BLOCK_BYTES = 64 << 10, TEXT_BYTES = 32 };

static bool has_text(const struct elf_file *file, const char *text, size_t bytes)
{
    char block[BLOCK_BYTES];
    uint64_t at = 0;
    for (size_t wanted = sizeof(block); wanted >= TEXT_BYTES;) {
        if (!elf_file_read(file, at, wanted, block)) {
            wanted /= 2; /* near the file's end */
            continue;
        }
        if (memmem(block, wanted, text, bytes))
            return true;
        at += wanted - TEXT_BYTES + 1;
    }
    return false;
}

bool interpreter_php_find(const char *path, uint32_t version, struct interpreter_php *ret)
{
    const struct elf_identity any = {0};
    struct elf_export globals;
    char text[TEXT_BYTES];
    bool is_stale;
    struct elf_file *file = elf_file_open(path, &any, &is_stale);
    int length = snprintf(text, sizeof(text), "API%u,NTS", version);
    bool good = file && elf_export_find(file, "executor_globals", &globals) && globals.is_defined &&
                elf_export_function(file, "execute_ex", &ret->function) &&
                has_text(file, text, (size_t)length + 1);
    if (good)
        ret->globals = globals.address;
    if (file)
        elf_file_close(file);
    return good;
}
