#include "plugin/trace_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* ust/uid/1000/64-bit, ust/pid/NAME: lttng-tools 2.13, doc/man/lttng-create.1 */
enum { MOST_DEPTH = 3, MOST_ENTRIES = 1000, BEGINNING_BYTES = 10 };

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

/* --- other traces beside those of a session --- */

static bool ends_in_argus(const char *name)
{
    size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, ".argus") == 0;
}

/* Of a regular file. Of Argus, perf, trace-cmd, the kernel's text, Perfetto: importer/formats.h. */
static bool is_trace_file(int folder, const char *name)
{
    static const char *const beginnings[] = {"PERFILE2", "\x17\x08\x44tracing", "# tracer:", "\n"};
    char bytes[BEGINNING_BYTES + 1] = "";
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    bool is = fd >= 0 && ends_in_argus(name);
    bool has_bytes = fd >= 0 && read(fd, bytes, BEGINNING_BYTES) > 0;
    for (size_t i = 0; has_bytes && i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        is |= strncmp(bytes, beginnings[i], strlen(beginnings[i])) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* The parts of a session: lttng-tools 2.13, doc/man/lttng-concepts.7 and lttng-rotate.1. */
static bool is_part(const char *name)
{
    static const char *const parts[] = {"kernel", "ust", "archives"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(name, parts[i]) == 0)
            return true;
    return false;
}

static bool has_traces(int folder, int depth, int *seen);

static bool is_or_has_traces(int folder, const char *name, int depth, int *seen)
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    if (S_ISREG(status.st_mode))
        return is_trace_file(folder, name);
    int inner = S_ISDIR(status.st_mode)
                    ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                    : -1;
    if (inner < 0)
        return false;
    bool is = is_metadata(inner, &status);
    if (!is && depth > 0)
        return has_traces(inner, depth - 1, seen);
    close(inner);
    return is;
}

/* Takes `folder`. Also true if it has too much to look at. `*seen`: entries so far. The parts of a
 * session are passed over in its own folder, where `*seen` is 0. */
static bool has_traces(int folder, int depth, int *seen)
{
    DIR *entries = fdopendir(folder);
    bool is_first = *seen == 0, found = false;
    const struct dirent *entry;
    if (!entries) {
        close(folder);
        return false;
    }
    while (!found && (entry = readdir(entries)))
        if (entry->d_name[0] != '.' && !(is_first && is_part(entry->d_name)))
            found = ++*seen > MOST_ENTRIES || is_or_has_traces(folder, entry->d_name, depth, seen);
    closedir(entries);
    return found;
}

/* --- the folder --- */

static bool is_session(const char *path, int folder, struct stat *ret)
{
    int seen = 0;
    if (!contains_metadata(open_folder(folder, "kernel"), 0, ret) &&
        !contains_metadata(open_folder(folder, "ust"), MOST_DEPTH, ret))
        return false;
    int again = open_folder(AT_FDCWD, path); /* has_traces() takes it */
    return again < 0 || !has_traces(again, MOST_DEPTH, &seen);
}

bool trace_folder_is(const char *path, struct stat *ret)
{
    int folder = open_folder(AT_FDCWD, path);
    if (folder < 0)
        return false;
    bool is = is_metadata(folder, ret) || is_session(path, folder, ret);
    close(folder);
    return is;
}
