/* Uses __cxa_demangle() of the C++ runtime: the plugin needs libstdc++ anyway for LLDB's classes,
 * while Debian's libiberty archive cannot be linked into shared objects. It is declared here
 * because <cxxabi.h> is for C++ only; the Itanium C++ ABI, section 3.4, fixes the interface. */
#include "event/names/demangle.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "event/names/rust_names.h"

char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* It is recursive; a longer name could be crafted to overflow the stack. */
enum { LONGEST_NAME = 4096 };

static char *demangle_whole(const char *symbol)
{
    int status;
    char *name = __cxa_demangle(symbol, NULL, NULL, &status);
    return status == 0 ? name : NULL;
}

/* LLVM splits a static into parts, whose symbols end with a number: _ZN5loops4DONE17h…E.0. The name
 * keeps it, so that the parts stay apart. */
static char *demangle_part(const char *symbol)
{
    const char *dot = strrchr(symbol, '.');
    if (!dot || !dot[1] || dot[1 + strspn(dot + 1, "0123456789")])
        return NULL;
    char *whole = strndup(symbol, (size_t)(dot - symbol));
    char *name = whole ? demangle_whole(whole) : NULL;
    free(whole);
    if (!name)
        return NULL;
    rust_undo_legacy(name);
    size_t length = strlen(name), rest = strlen(dot) + 1;
    char *part = realloc(name, length + rest);
    if (!part)
        free(name);
    else
        memcpy(part + length, dot, rest);
    return part;
}

char *demangle(const char *symbol)
{
    if (strncmp(symbol, "_R", 2) == 0)
        return rust_demangle(symbol);
    if (strncmp(symbol, "_Z", 2) != 0 || strnlen(symbol, LONGEST_NAME) == LONGEST_NAME)
        return NULL;
    char *name = demangle_whole(symbol);
    if (!name)
        return demangle_part(symbol);
    rust_undo_legacy(name);
    return name;
}
