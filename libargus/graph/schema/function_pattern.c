/* Matching of function names with * and ?.
 *
 * fnmatch(3) is not used: it takes [ for the beginning of a set, but C++ names contain it
 * ("operator[]", "int (&) [3]"). Also, its time grows exponentially with the number of stars in a
 * pattern, and patterns can come from strangers.
 */
#include "argus/schema.h"

#include <stdlib.h>
#include <string.h>

#include "event/names/demangle.h"

/* Matches `length` bytes of `text`. If the part after the last star does not fit, that star takes
 * one more byte. */
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

/* The length of a readable name without its parameter list. This is the parenthesis that belongs to
 * the last closing one; anything after that (const, [clone …]) is dropped with it. "f(int
 * (*)(char)) const" becomes "f", and "(anonymous namespace)::f(int)" becomes "(anonymous
 * namespace)::f". */
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
    /* A symbol with a version, memcpy@@GLIBC_2.14, matches without it. */
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
