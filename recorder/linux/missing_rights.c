#include "linux/missing_rights.h"

#include <linux/capability.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* To add one: a row. */
static const struct {
    int capability;
    const char *name, *missing;
} uses[] = {
    {CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
     "mappings, open files and locks of other users' processes are unknown, and the windows of "
     "all, "
     "so --on-hang is refused"},
    {CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH",
     "open files of other users' processes are unknown"},
    {CAP_SYSLOG, "CAP_SYSLOG", "functions of the kernel have no names"},
};

void missing_rights_note(struct backend *backend)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &header, held) < 0)
        return;
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        int number = uses[i].capability;
        if (!(held[CAP_TO_INDEX(number)].effective & CAP_TO_MASK(number)))
            backend_note(backend, "the recorder lacks %s: %s", uses[i].name, uses[i].missing);
    }
}
