#include "steps/watch_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint32_t watchable_bytes(uint64_t address, uint32_t bytes)
{
    uint32_t size = 8;
    while (size > 1 && (size > bytes || address % size))
        size /= 2;
    return size;
}

const char *watch_quoted(const char *text, char *buffer, size_t buffer_bytes)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.:-/@";
    if (!text[strspn(text, plain)])
        return text;
    snprintf(buffer, buffer_bytes, "'%s'", text);
    return buffer;
}

const char *watch_command_text(uint64_t pid, const char *image, const char *what, uint32_t bytes,
                               char *buffer, size_t buffer_bytes)
{
    char quoted_image[512], quoted_what[1024];
    const char *slash = strrchr(image, '/');
    snprintf(buffer, buffer_bytes, "argus watchflag %" PRIu64 " %s %s --size %" PRIu32, pid,
             watch_quoted(slash ? slash + 1 : image, quoted_image, sizeof(quoted_image)),
             watch_quoted(what, quoted_what, sizeof(quoted_what)), bytes);
    return buffer;
}

const char *watch_loop_command_text(uint64_t pid, char *buffer, size_t buffer_bytes)
{
    snprintf(buffer, buffer_bytes, "argus watchflag %" PRIu64 " --loop", pid);
    return buffer;
}
