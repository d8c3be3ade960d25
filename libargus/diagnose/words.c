#include "diagnose/words.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const char *text_image(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* To add a library: how the names of its files begin. '[' marks the kernel and what it maps. */
bool is_base_library(const char *image)
{
    static const char *const beginnings[] = {"libc.",     "libc-", "libpthread", "ld-linux",
                                             "libstdc++", "libm.", "libm-",      "libgcc_s",
                                             "libz.",     "["};
    const char *name = text_image(image);
    for (size_t i = 0; name && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return !name;
}

char *text_print(const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}
