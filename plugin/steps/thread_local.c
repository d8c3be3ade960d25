/* Finds a thread's storage for a library (or for the program, which is module 1) as compiled code
 * does. The thread pointer leads to the dtv, a vector with an entry of two words for each module.
 * The first word is the address of the storage (glibc, sysdeps/x86_64/nptl/tls.h and
 * sysdeps/aarch64/nptl/tls.h). The library's module number is in a word that the dynamic linker has
 * filled in (data_symbols.c finds it). */
#include "plugin/steps/thread_local.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/procfs.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__aarch64__)
#define DTV_OFFSET 0
#else
#define DTV_OFFSET 8
#endif
#define DTV_UNALLOCATED UINT64_MAX /* the thread has not used the library's variables yet */
#define PROGRAM_MODULE  1

static struct argus_error *refusal(uint32_t tid, int failed)
{
    if (failed == ESRCH)
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no thread %u", tid);
    if (failed == EPERM)
        return argus_error_create(
            ARGUS_ERROR_BUSY,
            "thread %u cannot be stopped to find its variables: a debugger has "
            "it, or you may not (ptrace: /proc/sys/kernel/yama/ptrace_scope)",
            tid);
    return argus_error_os(failed, "cannot stop thread %u to find its variables", tid);
}

static int read_thread_pointer(pid_t tid, uint64_t *ret)
{
#if defined(__aarch64__)
    struct iovec vector = {ret, sizeof(*ret)};
    return ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &vector) < 0 ? errno : 0;
#else
    struct user_regs_struct registers;
    struct iovec vector = {&registers, sizeof(registers)};
    if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &vector) < 0)
        return errno;
    *ret = registers.fs_base;
    return 0;
#endif
}

/* A stop by PTRACE_INTERRUPT disturbs no system call and leaves no signal. */
static int thread_pointer(pid_t tid, uint64_t *ret)
{
    int status, failed;
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
        return errno;
    failed = ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0 ? errno : 0;
    if (!failed && waitpid(tid, &status, __WALL) < 0)
        failed = errno;
    if (!failed && !WIFSTOPPED(status))
        return ESRCH;
    if (!failed)
        failed = read_thread_pointer(tid, ret);
    /* If the thread stopped for a signal first, the signal has to be passed on. */
    bool by_signal = !failed && status >> 16 != PTRACE_EVENT_STOP;
    ptrace(PTRACE_DETACH, tid, NULL, by_signal ? WSTOPSIG(status) : 0);
    return failed;
}

static bool read_word(uint32_t pid, uint64_t address, uint64_t *ret)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/%u/mem", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool read = fd >= 0 && pread(fd, ret, sizeof(*ret), (off_t)address) == (ssize_t)sizeof(*ret);
    if (fd >= 0)
        close(fd);
    return read;
}

static struct argus_error *find_module(uint32_t pid, const struct argus_data_symbol *symbol,
                                       uint64_t *ret)
{
    *ret = PROGRAM_MODULE;
    if (symbol->is_of_program)
        return NULL;
    if (symbol->module_word && read_word(pid, symbol->module_word, ret) && *ret && *ret < 65536)
        return NULL;
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "the library does not say where its thread-local variables are: give "
                              "the variable's address");
}

struct argus_error *thread_local_address(uint32_t pid, uint32_t tid,
                                         const struct argus_data_symbol *symbol, uint64_t *ret)
{
    uint64_t module, pointer = 0, dtv = 0, block = DTV_UNALLOCATED;
    struct argus_error *error = find_module(pid, symbol, &module);
    if (error)
        return error;
    int failed = thread_pointer((pid_t)tid, &pointer);
    if (failed)
        return refusal(tid, failed);
    bool found = read_word(pid, pointer + DTV_OFFSET, &dtv) &&
                 read_word(pid, dtv + 16 * module, &block) && block && block != DTV_UNALLOCATED;
    if (!found)
        return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                  "thread %u has no copy of the variable yet", tid);
    *ret = block + symbol->address;
    return NULL;
}
