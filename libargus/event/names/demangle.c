/* Uses __cxa_demangle() of the C++ runtime: the plugin needs libstdc++ anyway for LLDB's classes,
 * while Debian's libiberty archive cannot be linked into shared objects. It is declared here
 * because <cxxabi.h> is for C++ only; the Itanium C++ ABI, section 3.4, fixes the interface. */
#include "event/names/demangle.h"

#include <stddef.h>
#include <string.h>

#include "event/names/rust_names.h"

char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* It is recursive; a longer name could be crafted to overflow the stack. */
enum { LONGEST_NAME = 4096 };

char *demangle(const char *symbol)
{
    if (strncmp(symbol, "_R", 2) == 0)
        return rust_demangle(symbol);
    if (strncmp(symbol, "_Z", 2) != 0 || strnlen(symbol, LONGEST_NAME) == LONGEST_NAME)
        return NULL;
    int status;
    char *name = __cxa_demangle(symbol, NULL, NULL, &status);
    if (status != 0)
        return NULL;
    if (name)
        rust_undo_legacy(name);
    return name;
}
