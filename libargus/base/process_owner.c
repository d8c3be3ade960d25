#include "base/process_owner.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* " (editor)"; "" if the name cannot be read. */
static void name_text(uint32_t pid, char *ret, size_t room)
{
    char path[32], name[32] = "";
    snprintf(path, sizeof(path), "/proc/%u/comm", pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof(name), file))
        name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
    ret[0] = '\0';
    if (*name)
        snprintf(ret, room, " (%s)", name);
}

/* Numbers rather than names: the part of Argus that runs as root asks no directory service. */
static void user_text(uid_t uid, char *ret, size_t room)
{
    if (uid == 0)
        snprintf(ret, room, "root");
    else
        snprintf(ret, room, "user %u", (unsigned)uid);
}

struct argus_error *process_owner_error(const char *action, uint32_t pid, uid_t uid)
{
    char path[32], name[48], owner[24], user[24];
    struct stat process;
    snprintf(path, sizeof(path), "/proc/%u", pid);
    if (stat(path, &process) < 0)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "cannot %s process %u: there is none",
                                  action, pid);
    name_text(pid, name, sizeof(name));
    user_text(process.st_uid, owner, sizeof(owner));
    user_text(uid, user, sizeof(user));
    if (uid == 0)
        return argus_error_create(
            ARGUS_ERROR_PERMISSION,
            "cannot %s process %u%s: the system protects it even from root (a "
            "container, a security module)",
            action, pid, name);
    if (process.st_uid == uid)
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "cannot %s process %u%s: the system protects it (it has or had "
                                  "more rights, or ptrace is restricted); run argus with sudo",
                                  action, pid, name);
    return argus_error_create(ARGUS_ERROR_PERMISSION,
                              "cannot %s process %u%s: it belongs to %s, and this is %s; run argus "
                              "with sudo",
                              action, pid, name, owner, user);
}

struct argus_error *process_check_owner(const char *action, uint32_t pid, uid_t uid)
{
    char path[32];
    struct stat process;
    /* The folder /proc/PID itself belongs to the process's user in any case, its files to root if
     * nobody may inspect the process (task_dump_owner() of the kernel). */
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    if (stat(path, &process) < 0)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process %u", pid);
    return uid == 0 || uid == process.st_uid ? NULL : process_owner_error(action, pid, uid);
}
