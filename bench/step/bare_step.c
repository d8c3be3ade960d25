/* bare_step HOW PID ADDRESS COUNT: the minimum that a tracer must do, on the CPU of the traced
 * thread; prints ns per operation.
 *
 *   step    PTRACE_SINGLESTEP, waitpid(), PTRACE_GETREGS
 *   stop    from one hit of a breakpoint in a debug register to the next: the cost of one stop per basic block
 *   read    8 bytes of its memory by process_vm_readv(): the cost of an emulated load
 */
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void go_and_wait(unsigned request, pid_t pid)
{
    int status;
    struct user_regs_struct registers;
    if (ptrace(request, pid, NULL, NULL) < 0 || waitpid(pid, &status, __WALL) != pid ||
        ptrace(PTRACE_GETREGS, pid, NULL, &registers) < 0) {
        perror("bare_step");
        exit(1);
    }
}

static void stop_at(pid_t pid, uint64_t address)
{
    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[0]), address);
    ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[7]), 1ul);
}

static void read_memory(pid_t pid, uint64_t address)
{
    uint64_t word;
    struct iovec to = {&word, sizeof(word)}, from = {(void *)address, sizeof(word)};
    if (process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)sizeof(word))
        exit(1);
}

/* The same CPU as argus step uses: the last one that the thread may use. */
static void pin(pid_t pid)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(pid, sizeof(allowed), &allowed) < 0)
        return;
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && CPU_COUNT(&one) == 0; cpu--)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, &one);
    if (sched_setaffinity(pid, sizeof(one), &one) < 0 ||
        sched_setaffinity(0, sizeof(one), &one) < 0)
        perror("bare_step: not pinned");
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    pid_t pid = atoi(argv[2]);
    uint64_t address = strtoull(argv[3], NULL, 0);
    long count = atol(argv[4]);
    int status, is_stop = strcmp(argv[1], "stop") == 0, is_read = strcmp(argv[1], "read") == 0;
    pin(pid);
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 ||
        ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || waitpid(pid, &status, __WALL) != pid) {
        perror("bare_step");
        return 1;
    }
    uint64_t start = now_ns();
    for (long i = 0; i < count; i++) {
        if (is_stop)
            stop_at(pid, address);
        if (is_read)
            read_memory(pid, address);
        else
            go_and_wait(is_stop ? PTRACE_CONT : PTRACE_SINGLESTEP, pid);
    }
    printf("%.1f\n", (double)(now_ns() - start) / (double)count);
    kill(pid, SIGKILL);
    return 0;
}
