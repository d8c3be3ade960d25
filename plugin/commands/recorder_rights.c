#include "plugin/commands/recorder_rights.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Linux's capabilities by number (include/uapi/linux/capability.h), without "CAP_". */
static const char *const names[] = {
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

static void take_line(const char *line, struct recorder_rights *rights, unsigned *seen)
{
    unsigned uid, mode;
    if (sscanf(line, "Uid: %*u %u", &uid) == 1) {
        rights->uid = uid;
        ++*seen;
    } else if (sscanf(line, "CapEff: %" SCNx64, &rights->capabilities) == 1) {
        ++*seen;
    } else if (sscanf(line, "Seccomp: %u", &mode) == 1) {
        rights->filtered = mode == 2; /* SECCOMP_MODE_FILTER */
    }
}

struct recorder_rights recorder_rights_get(pid_t recorder_pid)
{
    struct recorder_rights rights = {0};
    char line[256];
    unsigned seen = 0;
    snprintf(line, sizeof(line), "/proc/%d/status", (int)recorder_pid);
    FILE *file = fopen(line, "re");
    while (file && fgets(line, sizeof(line), file))
        take_line(line, &rights, &seen);
    if (file)
        fclose(file);
    rights.known = seen == 2;
    return rights;
}

static bool has(const struct recorder_rights *rights, size_t number)
{
    return rights->capabilities >> number & 1;
}

void recorder_rights_text(const struct recorder_rights *rights, char *ret, size_t room)
{
    char list[512] = "";
    unsigned count = 0;
    size_t at = 0;
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (has(rights, i) && at < sizeof(list))
            at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", count++ ? ", " : "",
                                   names[i]);
    snprintf(ret, room, "uid %u with %u capabilities%s%s%s, system calls are %sfiltered",
             rights->uid, count, count ? " (" : "", list, count ? ")" : "",
             rights->filtered ? "" : "not ");
}

json_t *recorder_rights_json(const struct recorder_rights *rights)
{
    if (!rights->known)
        return json_null();
    json_t *list = json_array();
    for (size_t i = 0; i < NAME_COUNT; i++)
        if (has(rights, i))
            json_array_append_new(list, json_string(names[i]));
    return json_pack("{s:I, s:o, s:b}", "uid", (json_int_t)rights->uid, "capabilities", list,
                     "calls_filtered", (int)rights->filtered);
}
