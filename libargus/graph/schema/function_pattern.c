/* Names with * and ?.
 *
 * Not fnmatch(3): it takes [ for the beginning of a set, which C++ has in "operator[]" and "int (&) [3]", and its time grows
 * exponentially with the stars of a pattern, which may be anybody's. */
#include "argus/schema.h"

#include <stdlib.h>
#include <string.h>

#include "event/names/demangle.h"

/* `length` bytes of `text`. When what follows the last star does not fit, that star takes one byte more. */
static bool matches(const char *pattern, const char *text, size_t length)
{
    const char *star = NULL, *end = text + length, *retry = NULL;
    while (text < end) {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

/* Where the parameter list of a readable name begins: at the parenthesis that belongs to the last one; what follows that
 * one (const, [clone …]) goes with it. "f(int (*)(char)) const" is "f"; "(anonymous namespace)::f(int)" is "(anonymous namespace)::f". */
static size_t without_parameters(const char *name)
{
    const char *last = strrchr(name, ')');
    size_t depth = 0;
    for (const char *at = last; at && at > name; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (!depth)
            return (size_t)(at - name);
    }
    return strlen(name);
}

static bool matches_readable(const char *pattern, const char *name)
{
    return matches(pattern, name, strlen(name)) || matches(pattern, name, without_parameters(name));
}

bool argus_function_matches(const char *pattern, const char *symbol)
{
    /* A symbol with a version, memcpy@@GLIBC_2.14, is that symbol. */
    if (matches(pattern, symbol, strcspn(symbol, "@")))
        return true;
    if (strncmp(symbol, "_Z", 2) != 0)
        return matches_readable(pattern, symbol);
    char *readable = demangle(symbol);
    bool fits = readable && matches_readable(pattern, readable);
    free(readable);
    return fits;
}

bool argus_library_matches(const char *library, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = strchr(library, '/') || !slash ? path : slash + 1;
    size_t length = strlen(library);
    return strncmp(name, library, length) == 0 && (name[length] == '\0' || name[length] == '.');
}
