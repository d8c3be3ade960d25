#include "linux/step/step_thread.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "base/code_address.h"

#define FLAG_TRAP   0x100u
#define FLAG_RESUME 0x10000u

size_t step_memory_read(int memory_fd, uint64_t address, void *ret, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(memory_fd, (char *)ret + done, bytes - done, (off_t)(address + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

#if defined(__x86_64__)

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, RIP = 16, RFLAGS = 17 };

bool step_registers_read(pid_t tid, uint64_t ret[STEP_REGISTERS_MOST])
{
    struct user_regs_struct from;
    if (ptrace(PTRACE_GETREGS, tid, NULL, &from) < 0)
        return false;
    const uint64_t row[STEP_REGISTER_COUNT] = {
        from.rax,     from.rcx,    from.rdx,
        from.rbx,     from.rsp,    from.rbp,
        from.rsi,     from.rdi,    from.r8,
        from.r9,      from.r10,    from.r11,
        from.r12,     from.r13,    from.r14,
        from.r15,     from.rip,    from.eflags & ~(uint64_t)FLAG_RESUME,
        from.fs_base, from.gs_base};
    memcpy(ret, row, sizeof(row));
    return true;
}

uint64_t step_pc(const uint64_t *registers)
{
    return registers[RIP];
}

uint64_t step_stack_pointer(const uint64_t *registers)
{
    return registers[RSP];
}

uint64_t step_result(const uint64_t *registers)
{
    return registers[RAX];
}

void step_arguments(const uint64_t *registers, uint64_t ret[6])
{
    const uint64_t row[6] = {registers[RDI], registers[RSI], registers[RDX],
                             registers[RCX], registers[R8],  registers[R9]};
    memcpy(ret, row, sizeof(row));
}

struct step_instruction step_instruction(const uint8_t *code, size_t bytes)
{
    return step_instruction_x86_64(code, bytes);
}

void step_forget_resume(pid_t tid)
{
    const size_t offset = offsetof(struct user, regs.eflags);
    errno = 0;
    long flags = ptrace(PTRACE_PEEKUSER, tid, offset, NULL);
    if (!errno && flags & FLAG_RESUME)
        ptrace(PTRACE_POKEUSER, tid, offset, flags & ~(long)FLAG_RESUME);
}

bool step_return_address(int memory_fd, const uint64_t *registers, uint64_t *ret)
{
    return step_memory_read(memory_fd, registers[RSP], ret, sizeof(*ret)) == sizeof(*ret);
}

void step_mend_pushf(int memory_fd, const uint64_t *registers)
{
    uint16_t low;
    if (step_memory_read(memory_fd, registers[RSP], &low, sizeof(low)) != sizeof(low) ||
        !(low & FLAG_TRAP))
        return;
    low = (uint16_t)(low & ~FLAG_TRAP);
    if (pwrite(memory_fd, &low, sizeof(low), (off_t)registers[RSP]) < 0)
        return; /* then the flag stays: popf raises a signal, which the stepper intercepts */
}

#else

enum { X0 = 0, X30 = 30, SP = 31, PC = 32, TPIDR = 34 };

bool step_registers_read(pid_t tid, uint64_t ret[STEP_REGISTERS_MOST])
{
    struct iovec general = {ret, 34 * sizeof(*ret)}, thread = {&ret[TPIDR], sizeof(*ret)};
    ret[TPIDR] = 0;
    if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &general) < 0)
        return false;
    ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &thread);
    return true;
}

uint64_t step_pc(const uint64_t *registers)
{
    return registers[PC];
}

uint64_t step_stack_pointer(const uint64_t *registers)
{
    return registers[SP];
}

uint64_t step_result(const uint64_t *registers)
{
    return registers[X0];
}

void step_arguments(const uint64_t *registers, uint64_t ret[6])
{
    memcpy(ret, registers, 6 * sizeof(*ret));
}

struct step_instruction step_instruction(const uint8_t *code, size_t bytes)
{
    return step_instruction_aarch64(code, bytes);
}

void step_forget_resume(pid_t tid)
{
    (void)tid; /* the kernel itself steps over a breakpoint */
}

bool step_return_address(int memory_fd, const uint64_t *registers, uint64_t *ret)
{
    (void)memory_fd;
    *ret = code_address_arm64(registers[X30]); /* inside a function it may be signed */
    return true;
}

void step_mend_pushf(int memory_fd, const uint64_t *registers)
{
    (void)memory_fd, (void)registers;
}

#endif
