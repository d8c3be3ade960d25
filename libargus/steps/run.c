#include "steps/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"

/* Instructions and step files must number registers equally. */
_Static_assert((int)REGISTER_RSP == (int)ARGUS_X86_RSP && (int)REGISTER_RDX == (int)ARGUS_X86_RDX &&
                   (int)REGISTER_RDI == (int)ARGUS_X86_RDI &&
                   (int)REGISTER_X31 == (int)ARGUS_ARM64_SP,
               "registers of instruction.h are those of steps.h");

enum { CODE_MOST = 16 }; /* the longest instruction, plus one byte */

size_t run_code(const struct run *run, uint64_t address, size_t room, uint8_t *ret)
{
    size_t bytes = argus_steps_code(run->steps, address, room, ret);
    const struct module *module = bytes ? NULL : places_module(run->places, address);
    uint64_t offset;
    if (!module || !module->elf || !elf_file_offset(module->elf, address - module->base, &offset))
        return bytes;
    for (bytes = room; bytes > 0; bytes--) /* fewer bytes may follow the file's last instruction */
        if (elf_file_read(module->elf, offset, bytes, ret))
            return bytes;
    return 0;
}

/* The instruction at `pc`, decoded on first use. False: no memory. */
static bool decode(struct run *run, uint64_t pc, uint32_t *ret)
{
    uint8_t code[CODE_MOST];
    struct instruction instruction;
    *ret = idmap_get(&run->by_pc, pc);
    if (*ret != IDMAP_NONE)
        return true;
    size_t bytes = run_code(run, pc, sizeof(code), code);
    instruction_decode(run->decoder, code, bytes, pc, &instruction);
    *ret = (uint32_t)run->instructions.length;
    return vec_push(&run->instructions, instruction) && vec_push(&run->executions, 0) &&
           idmap_put(&run->by_pc, pc, *ret);
}

static bool decode_all(struct run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        if (!decode(run, run->pcs[i], &run->instruction_of[i]))
            return false;
        run->executions.data[run->instruction_of[i]]++;
        run->undecoded += run_instruction(run, i)->length == 0;
    }
    return true;
}

static void note_skips(struct run *run)
{
    const struct argus_step_event *events;
    size_t count = argus_steps_events(run->steps, &events);
    memset(run->skip_of, 0xff, run->count * sizeof(*run->skip_of)); /* ARGUS_NONE */
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == ARGUS_STEP_SKIP && events[i].step < run->count)
            run->skip_of[events[i].step] = (uint32_t)i;
}

static struct argus_error *fill(struct run *run)
{
    enum argus_arch arch = argus_steps_about(run->steps)->arch;
    struct argus_error *error = places_create(run->steps, &run->places);
    if (!error)
        error = instruction_decoder_create(
            arch == ARGUS_ARCH_AARCH64 ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64, &run->decoder);
    if (error)
        return error;
    size_t bytes = (run->count + 1) * sizeof(uint32_t);
    run->instruction_of = malloc(bytes);
    run->activation_of = malloc(bytes);
    run->skip_of = malloc(bytes);
    if (!run->instruction_of || !run->activation_of || !run->skip_of || !decode_all(run))
        return argus_error_memory();
    note_skips(run);
    return NULL;
}

struct argus_error *run_create(struct argus_steps *steps, struct run **ret)
{
    struct run *run = calloc(1, sizeof(*run));
    if (!run)
        return argus_error_memory();
    run->steps = steps;
    run->count = (uint32_t)argus_steps_pcs(steps, &run->pcs);
    struct argus_error *error = fill(run);
    if (!error && run->count == 0)
        error = argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s: there are no steps in it",
                                   argus_steps_path(steps));
    if (error)
        run_destroy(run);
    else
        *ret = run;
    return error;
}

void run_destroy(struct run *run)
{
    if (!run)
        return;
    instruction_decoder_destroy(run->decoder);
    places_destroy(run->places);
    vec_deinit(&run->instructions);
    vec_deinit(&run->executions);
    vec_deinit(&run->keys);
    vec_deinit(&run->activations);
    idmap_deinit(&run->by_pc);
    free(run->instruction_of);
    free(run->activation_of);
    free(run->skip_of);
    free(run);
}

static uint64_t hash_text(uint64_t seed, const char *text)
{
    return hash64(seed, text, strlen(text));
}

/* In files with the same build, the key is the position in the file. In different builds, it is the
 * function, the offset and the kind of instruction; code that was compiled differently has no equal
 * there. Without a file, it is the code itself, except for parts that depend on its address. */
static uint64_t key_of(struct run *run, const struct instruction *instruction)
{
    uint8_t code[CODE_MOST] = {0};
    char text[80];
    uint64_t offset = 0, address = instruction->address;
    const struct module *module = places_module(run->places, address);
    const char *function =
        module && module->differs ? places_function(run->places, address, &offset) : NULL;
    if (module && !module->differs) {
        offset = address - module->base;
        return hash64(hash_text(1, module->name), &offset, sizeof(offset));
    }
    if (instruction->flow == FLOW_JUMP_INDIRECT && instruction->memory_count)
        return hash_text(8,
                         module ? module->name : ""); /* the linker's jump tables have no symbols */
    size_t bytes = run_code(run, address, sizeof(code), code);
    instruction_text(run->decoder, code, bytes, address, text, sizeof(text));
    text[strcspn(text, " ")] = '\0';
    if (!function)
        offset = address & 0xfff;
    return hash64(hash_text(hash_text(2, function ? function : ""), text), &offset, sizeof(offset));
}

struct argus_error *run_make_keys(struct run *run)
{
    for (size_t i = 0; i < run->instructions.length; i++)
        if (!vec_push(&run->keys, key_of(run, &run->instructions.data[i])))
            return argus_error_memory();
    return NULL;
}

bool run_register(const struct run *run, uint32_t step, unsigned number, uint64_t *ret)
{
    uint64_t registers[ARGUS_STEP_REGISTERS];
    if (!argus_steps_registers(run->steps, step, registers))
        return false;
    *ret = registers[number];
    return true;
}

bool run_operand_address(const struct run *run, uint32_t step, unsigned index, uint64_t *ret)
{
    uint64_t registers[ARGUS_STEP_REGISTERS] = {0};
    const struct instruction_memory *memory = &run_instruction(run, step)->memory[index];
    bool fixed = memory->base == REGISTER_NONE && memory->index == REGISTER_NONE &&
                 memory->segment == SEGMENT_NONE;
    if (!argus_steps_registers(run->steps, step, registers) && !fixed)
        return false;
    bool arm64 = instruction_decoder_machine(run->decoder) == INSTRUCTION_ARM64;
    *ret = instruction_address(memory, registers, arm64 ? NULL : &registers[ARGUS_X86_FS_BASE]);
    return true;
}
