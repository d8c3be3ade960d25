#include "linux/display_sockets.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"

/* What the path contains, and then the display's number. A display with another name is not
 * recognized; its programs count as programs without a window. */
static const char *const listens_at[] = {"/.X11-unix/X", "/wayland-"};

bool display_path(const char *path)
{
    for (size_t i = 0; i < sizeof(listens_at) / sizeof(*listens_at); i++) {
        const char *found = strstr(path, listens_at[i]);
        if (found && isdigit((unsigned char)found[strlen(listens_at[i])]))
            return true;
    }
    return false;
}

/* A line is: Num RefCount Protocol Flags Type St Inode Path (proc(5)). Most sockets have no path.
 */
static uint64_t display_inode(const char *line)
{
    uint64_t inode;
    int path = 0;
    if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %n", &inode, &path) != 1 || !path)
        return 0;
    return display_path(line + path) ? inode : 0;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

bool display_sockets_read(const char *table, inode_list *ret)
{
    char line[256]; /* a path has at most 108 bytes */
    bool good = true;
    FILE *file = fopen(table, "re");
    if (!file)
        return true;
    while (good && fgets(line, sizeof(line), file)) {
        uint64_t inode = display_inode(line);
        good = !inode || vec_push(ret, inode);
    }
    fclose(file);
    if (ret->length)
        qsort(ret->data, ret->length, sizeof(*ret->data), by_number);
    return good;
}

bool display_sockets_have(const inode_list *sockets, uint64_t inode)
{
    size_t at;
    LOWER_BOUND(at, sockets->length, sockets->data[at] < inode);
    return at < sockets->length && sockets->data[at] == inode;
}
