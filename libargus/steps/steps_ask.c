/* Queries on an opened step file. */
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "steps/steps_file.h"
#include "steps/steps_layout.h"

static const char *const x86_64_names[ARGUS_X86_REGISTERS] = {
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",    "r8",      "r9",
    "r10", "r11", "r12", "r13", "r14", "r15", "rip", "rflags", "fs_base", "gs_base"};
static const char *const aarch64_names[ARGUS_ARM64_REGISTERS] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",     "x10",  "x11",
    "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",    "x22",  "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",  "pstate", "tpidr"};

/* To add an architecture: a row. */
static const struct {
    enum argus_arch arch;
    uint32_t count;
    const char *const *names;
} architectures[] = {
    {ARGUS_ARCH_X86_64, ARGUS_X86_REGISTERS, x86_64_names},
    {ARGUS_ARCH_AARCH64, ARGUS_ARM64_REGISTERS, aarch64_names},
};

uint32_t argus_step_register_count(enum argus_arch arch)
{
    for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures); i++)
        if (architectures[i].arch == arch)
            return architectures[i].count;
    return 0;
}

const char *argus_step_register_name(enum argus_arch arch, uint32_t number)
{
    for (size_t i = 0; i < sizeof(architectures) / sizeof(*architectures); i++)
        if (architectures[i].arch == arch && number < architectures[i].count)
            return architectures[i].names[number];
    return NULL;
}

const struct argus_steps_about *argus_steps_about(const struct argus_steps *steps)
{
    return &steps->about;
}

const char *argus_steps_path(const struct argus_steps *steps)
{
    return steps->path;
}

enum argus_step_end argus_steps_end(const struct argus_steps *steps)
{
    return steps->end;
}

const char *argus_steps_end_text(const struct argus_steps *steps)
{
    return steps->end_text;
}

uint64_t argus_steps_elapsed_ns(const struct argus_steps *steps)
{
    return steps->elapsed_ns;
}

size_t argus_steps_pcs(const struct argus_steps *steps, const uint64_t **ret)
{
    *ret = steps->pcs.data;
    return steps->pcs.length;
}

size_t argus_steps_events(const struct argus_steps *steps, const struct argus_step_event **ret)
{
    *ret = steps->events.data;
    return steps->events.length;
}

size_t argus_steps_frames(const struct argus_steps *steps, const struct argus_step_frame **ret)
{
    *ret = steps->frames.data;
    return steps->frames.length;
}

size_t argus_steps_images(const struct argus_steps *steps, const struct argus_step_image **ret)
{
    *ret = steps->images.data;
    return steps->images.length;
}

uint32_t argus_steps_first_frame(const struct argus_steps *steps)
{
    return steps->first_frame;
}

uint32_t argus_steps_image_of(const struct argus_steps *steps, uint64_t address)
{
    size_t first;
    LOWER_BOUND(first, steps->images.length, steps->images.data[first].end <= address);
    bool covers = first < steps->images.length && steps->images.data[first].start <= address;
    return covers ? (uint32_t)first : ARGUS_NONE;
}

/* --- registers --- */

static size_t registers_of(const struct argus_steps *steps, uint32_t step)
{
    const struct steps_registers *chunks = steps->registers.data;
    size_t first;
    LOWER_BOUND(first, steps->registers.length,
                chunks[first].first_step + chunks[first].count <= step);
    bool has = first < steps->registers.length && chunks[first].first_step <= step;
    return has ? first : SIZE_MAX;
}

static bool decode(struct argus_steps *steps, size_t chunk)
{
    if (steps->cached == chunk)
        return true;
    if (!steps->rows)
        steps->rows =
            malloc((size_t)STEPS_CHUNK_STEPS * steps->register_count * sizeof(*steps->rows));
    if (!steps->row_is_there)
        steps->row_is_there = malloc(STEPS_CHUNK_STEPS * sizeof(*steps->row_is_there));
    steps->cached = SIZE_MAX;
    if (!steps->rows || !steps->row_is_there ||
        !steps_registers_decode(steps, &steps->registers.data[chunk], steps->rows,
                                steps->row_is_there))
        return false;
    steps->cached = chunk;
    return true;
}

bool argus_steps_registers(struct argus_steps *steps, uint32_t step,
                           uint64_t ret[ARGUS_STEP_REGISTERS])
{
    size_t chunk = registers_of(steps, step);
    if (chunk == SIZE_MAX || !decode(steps, chunk))
        return false;
    size_t row = step - steps->registers.data[chunk].first_step;
    if (!steps->row_is_there[row])
        return false;
    memcpy(ret, steps->rows + row * steps->register_count, steps->register_count * sizeof(*ret));
    return true;
}

/* --- code --- */

static size_t piece_behind(const struct argus_steps *steps, uint64_t address)
{
    size_t behind;
    LOWER_BOUND(behind, steps->code.length, steps->code.data[behind].address <= address);
    return behind;
}

size_t argus_steps_code(const struct argus_steps *steps, uint64_t address, size_t room,
                        uint8_t *ret)
{
    size_t done = 0, behind = piece_behind(steps, address);
    for (size_t i = behind ? behind - 1 : 0; behind && i < steps->code.length && done < room; i++) {
        const struct steps_code *piece = &steps->code.data[i];
        uint64_t offset = address + done - piece->address;
        if (address + done < piece->address || offset >= piece->bytes)
            break;
        size_t bytes = piece->bytes - (size_t)offset;
        if (bytes > room - done)
            bytes = room - done;
        memcpy(ret + done, steps->code_bytes.data + piece->at + offset, bytes);
        done += bytes;
    }
    return done;
}
