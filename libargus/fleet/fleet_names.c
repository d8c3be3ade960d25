#include "fleet/fleet_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/plain_names.h"

const char *fleet_function_name(const char *name, char *buffer, size_t bytes)
{
    const char *plus = name ? strstr(name, "+0x") : NULL;
    buffer[0] = '\0';
    if (!name || strncmp(name, "0x", 2) == 0 || (plus && plus[3]))
        return buffer;
    return plain_function_name(name, buffer, bytes);
}

const char *fleet_thread_name(const char *name, size_t digits, char *buffer, size_t bytes)
{
    size_t length = 0;
    while (name && *name && length + 1 < bytes) {
        size_t run = strspn(name, "0123456789");
        bool is_number = run >= digits;
        size_t part = run ? run : 1;
        for (size_t i = 0; !is_number && i < part && length + 1 < bytes; i++)
            buffer[length++] = name[i];
        if (is_number)
            buffer[length++] = '#';
        name += part;
    }
    buffer[length] = '\0';
    return buffer;
}

const char *fleet_image_name(const char *path, char *buffer, size_t bytes)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path ? path : "";
    const char *so = strstr(name, ".so");
    bool has_version = so && (so[3] == '.' || !so[3]);
    snprintf(buffer, bytes, "%.*s", has_version ? (int)(so + 3 - name) : (int)strlen(name), name);
    return buffer;
}
