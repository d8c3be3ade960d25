#include "plugin/fleet/package_lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compat.h"
#include "event/binary/elf_file.h"

enum { LINE_BYTES = 512 };

/* A package manager: the command that tells the package of a file, and the one that tells the
 * version of a package; NULL: the first tells both. The argument goes last. */
static const struct manager {
    const char *owner[6];
    const char *version[5];
} managers[] = {
    /* in C's language, because lines that tell no package are known by their words */
    {{"env", "LC_ALL=C", "dpkg-query", "--search", NULL},
     {"dpkg-query", "--show", "--showformat=${Version}\\n", NULL}},
    {{"rpm", "--query", "--queryformat=%{NAME} %{VERSION}-%{RELEASE}\\n", "--file", NULL}, {NULL}},
};

/* Lines of dpkg-query about a file that a package or an administrator has moved. */
static bool tells_no_package(const char *line)
{
    static const char *const beginnings[] = {"diversion by ", "local diversion "};
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(line, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Removes the lines that tell no package, and all after the first other one. */
static void keep_line(char *text)
{
    const char *line = text;
    while (tells_no_package(line)) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    size_t length = strcspn(line, "\n");
    memmove(text, line, length);
    text[length] = '\0';
}

/* Starts the command with `fd` as its output, and without errors. */
static bool spawn_to(char *const *words, int fd, pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    bool started = posix_spawnp(ret_pid, words[0], &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    return started;
}

/* Writes the first line that the command prints, without those that tell no package, to `ret`.
 * False: it failed. */
static bool first_line(const char *const *command, const char *argument, char ret[LINE_BYTES])
{
    char *words[8] = {NULL};
    int ends[2], status = 1;
    pid_t pid;
    size_t count = 0, length = 0;
    for (; command[count]; count++)
        words[count] = (char *)(uintptr_t)command[count];
    words[count] = (char *)(uintptr_t)argument;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    bool started = spawn_to(words, ends[1], &pid);
    close(ends[1]);
    char block[LINE_BYTES];
    for (ssize_t got; started && ((got = read(ends[0], block, sizeof(block))) > 0 ||
                                  (got < 0 && errno == EINTR));)
        for (ssize_t i = 0; i < got && length < LINE_BYTES - 1; i++)
            ret[length++] = block[i];
    close(ends[0]);
    ret[length] = '\0';
    keep_line(ret);
    while (started && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return started && WIFEXITED(status) && WEXITSTATUS(status) == 0 && ret[0];
}

/* Where the name of the package ends: dpkg prints "libc6:amd64, libfoo: /usr/lib/…", and takes
 * "libc6:amd64"; rpm prints "NAME VERSION". */
static char *end_of_package(const struct manager *manager, char *line)
{
    char *end = line + strcspn(line, manager->version[0] ? ", " : " ");
    return manager->version[0] && end > line && end[-1] == ':' ? end - 1 : end;
}

static bool ask(const struct manager *manager, const char *path, char *ret_package,
                char *ret_version)
{
    char line[LINE_BYTES], version[LINE_BYTES];
    if (!first_line(manager->owner, path, line))
        return false;
    char *end = end_of_package(manager, line);
    if (!*end || end == line)
        return false;
    *end = '\0';
    if (!manager->version[0])
        snprintf(version, sizeof(version), "%s", end + 1);
    else if (!first_line(manager->version, line, version))
        return false;
    line[strcspn(line, ":")] = '\0';
    snprintf(ret_package, PACKAGE_BYTES, "%.*s", PACKAGE_BYTES - 1, line);
    snprintf(ret_version, PACKAGE_BYTES, "%.*s", PACKAGE_BYTES - 1, version);
    return strcspn(ret_version, " ") == strlen(ret_version);
}

bool package_lookup(const char *path, char ret_package[PACKAGE_BYTES],
                    char ret_version[PACKAGE_BYTES])
{
    /* where /bin is a link to /usr/bin, a package may have the file in either */
    const char *other = strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
    for (size_t i = 0; i < sizeof(managers) / sizeof(managers[0]); i++)
        if (ask(&managers[i], path, ret_package, ret_version) ||
            (other != path && ask(&managers[i], other, ret_package, ret_version)))
            return true;
    return false;
}

bool package_lookup_build(const char *path, const char *build_id, char ret_package[PACKAGE_BYTES],
                          char ret_version[PACKAGE_BYTES])
{
    uint8_t bytes[ELF_BUILD_ID_MAX];
    char text[2 * ELF_BUILD_ID_MAX + 1] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uint32_t count = fd < 0 ? 0 : elf_file_build_id_fd(fd, bytes);
    if (fd >= 0)
        close(fd);
    for (uint32_t i = 0; i < count && i < ELF_BUILD_ID_MAX; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return count && strcmp(text, build_id) == 0 && package_lookup(path, ret_package, ret_version);
}

/* --- several files --- */

enum { MOST_ARGUMENTS = 1100, MOST_OUTPUT = 1 << 20, MOST_ONE_BY_ONE = 16 };

/* What the command prints, from malloc; NULL: it could not be started. Its exit code does not
 * matter: dpkg-query fails if one file of many has no package. */
static char *output_of(char *const *words)
{
    int ends[2], status;
    pid_t pid;
    char *text = NULL;
    size_t length = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    bool started = spawn_to(words, ends[1], &pid);
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    if (!in)
        close(ends[0]);
    if (in && started && (text = malloc(MOST_OUTPUT)))
        length = fread(text, 1, MOST_OUTPUT - 1, in);
    if (text)
        text[length] = '\0';
    if (in)
        fclose(in); /* a command that would print more gets SIGPIPE */
    while (started && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return text;
}

/* The same file, where /bin is a link to /usr/bin. */
static bool is_same_path(const char *path, const char *listed)
{
    return strcmp(path, listed) == 0 ||
           (strncmp(path, "/usr/", 5) == 0 && strcmp(path + 4, listed) == 0);
}

/* A line of dpkg-query --search: "libc6:amd64, libfoo: /usr/lib/…". */
static void take_owner(char *line, struct package_of_file *files, size_t count)
{
    char *path = strstr(line, ": /");
    size_t length = strcspn(line, ":, ");
    if (!path || !length || tells_no_package(line))
        return;
    for (size_t i = 0; i < count; i++)
        if (!files[i].package[0] && length < PACKAGE_BYTES && is_same_path(files[i].path, path + 2))
            snprintf(files[i].package, PACKAGE_BYTES, "%.*s", (int)length, line);
}

/* A line "NAME VERSION". */
static void take_version(char *line, struct package_of_file *files, size_t count)
{
    char *version = strchr(line, ' ');
    if (!version || strlen(version + 1) >= PACKAGE_BYTES)
        return;
    *version++ = '\0';
    for (size_t i = 0; i < count; i++)
        if (strcmp(files[i].package, line) == 0)
            snprintf(files[i].version, PACKAGE_BYTES, "%.*s", PACKAGE_BYTES - 1, version);
}

static void take_lines(char *text, void (*take)(char *, struct package_of_file *, size_t),
                       struct package_of_file *files, size_t count)
{
    char *rest = text;
    for (char *line; rest && (line = strsep(&rest, "\n"));)
        take(line, files, count);
    free(text);
}

static void ask_dpkg(struct package_of_file *files, size_t count)
{
    char *words[MOST_ARGUMENTS] = {"env", "LC_ALL=C", "dpkg-query", "--search"};
    size_t used = 4;
    for (size_t i = 0; i < count && used + 3 < MOST_ARGUMENTS; i++) {
        if (files[i].path[strcspn(files[i].path, "*?[\\")])
            continue; /* a pattern */
        words[used++] = (char *)(uintptr_t)files[i].path;
        if (strncmp(files[i].path, "/usr/", 5) == 0)
            words[used++] = (char *)(uintptr_t)(files[i].path + 4);
    }
    words[used] = NULL;
    take_lines(output_of(words), take_owner, files, count);
    used = 5;
    words[3] = "--show";
    words[4] = "--showformat=${Package} ${Version}\\n";
    for (size_t i = 0; i < count && used + 1 < MOST_ARGUMENTS; i++)
        if (files[i].package[0])
            words[used++] = files[i].package;
    words[used] = NULL;
    if (used > 5)
        take_lines(output_of(words), take_version, files, count);
}

void package_lookup_all(struct package_of_file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        files[i].package[0] = files[i].version[0] = '\0';
    if (access("/var/lib/dpkg/status", R_OK) == 0)
        ask_dpkg(files, count);
    else
        for (size_t i = 0; i < count && i < MOST_ONE_BY_ONE; i++)
            if (!package_lookup(files[i].path, files[i].package, files[i].version))
                files[i].package[0] = files[i].version[0] = '\0';
}
