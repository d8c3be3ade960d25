/* Symbols: any string in a file's symbol table is demangled and shortened. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/names/demangle.h"
#include "event/names/rust_names.h"
#include "event/names/short_names.h"
#include "fuzz.h"

static void check(char *name)
{
    if (!name)
        return;
    size_t length = strlen(name);
    rust_undo_legacy(name);
    short_name(name);
    if (strlen(name) > length)
        abort();
    free(name);
}

/* The symbol itself, and as the rest of a Rust symbol. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *symbol = malloc(bytes + 3);
    if (!symbol)
        return 0;
    memcpy(symbol, "_R", 2);
    memcpy(symbol + 2, data, bytes);
    symbol[bytes + 2] = '\0';
    check(demangle(symbol));
    check(rust_demangle(symbol + 2));
    check(strdup(symbol + 2));
    free(symbol);
    return 0;
}
