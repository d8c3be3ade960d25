#include "step_patterns.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

bool step_patterns_match(const char *patterns, const char *path)
{
    char pattern[1024];
    const char *slash = strrchr(path, '/');
    while (*patterns) {
        size_t length = strcspn(patterns, "\n");
        snprintf(pattern, sizeof(pattern), "%.*s", (int)length, patterns);
        if (pattern[0] &&
            (fnmatch(pattern, path, 0) == 0 || (slash && fnmatch(pattern, slash + 1, 0) == 0)))
            return true;
        patterns += length + (patterns[length] == '\n');
    }
    return false;
}

bool step_patterns_stepped(const char *skip, const char *into, const char *path)
{
    if (strcmp(path, "[vdso]") == 0 || strcmp(path, "[vsyscall]") == 0)
        return false;
    if (path[0] && step_patterns_match(into, path))
        return true;
    return !path[0] || !step_patterns_match(skip, path);
}
