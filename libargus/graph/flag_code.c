/* Tells reads from writes by the instruction at a watchpoint.
 *
 * A watchpoint of x86 for reads and writes does not tell which of the two happened, but the
 * instruction does. It is the one before the pc that the processor reports (on arm64 the one at the
 * pc, which is reported before the access). x86 code cannot be decoded backward, so decoding starts
 * at the beginning of the function.
 *
 * The bytes come from the image's file, if it is the one that ran. Three cases cannot be decided
 * this way: code made at run time; an instruction after which the program continued elsewhere (a
 * call through the flag); and one with two memory operands (movs), because registers are not
 * recorded. There, the value decides, as the recorder saw it: if it changed, the access was a
 * write.
 */
#include "graph/flag_code.h"

#include <stdlib.h>

#include "base/idmap.h"
#include "event/binary/elf_files.h"
#include "steps/instruction.h"

#define MOST_CODE_BYTES 65536u /* of a function, up to the pc */
#define LONGEST_BYTES   16     /* of an instruction */

struct flag_code {
    const struct argus_trace *trace; /* borrowed */
    struct elf_files files;
    /* owned; NULL: this machine's instructions are not supported */
    struct instruction_decoder *decoder;
    struct idmap deeds; /* process and pc → enum flag_deed */
    bool is_arm64;
};

struct flag_code *flag_code_create(const struct argus_trace *trace)
{
    struct flag_code *code = calloc(1, sizeof(*code));
    if (!code)
        return NULL;
    code->trace = trace;
    code->is_arm64 = argus_trace_header(trace)->arch == ARGUS_ARCH_AARCH64;
    elf_files_init(&code->files, trace);
    argus_error_destroy(instruction_decoder_create(
        code->is_arm64 ? INSTRUCTION_ARM64 : INSTRUCTION_X86_64, &code->decoder));
    return code;
}

void flag_code_destroy(struct flag_code *code)
{
    if (!code)
        return;
    instruction_decoder_destroy(code->decoder);
    elf_files_deinit(&code->files);
    idmap_deinit(&code->deeds);
    free(code);
}

/* The image that was mapped there last; UINT32_MAX: none. */
static uint32_t find_image(const struct flag_code *code, uint64_t pid, uint64_t pc, uint64_t ticks)
{
    const struct argus_image_entry *images;
    size_t count = argus_trace_images(code->trace, &images);
    uint32_t found = UINT32_MAX;
    for (size_t i = 0; i < count && i < UINT32_MAX; i++)
        if (images[i].pid == pid && images[i].start <= pc && pc <= images[i].end &&
            images[i].mapped_ticks <= ticks &&
            (found == UINT32_MAX || images[i].mapped_ticks >= images[found].mapped_ticks))
            found = (uint32_t)i;
    return found;
}

static enum flag_deed deed_of(const struct instruction *instruction)
{
    enum flag_deed deed = FLAG_DEED_UNKNOWN;
    for (uint32_t pass = 0; pass < 2 && deed == FLAG_DEED_UNKNOWN; pass++) {
        uint32_t seen = 0;
        for (uint32_t i = 0; i < instruction->memory_count; i++) {
            const struct instruction_memory *memory = &instruction->memory[i];
            if (memory->is_implicit != (pass == 1)) /* push and pop rarely access a flag */
                continue;
            seen++;
            deed = memory->reads && memory->writes ? FLAG_DEED_BOTH
                   : memory->reads                 ? FLAG_DEED_READS
                   : memory->writes                ? FLAG_DEED_WRITES
                                                   : FLAG_DEED_UNKNOWN;
        }
        if (seen > 1)
            return FLAG_DEED_UNKNOWN;
    }
    return deed;
}

static bool is_repeated(const struct instruction *instruction)
{
    for (uint32_t i = 0; i < instruction->memory_count; i++)
        if (instruction->memory[i].is_repeated)
            return true;
    return false;
}

/* `at`: the pc as an address in its file; `offset`: the same as a file offset. */
static enum flag_deed decode_at(struct flag_code *code, struct elf_file *file, uint64_t at,
                                uint64_t offset, struct instruction *ret)
{
    uint8_t bytes[LONGEST_BYTES];
    size_t room = sizeof(bytes);
    while (room && !elf_file_read(file, offset, room, bytes))
        room--;
    return instruction_decode(code->decoder, bytes, room, at, ret) ? deed_of(ret)
                                                                   : FLAG_DEED_UNKNOWN;
}

static bool function_start(struct elf_file *file, uint64_t at, uint64_t *ret)
{
    uint64_t offset;
    if (elf_file_function(file, at - 1, &offset)) {
        *ret = at - 1 - offset;
        return true;
    }
    return elf_file_function_start(file, at - 1, ret);
}

static enum flag_deed decode_before(struct flag_code *code, struct elf_file *file, uint64_t at,
                                    uint64_t offset)
{
    struct instruction before, here;
    uint64_t start;
    if (!function_start(file, at, &start) || at - start > MOST_CODE_BYTES || at - start > offset)
        return FLAG_DEED_UNKNOWN;
    size_t bytes = at - start;
    uint8_t *function = malloc(bytes + 1);
    bool decoded = function && elf_file_read(file, offset - bytes, bytes, function) &&
                   instruction_before(code->decoder, function, bytes, start, at, &before);
    free(function);
    if (!decoded)
        return FLAG_DEED_UNKNOWN;
    decode_at(code, file, at, offset, &here);
    if (is_repeated(&here)) /* it may be between two repetitions, or may not have begun */
        return before.memory_count ? FLAG_DEED_UNKNOWN : deed_of(&here);
    return before.flow == FLOW_NEXT ? deed_of(&before) : FLAG_DEED_UNKNOWN;
}

static enum flag_deed decode(struct flag_code *code, uint32_t image, uint64_t offset)
{
    bool stale;
    uint64_t at;
    struct instruction here;
    struct elf_file *file = elf_files_get(&code->files, image, &stale);
    unsigned machine = code->is_arm64 ? ELF_MACHINE_AARCH64 : ELF_MACHINE_X86_64;
    if (!file || !code->decoder || offset == 0 || elf_file_machine(file) != machine)
        return FLAG_DEED_UNKNOWN;
    if (code->is_arm64)
        return elf_file_address(file, offset, &at) ? decode_at(code, file, at, offset, &here)
                                                   : FLAG_DEED_UNKNOWN;
    /* look up the byte before the pc, because the pc may be just after the segment's last byte */
    return elf_file_address(file, offset - 1, &at) ? decode_before(code, file, at + 1, offset)
                                                   : FLAG_DEED_UNKNOWN;
}

enum flag_deed flag_code_deed(struct flag_code *code, uint64_t pid, uint64_t pc,
                              uint64_t time_ticks)
{
    const struct argus_image_entry *images;
    uint64_t key = pc ^ pid * 0x9e3779b97f4a7c15u;
    uint32_t known = code ? idmap_get(&code->deeds, key) : FLAG_DEED_UNKNOWN;
    if (known != IDMAP_NONE)
        return (enum flag_deed)known;
    enum flag_deed deed = FLAG_DEED_UNKNOWN;
    uint32_t image = find_image(code, pid, pc, time_ticks);
    argus_trace_images(code->trace, &images);
    if (image != UINT32_MAX)
        deed = decode(code, image, pc - images[image].start + images[image].file_offset);
    idmap_put(&code->deeds, key, deed); /* without memory, it is decoded again next time */
    return deed;
}
