#include "linux/pid_namespace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux/perf/event_format.h"
#include "linux/perf/self_tracepoint.h"
#include "linux/tracefs.h"

/* include/linux/proc_ns.h: the inode of the first pid namespace. */
#define FIRST_PID_NAMESPACE 0xeffffffcu

bool pid_namespace_is_own(void)
{
    struct stat status;
    return stat("/proc/self/ns/pid", &status) == 0 && status.st_ino != FIRST_PID_NAMESPACE;
}

/* Only the first namespace has kthreadd, as its second process. (Not every root may read the link
 * /proc/1/ns/pid.) */
static bool shows_first_namespace(void)
{
    char name[16] = "";
    int fd = open("/proc/2/comm", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, name, sizeof(name) - 1) : 0;
    if (fd >= 0)
        close(fd);
    return length > 0 && strncmp(name, "kthreadd\n", (size_t)length) == 0;
}

bool pid_namespace_fits_proc(void)
{
    return !pid_namespace_is_own() || shows_first_namespace();
}

static void call_the_kernel(void *context)
{
    (void)context;
    getppid();
}

struct search {
    struct event_field common_pid;
    uint32_t found;
};

static void take_id(void *context, const void *raw, size_t raw_bytes)
{
    struct search *search = context;
    search->found = (uint32_t)event_field_number(&search->common_pid, raw, raw_bytes);
}

/* A record of any tracepoint begins with the thread's id in the first namespace; for the recorder,
 * that is also the process ID, because it has only one thread at that time. */
static uint32_t ask_tracepoint(void)
{
    int tracefs;
    struct search search = {.found = 0};
    struct argus_error *error = tracefs_open(&tracefs);
    if (error) {
        argus_error_destroy(error);
        return 0;
    }
    char *format = tracefs_format(tracefs, "raw_syscalls", "sys_enter");
    close(tracefs);
    if (format && event_format_find(format, "common_pid", &search.common_pid)) {
        struct self_tracepoint calls = {event_format_id(format), call_the_kernel, take_id, &search};
        self_tracepoint_listen(&calls);
    }
    free(format);
    return search.found;
}

/* /proc/self links to the ID in the namespace of this /proc. */
static uint32_t ask_proc(void)
{
    char self[32];
    ssize_t length = readlink("/proc/self", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    return (uint32_t)strtoul(self, NULL, 10);
}

uint32_t pid_namespace_own_id(void)
{
    if (!pid_namespace_is_own())
        return (uint32_t)getpid();
    uint32_t id = pid_namespace_fits_proc() ? ask_proc() : ask_tracepoint();
    return id ? id : (uint32_t)getpid();
}

const char *pid_namespace_note(void)
{
    if (access("/proc/1", F_OK) < 0)
        return "/proc hides processes from the recorder (hidepid): what began before the recording "
               "has no names and no symbols (CAP_SYS_PTRACE shows them)";
    if (pid_namespace_fits_proc())
        return NULL;
    return "the recorder runs in a pid namespace of its own (a container): thread ids are the "
           "host's, and what began before the recording has no names and no symbols (docker run "
           "--pid=host gives both)";
}
