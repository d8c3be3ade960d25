#include "own_paths.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#define RUNTIME "libargus-hook.dylib"
#else
#define RUNTIME "libargus-hook.so.0"
#endif

/* Beside bin/ in a build tree, and where they are installed. */
static const char *const folders[] = {"../lib/argus", "../lib"};

static bool own_path(char *ret)
{
#ifdef __APPLE__
    char path[PATH_MAX];
    uint32_t room = sizeof(path);
    return _NSGetExecutablePath(path, &room) == 0 && realpath(path, ret);
#else
    return realpath("/proc/self/exe", ret) != NULL;
#endif
}

struct argus_error *own_runtime_folder(char **ret)
{
    char own[PATH_MAX], path[2 * PATH_MAX];
    if (!own_path(own))
        return argus_error_create(ARGUS_ERROR_IO, "cannot find out where argus-hook is");
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        snprintf(path, sizeof(path), "%s/%s/" RUNTIME, own, folders[i]);
        if (access(path, R_OK) != 0)
            continue;
        *strrchr(path, '/') = '\0';
        *ret = realpath(path, NULL);
        return *ret ? NULL : argus_error_memory();
    }
    return argus_error_create(
        ARGUS_ERROR_NOT_FOUND,
        "%s is not in %s/../lib/argus, where argus-hook needs it: install all of Argus", RUNTIME,
        own);
}
