#include "plugin/trace_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* ust/uid/1000/64-bit, ust/pid/NAME: lttng-tools 2.13, doc/man/lttng-create.1 */
enum { MOST_DEPTH = 3, MOST_ENTRIES = 1000 };

/* In text, or with its magic number in one of two byte orders; CTF 2: a JSON text sequence. */
static bool is_metadata(int folder, struct stat *ret)
{
    static const unsigned char magics[][4] = {
        {0x57, 0x1d, 0xd1, 0x75}, {0x75, 0xd1, 0x1d, 0x57}, {'/', '*', ' ', 'C'}};
    unsigned char bytes[4];
    int fd = openat(folder, "metadata", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool known = fd >= 0 && fstat(fd, ret) == 0 && S_ISREG(ret->st_mode) && read(fd, bytes, 4) == 4;
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; known && i < sizeof(magics) / sizeof(magics[0]); i++)
        if (memcmp(bytes, magics[i], 4) == 0)
            return true;
    return known && bytes[0] == 0x1e;
}

static int open_folder(int above, const char *name)
{
    return openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool contains_metadata(int folder, int depth, struct stat *ret);

/* Takes `folder`. */
static bool is_in_an_entry(int folder, int depth, struct stat *ret)
{
    DIR *entries = fdopendir(folder);
    bool found = false;
    if (!entries) {
        close(folder);
        return false;
    }
    const struct dirent *entry;
    for (int i = 0; !found && i < MOST_ENTRIES && (entry = readdir(entries)); i++) {
        int inner =
            entry->d_name[0] == '.'
                ? -1
                : openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        found = inner >= 0 && contains_metadata(inner, depth, ret);
    }
    closedir(entries);
    return found;
}

/* Takes `folder`; -1: none. */
static bool contains_metadata(int folder, int depth, struct stat *ret)
{
    if (folder < 0)
        return false;
    bool is = is_metadata(folder, ret);
    if (!is && depth > 0)
        return is_in_an_entry(folder, depth - 1, ret);
    close(folder);
    return is;
}

bool trace_folder_is(const char *path, struct stat *ret)
{
    int folder = open_folder(AT_FDCWD, path);
    if (folder < 0)
        return false;
    bool is = is_metadata(folder, ret) ||
              contains_metadata(open_folder(folder, "kernel"), 0, ret) ||
              contains_metadata(open_folder(folder, "ust"), MOST_DEPTH, ret);
    close(folder);
    return is;
}
