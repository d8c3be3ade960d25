#include "linux/served_files.h"

#include <stdlib.h>
#include <string.h>

/* Types of file systems, as mountinfo has them. FUSE may have more behind it ("fuse.sshfs",
 * "fuseblk"). To add one: a row. */
static const char *const served_types[] = {
    "fuse", "nfs", "nfs4", "cifs", "smb3", "afs", "ceph", "coda", "lustre", "orangefs",
};

static bool is_served(const char *type)
{
    for (size_t i = 0; i < sizeof(served_types) / sizeof(served_types[0]); i++)
        if (strcmp(type, served_types[i]) == 0)
            return true;
    return strncmp(type, "fuse.", 5) == 0 || strcmp(type, "fuseblk") == 0;
}

static uint64_t key_of(uint32_t major, uint32_t minor)
{
    return (uint64_t)major << 32 | minor;
}

/* "36 35 98:0 /root /mount options optional… - type source options", proc(5) */
static bool add_line(struct served_files *served, const char *line)
{
    uint32_t major, minor;
    char type[32];
    const char *behind = strstr(line, " - ");
    if (!behind || sscanf(line, "%*u %*u %u:%u ", &major, &minor) != 2 ||
        sscanf(behind, " - %31s", type) != 1)
        return true;
    return idmap_put(&served->by_device, key_of(major, minor), is_served(type));
}

bool served_files_add(struct served_files *served, FILE *mountinfo)
{
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    while (good && getline(&line, &room, mountinfo) > 0)
        good = add_line(served, line);
    free(line);
    return good;
}

bool served_files_has(struct served_files *served, const char *pid, uint32_t major, uint32_t minor)
{
    char path[64];
    uint32_t found = idmap_get(&served->by_device, key_of(major, minor));
    if (found != IDMAP_NONE)
        return found;
    snprintf(path, sizeof(path), "/proc/%.20s/mountinfo", pid);
    FILE *mountinfo = fopen(path, "re");
    if (mountinfo) {
        served_files_add(served, mountinfo);
        fclose(mountinfo);
    }
    found = idmap_get(&served->by_device, key_of(major, minor));
    if (found ==
        IDMAP_NONE) { /* a detached one, or one of the kernel's own: never looked for again */
        found = major == 0;
        idmap_put(&served->by_device, key_of(major, minor), found);
    }
    return found;
}
