/* A copied stack, unwound by the call frame information of any ELF file. The input: the file, and
 * behind it the copy: the registers, then the words of the stack. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/binary/elf_file.h"
#include "event/unwind/cfi.h"
#include "fuzz.h"

enum { STACK_WORDS = 32, MOST_STEPS = 64, STACK_AT = 0x7fff0000 };

struct copy {
    uint64_t registers[CFI_REGISTERS], stack[STACK_WORDS];
};

struct code {
    uint64_t address;
    size_t bytes;
};

static bool read_stack(void *context, uint64_t address, uint64_t *ret)
{
    const struct copy *copy = context;
    uint64_t at = address - STACK_AT;
    if (at > sizeof(copy->stack) - sizeof(*ret))
        return false;
    memcpy(ret, (const char *)copy->stack + at, sizeof(*ret));
    return true;
}

/* Values below 2^16 are places on the stack, so that not every chain ends at its first step. */
static void fill(struct cfi_machine *machine, const struct copy *copy)
{
    *machine = (struct cfi_machine){.known = UINT64_MAX, .read = read_stack};
    machine->context = (void *)copy;
    for (size_t i = 0; i < CFI_REGISTERS; i++) {
        uint64_t value = copy->registers[i];
        machine->registers[i] = value >> 16 ? value : STACK_AT + value % sizeof(copy->stack);
    }
}

/* Any address means one in the code. */
static uint64_t into_code(const struct code *code, uint64_t address)
{
    return code->bytes ? code->address + (address - code->address) % code->bytes : address;
}

static void unwind(struct elf_file *file, const struct copy *copy)
{
    struct cfi cfi;
    struct cfi_machine machine;
    struct code code = {0};
    uint32_t registers = elf_file_machine(file) == ELF_MACHINE_AARCH64 ? 33 : 17;
    fill(&machine, copy);
    cfi_init(&cfi, file, registers);
    elf_file_code(file, copy->stack[0] % 3, &code.address, &code.bytes);
    for (int i = 0; i < MOST_STEPS; i++) {
        const struct cfi_row *row =
            cfi_find(&cfi, into_code(&code, machine.registers[registers - 1]));
        if (!row || cfi_step(&cfi, row, &machine) != CFI_STEPPED)
            break;
    }
    cfi_deinit(&cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_identity identity = {.build_id_bytes = 0};
    struct copy copy = {0};
    bool stale;
    size_t tail = size < sizeof(copy) ? size : sizeof(copy);
    memcpy(&copy, data + (size - tail), tail);
    int fd = memfd_create("fuzz_unwind", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    if (write(fd, data, size - tail) != (ssize_t)(size - tail))
        abort();
    struct elf_file *file = elf_file_open_fd(fd, "/nowhere/fuzz", &identity, &stale);
    if (file)
        unwind(file, &copy);
    elf_file_close(file);
    return 0;
}
