/* Whether a process may be stepped: reasons for refusal and their messages. */
#include "linux/step/step_attach.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process_owner.h"
#include "linux/small_file.h"

static bool status_number(uint32_t pid, const char *name, unsigned long *ret)
{
    char path[40], text[4096];
    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    if (!small_file_read(path, text, sizeof(text)))
        return false;
    const char *at = strstr(text, name);
    *ret = at ? strtoul(at + strlen(name), NULL, 10) : 0;
    return at != NULL;
}

void step_comm(pid_t tid, char ret[16])
{
    char path[40];
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
    if (!small_file_read(path, ret, 16))
        ret[0] = '\0';
    ret[strcspn(ret, "\n")] = '\0';
}

struct argus_error *step_check_program(uint32_t pid)
{
    char path[40], magic[8];
    snprintf(path, sizeof(path), "/proc/%u/exe", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, magic, EI_CLASS + 1) : 0;
    if (fd >= 0)
        close(fd);
    if (got == EI_CLASS + 1 && memcmp(magic, ELFMAG, SELFMAG) == 0 && magic[EI_CLASS] == ELFCLASS32)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "process %u is a 32-bit program, which Argus cannot step", pid);
    return NULL;
}

struct argus_error *step_check_process(const struct step_request *request)
{
    unsigned long tracer = 0, group = 0;
    uint32_t pid = request->pid;
    if (!status_number(pid, "Tgid:", &group))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process %u", pid);
    if (group != pid)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%u is a thread of process %lu: give the process, and the thread "
                                  "with --thread",
                                  pid, group);
    if (request->tid && !status_number(request->tid, "Tgid:", &group))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no thread %u", request->tid);
    if (group != pid)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "thread %u belongs to process %lu, not to process %u",
                                  request->tid, group, pid);
    status_number(request->tid ? request->tid : pid, "TracerPid:", &tracer);
    if (tracer) {
        char name[16];
        step_comm((pid_t)tracer, name);
        return argus_error_create(ARGUS_ERROR_BUSY,
                                  "process %u is traced already, by process %lu (%s): only one "
                                  "can do that at a time",
                                  pid, tracer, name);
    }
    return step_check_program(pid);
}

struct argus_error *step_refusal(const struct step_request *request, pid_t tid, int failed)
{
    if (failed == ESRCH)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no thread %d", (int)tid);
    if (failed != EPERM && failed != EACCES)
        return argus_error_os(failed, "cannot step thread %d", (int)tid);
    char scope[8] = "";
    bool has_yama = small_file_read("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
    if (has_yama && scope[0] == '3')
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "no user may step process %u: "
                                  "/proc/sys/kernel/yama/ptrace_scope is 3",
                                  request->pid);
    if (has_yama && scope[0] != '0' && geteuid() != 0)
        return argus_error_create(ARGUS_ERROR_PERMISSION,
                                  "process %u may be stepped by root only: "
                                  "/proc/sys/kernel/yama/ptrace_scope is %c",
                                  request->pid, scope[0]);
    return process_owner_error("step", request->pid, geteuid());
}
