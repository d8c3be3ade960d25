#include "live/live_go_unwind.h"
#include "live/live_images.h"

#include <string.h>

enum { WORD = 8 };

/* Functions at which a stack begins, or where Go goes on on another stack (runtime/asm_amd64.s). */
static const char *const outermost[] = {
    "runtime.goexit", "runtime.mcall",       "runtime.mstart",
    "runtime.rt0_go", "runtime.systemstack", "runtime.morestack",
};

static bool is_outermost(struct elf_file *elf, uint64_t address)
{
    uint64_t offset;
    const char *name = elf_file_function(elf, address, &offset);
    for (size_t i = 0; name && i < sizeof(outermost) / sizeof(outermost[0]); i++) {
        size_t length = strlen(outermost[i]);
        /* "runtime.goexit.abi0", but not "runtime.systemstack_switch" */
        if (strncmp(name, outermost[i], length) == 0 && (!name[length] || name[length] == '.'))
            return true;
    }
    return false;
}

enum live_go_step live_go_step(struct elf_file *elf, uint64_t address,
                               const struct unwind_processor *processor,
                               struct cfi_machine *machine)
{
    uint32_t bytes;
    uint64_t caller, sp = machine->registers[processor->stack];
    unsigned pc = processor->registers - 1;
    if (processor->machine != ELF_MACHINE_X86_64 || !(machine->known >> processor->stack & 1) ||
        elf_file_go_code(elf, address) == ELF_NOT_GO)
        return LIVE_GO_NONE;
    if (is_outermost(elf, address))
        return LIVE_GO_OUTERMOST;
    if (!elf_file_go_stack_bytes(elf, address, &bytes) ||
        !machine->read(machine->context, sp + bytes, &caller) || !caller)
        return LIVE_GO_NONE;
    machine->cfa = sp + bytes + WORD;
    machine->registers[processor->stack] = machine->cfa;
    machine->registers[pc] = caller;
    machine->known = 1ull << processor->stack | 1ull << pc;
    return LIVE_GO_STEPPED;
}
