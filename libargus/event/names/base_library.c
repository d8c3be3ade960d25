#include "event/names/base_library.h"

#include <string.h>

/* To add a library: how the names of its files begin. '[' marks the kernel and what it maps. */
bool is_base_library(const char *image)
{
    static const char *const beginnings[] = {"libc.",     "libc-", "libpthread", "ld-linux",
                                             "libstdc++", "libm.", "libm-",      "libgcc_s",
                                             "libz.",     "["};
    const char *slash = image ? strrchr(image, '/') : NULL;
    const char *name = slash ? slash + 1 : image;
    for (size_t i = 0; name && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return !name;
}
