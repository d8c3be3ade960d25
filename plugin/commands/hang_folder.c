#include "plugin/commands/hang_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invoker.h"
#include "plugin/paths.h"

/* --- the user who called sudo --- */

struct invoker {
    const char *user;
    uid_t uid;
    gid_t gid;
};

/* False: this process is not root, or sudo was not used. */
static bool find_invoker(struct invoker *ret)
{
    ret->user = getenv("SUDO_USER");
    return ret->user && invoker_get(&ret->uid, &ret->gid);
}

/* Whether a path, or one in an address of D-Bus ("unix:path=/run/user/0/bus,guid=…"), is in the
 * folder. */
static bool is_below(const char *value, const char *folder)
{
    const char *equals = strchr(value, '='), *path = value[0] != '/' && equals ? equals + 1 : value;
    size_t length = strlen(folder);
    return length > 1 && strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || path[length] == ',' || path[length] == '\0');
}

/* Folders and sockets of root's session, for which libraries look here first. To add one: a row. */
static void leave_session(void)
{
    static const char *const names[] = {
        "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME",
        "XDG_CONFIG_HOME", "XDG_STATE_HOME", "DBUS_SESSION_BUS_ADDRESS",
    };
    const struct passwd *root = getpwuid(0);
    const char *home = root ? root->pw_dir : "/root";
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && (is_below(value, home) || is_below(value, "/run/user/0")))
            unsetenv(names[i]);
    }
}

/* systemd makes it for a user who is logged in. */
static void find_runtime(uid_t uid)
{
    char path[32];
    struct stat status;
    snprintf(path, sizeof(path), "/run/user/%u", (unsigned)uid);
    if (!getenv("XDG_RUNTIME_DIR") && lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
        status.st_uid == uid)
        setenv("XDG_RUNTIME_DIR", path, 1);
}

/* sudo sets these variables to root's. The user may not read files in root's home folder. */
static void take_environment(const struct invoker *invoker)
{
    leave_session();
    find_runtime(invoker->uid);
    const struct passwd *user = getpwuid(invoker->uid);
    const char *home = user ? user->pw_dir : "/";
    setenv("HOME", home, 1);
    setenv("USER", invoker->user, 1);
    setenv("LOGNAME", invoker->user, 1);
}

bool hang_folder_become_invoker(void)
{
    struct invoker invoker;
    if (!find_invoker(&invoker))
        return true;
    take_environment(&invoker);
    return initgroups(invoker.user, invoker.gid) == 0 && setgid(invoker.gid) == 0 &&
           setuid(invoker.uid) == 0;
}

/* Root's rights, while those of the invoking user are in effect temporarily. */
struct rights {
    bool changed;
    gid_t gid;
    int group_count;
    gid_t *groups; /* owned */
};

static bool rights_restore(struct rights *rights)
{
    bool restored =
        !rights->changed || (seteuid(0) == 0 && setegid(rights->gid) == 0 &&
                             setgroups((size_t)rights->group_count, rights->groups) == 0);
    free(rights->groups);
    rights->groups = NULL;
    return restored;
}

static bool rights_save(struct rights *ret)
{
    int count = getgroups(0, NULL);
    ret->groups = count < 0 ? NULL : malloc(((size_t)count + 1) * sizeof(gid_t));
    if (!ret->groups)
        return false;
    ret->gid = getegid();
    ret->group_count = getgroups(count, ret->groups);
    ret->changed = ret->group_count >= 0;
    return ret->changed;
}

static bool rights_take(struct rights *ret)
{
    struct invoker invoker;
    *ret = (struct rights){.changed = false};
    if (!find_invoker(&invoker))
        return true;
    if (rights_save(ret) && initgroups(invoker.user, invoker.gid) == 0 &&
        setegid(invoker.gid) == 0 && seteuid(invoker.uid) == 0)
        return true;
    int failed = errno;
    rights_restore(ret);
    errno = failed;
    return false;
}

/* --- the folder --- */

static struct argus_error *cannot_create(const char *path, const char *part, int failed)
{
    const char *slash = strrchr(part, '/'), *above = slash ? part : ".";
    int length = slash > part ? (int)(slash - part) : 1;
    if (failed == EACCES || failed == EPERM || failed == EROFS)
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "cannot create the folder %s: you may not write into %.*s; "
                                  "choose another with -o FOLDER",
                                  path, length, above);
    return argus_error_os(failed, "cannot create the folder %s: %s", path, part);
}

/* Creates `part`, which is `path` or one of its parent directories. */
static struct argus_error *create_part(const char *path, const char *part)
{
    struct stat status;
    if (mkdir(part, 0700) == 0)
        return NULL;
    int failed = errno;
    if (stat(part, &status) < 0)
        return cannot_create(path, part, errno == ENOENT ? failed : errno);
    if (S_ISDIR(status.st_mode))
        return NULL;
    return argus_error_create(ARGUS_ERROR_USAGE,
                              "cannot create the folder %s: %s is a file; --on-hang keeps several "
                              "files: choose a folder with -o FOLDER",
                              path, part);
}

static struct argus_error *create_all(const char *path)
{
    struct argus_error *error = NULL;
    char *part = strdup(path);
    if (!part)
        return argus_error_memory();
    for (char *slash = part; !error && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        error = create_part(path, part);
        *slash = '/';
    }
    free(part);
    return error ? error : create_part(path, path);
}

static struct argus_error *open_writable(const char *path, int *ret_fd)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0) {
        *ret_fd = fd;
        return NULL;
    }
    struct argus_error *error = argus_error_os(
        errno, "cannot write into the folder %s (choose another with -o FOLDER)", path);
    if (fd >= 0)
        close(fd);
    return error;
}

static struct argus_error *create_and_open(const char *path, int *ret_fd)
{
    struct rights rights;
    if (!rights_take(&rights))
        return argus_error_os(errno, "cannot take the rights of $SUDO_USER");
    struct argus_error *error = create_all(path);
    if (!error)
        error = open_writable(path, ret_fd);
    if (rights_restore(&rights))
        return error;
    if (!error)
        close(*ret_fd);
    argus_error_destroy(error);
    return argus_error_os(errno, "cannot take back the rights of root");
}

struct argus_error *hang_folder_open(const char *path, int *ret_fd)
{
    if (!*path)
        return argus_error_create(ARGUS_ERROR_USAGE, "-o names no folder: write -o FOLDER");
    char *expanded = paths_expand_home(path);
    struct argus_error *error = expanded ? create_and_open(expanded, ret_fd) : argus_error_memory();
    free(expanded);
    return error;
}

/* Where no file tells the path: that of the working directory, which is the folder for a moment. */
static bool find_by_working_directory(int fd, char *ret, size_t room)
{
    int before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool found = before >= 0 && fchdir(fd) == 0 && getcwd(ret, room);
    int failed = errno;
    bool is_back = before >= 0 && fchdir(before) == 0;
    if (before >= 0)
        close(before);
    errno = failed;
    return found && is_back;
}

struct argus_error *hang_folder_path(int fd, char *ret, size_t room)
{
    char link[32];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, ret, room);
    if (length < 0 && find_by_working_directory(fd, ret, room))
        return NULL;
    if (length < 0 || (size_t)length >= room)
        return argus_error_os(length < 0 ? errno : ENAMETOOLONG, "cannot find the folder's path");
    ret[length] = '\0';
    return NULL;
}

/* --- files in progress --- */

void hang_folder_set_unfinished(int fd)
{
    /* a failure only means that `argus hangs` reads the file too early */
    flock(fd, LOCK_EX | LOCK_NB);
}

void hang_folder_set_finished(int fd)
{
    flock(fd, LOCK_UN);
}

bool hang_folder_is_unfinished(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return locked;
}
