/* Records of hooks in programs (dylib-hooks/). A hook calls getpid(), which ignores its argument
 * registers, and passes a record in them. Any process may report events of its own threads and
 * nothing else, so only the subclasses of hooks are accepted.
 */
#ifndef ARGUS_BPF_HOOK_H
#define ARGUS_BPF_HOOK_H

#include "ring.h"

#define HOOK_CALLBACKS (ARGUS_DEBUGID(ARGUS_CLASS, 3, 0) >> 16)
#define HOOK_FLAGS     (ARGUS_DEBUGID(ARGUS_CLASS, 5, 0) >> 16)

static __always_inline bool is_hook_call(struct pt_regs *regs, uint64_t number)
{
    return number == ARCH_GETPID && arch_argument0(regs) == ARGUS_HOOK_CALL;
}

static __always_inline void emit_hook(struct bpf_cpu *state, uint32_t cpu, const struct moment *now,
                                      struct pt_regs *regs)
{
    uint64_t debugid = arch_argument1(regs), subclass = debugid >> 16;
    if (settings.hooks && (subclass == HOOK_CALLBACKS || subclass == HOOK_FLAGS))
        emit_on(state, cpu, now, (uint32_t)debugid, arch_argument2(regs), arch_argument3(regs),
                arch_argument4(regs), arch_argument5(regs));
}

#endif
