#include "plugin/probes/mapped_files.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct visitor {
    mapped_file_visit *visit;
    void *context;
};

/* Parses a line of /proc/PID/maps (proc(5)) and reports the mapping. */
static void tell_mapping(const struct visitor *visitor, const char *pid, const char *line)
{
    char permissions[8], path[PATH_MAX], real[PATH_MAX + 32];
    unsigned long inode;
    if (sscanf(line, "%*s %7s %*s %*s %lu %4095[^\n]", permissions, &inode, path) != 3 ||
        permissions[2] != 'x' || path[0] != '/')
        return;
    snprintf(real, sizeof(real), "/proc/%.20s/root%s", pid, path);
    const struct mapped_file file = {path, real, inode};
    visitor->visit(visitor->context, &file);
}

static void tell_process(const struct visitor *visitor, const char *pid)
{
    char path[64];
    char *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0)
        tell_mapping(visitor, pid, line);
    free(line);
    if (file)
        fclose(file);
}

void mapped_files_each(mapped_file_visit *visit, void *context)
{
    const struct visitor visitor = {visit, context};
    DIR *directory = opendir("/proc");
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        if (isdigit((unsigned char)entry->d_name[0]))
            tell_process(&visitor, entry->d_name);
    if (directory)
        closedir(directory);
}
