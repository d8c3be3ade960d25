#include "base/memory_use.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads the beginning of a small file as text. */
static const char *read_text(const char *path, char *text, size_t text_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, text_bytes - 1);
    if (fd >= 0)
        close(fd);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

uint64_t memory_used_bytes(void)
{
    char text[256], *end;
    read_text("/proc/self/statm", text, sizeof(text));
    strtoull(text, &end, 10); /* the address space */
    uint64_t resident = strtoull(end, &end, 10), of_files = strtoull(end, &end, 10);
    return resident > of_files ? (resident - of_files) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

/* proc(5), /proc/PID/statm: the sixth number is data and stacks. */
uint64_t memory_writable_bytes(void)
{
    char text[256], *end = text;
    uint64_t pages = 0;
    read_text("/proc/self/statm", text, sizeof(text));
    for (int i = 0; i < 6; i++)
        pages = strtoull(end, &end, 10);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t memory_available_bytes(void)
{
    static const char key[] = "MemAvailable:";
    char text[1024];
    const char *at = strstr(read_text("/proc/meminfo", text, sizeof(text)), key);
    return at ? strtoull(at + sizeof(key) - 1, NULL, 10) << 10 : UINT64_MAX;
}
