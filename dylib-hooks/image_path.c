#include "image_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "x86_64-linux-gnu"
#endif

static const char *const folders =
    "/usr/local/lib:/lib/" MULTIARCH ":/usr/lib/" MULTIARCH ":/lib64:/usr/lib64:/lib:/usr/lib";

/* In the folders of `list`, separated by colons. NULL: in none. */
static char *look_in(const char *list, const char *name)
{
    while (list && *list) {
        char *path = NULL;
        size_t length = strcspn(list, ":");
        if (length && asprintf(&path, "%.*s/%s", (int)length, list, name) > 0 &&
            access(path, R_OK) == 0)
            return path;
        free(path);
        list += length + (list[length] == ':');
    }
    return NULL;
}

struct argus_error *image_path_find(const char *name, char **ret)
{
    if (strchr(name, '/')) {
        *ret = strdup(name);
        return *ret ? NULL : argus_error_memory();
    }
    *ret = look_in(getenv("LD_LIBRARY_PATH"), name);
    if (!*ret)
        *ret = look_in(folders, name);
    return *ret ? NULL
                : argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                     "%s is in no folder of libraries: write its path into the "
                                     "table, or give --image PATH",
                                     name);
}
