/* argus diverge on any code, executed in any order. The first byte says which processor and how;
 * the next 64 are the code; each of the others is a step: its place in the code, and a change of a
 * register. The reader of step files has its own fuzzer.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "argus/diverge.h"
#include "fuzz.h"
#include "steps/instruction.h"

enum {
    CODE_BYTES = 64,
    STEPS_MOST = 4096,
    IS_ARM = 1,
    HAS_REGISTERS = 2,
    BEGINS_ANYWHERE = 4,
    SKIPS = 8,
};

static const uint64_t CODE = 0x401000, DATA = 0x404000, STACK = 0x7ffc00001000;

static void add_places(struct argus_steps_writer *writer, const uint8_t *code, uint64_t base)
{
    struct argus_step_image images[] = {
        {.start = base + CODE,
         .end = base + CODE + 0x1000,
         .file_offset = 0x1000,
         .path = "/nowhere/prog",
         .executable = true,
         .stepped = true},
        {.start = base + DATA,
         .end = base + DATA + 0x1000,
         .file_offset = 0x4000,
         .path = "/nowhere/prog",
         .writable = true},
        {.start = STACK - 0x1000, .end = STACK + 0x1000, .path = "[stack]", .writable = true},
    };
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
        argus_error_destroy(argus_steps_writer_image(writer, &images[i]));
    argus_error_destroy(argus_steps_writer_code(writer, base + CODE, code, CODE_BYTES));
}

static void add_steps(struct argus_steps_writer *writer, uint8_t how, const uint8_t *data,
                      size_t size, uint64_t base)
{
    uint64_t registers[ARGUS_STEP_REGISTERS] = {0};
    registers[how & IS_ARM ? REGISTER_X31 : REGISTER_RSP] = STACK;
    for (size_t i = 0; i < size && i < STEPS_MOST; i++) {
        registers[i % 16] += data[i] & 1 ? (uint64_t)data[i] * 8 : base + DATA;
        argus_error_destroy(argus_steps_writer_step(writer, base + CODE + data[i] % CODE_BYTES,
                                                    how & HAS_REGISTERS ? registers : NULL));
        struct argus_step_event skip = {.step = (uint32_t)i,
                                        .frame = ARGUS_NONE,
                                        .kind = ARGUS_STEP_SKIP,
                                        .returned = true,
                                        .address = base + data[i]};
        if ((how & SKIPS) && data[i] % 7 == 0)
            argus_error_destroy(argus_steps_writer_event(writer, &skip));
    }
}

/* A step file in memory; NULL if it could not be made. */
static struct argus_steps *make(uint8_t how, const uint8_t *code, const uint8_t *data, size_t size,
                                uint64_t base)
{
    char path[32];
    struct argus_steps *steps = NULL;
    struct argus_steps_writer *writer = NULL;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct argus_steps_about about = {
        .arch = how & IS_ARM ? ARGUS_ARCH_AARCH64 : ARGUS_ARCH_X86_64,
        .begin = how & BEGINS_ANYWHERE ? ARGUS_STEP_BEGIN_ANYWHERE : ARGUS_STEP_BEGIN_PLACE,
        .vertex = ARGUS_NONE,
        .pid = 1,
        .tid = 1,
        .comm = "fuzz",
        .exe = "/nowhere/prog",
        .trace = "",
        .begin_text = "",
    };
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    argus_error_destroy(argus_steps_writer_create(fd, &about, &writer));
    if (writer) {
        add_places(writer, code, base);
        add_steps(writer, how, data, size, base);
        argus_error_destroy(argus_steps_writer_end(writer, ARGUS_STEP_END_MOST, "enough", 1));
        argus_error_destroy(argus_steps_open(path, &steps));
    }
    argus_steps_writer_destroy(writer);
    close(fd);
    return steps;
}

static void compare(struct argus_steps *normal, struct argus_steps *bad)
{
    struct argus_divergence *divergence = NULL;
    argus_error_destroy(argus_diverge(normal, bad, &divergence));
    for (size_t i = 0; divergence && i < divergence->decision_count; i++)
        for (size_t j = 0; j < divergence->decisions[i].candidate_count; j++)
            if (divergence->decisions[i].candidates[j] >= divergence->candidate_count)
                __builtin_trap();
    argus_divergence_destroy(divergence);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 + CODE_BYTES + 2)
        return 0;
    const uint8_t *code = data + 1, *steps = code + CODE_BYTES;
    size_t count = size - 1 - CODE_BYTES, half = count / 2;
    struct argus_steps *normal = make(data[0], code, steps, half, 0x550000000000);
    struct argus_steps *bad = make(data[0], code, steps + half, count - half, 0x560000000000);
    if (normal && bad) {
        compare(normal, bad);
        compare(NULL, bad);
    }
    argus_steps_close(normal);
    argus_steps_close(bad);
    return 0;
}
