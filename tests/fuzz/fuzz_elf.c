/* An ELF file that a trace names: symbols, lines, inlined functions, and call frame information, at
 * addresses all over its code. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "event/binary/elf_file.h"
#include "event/binary/elf_inlines.h"
#include "event/unwind/cfi.h"
#include "fuzz.h"

enum { PLACES = 24 };

static void look_at(struct elf_file *file, struct cfi *cfi, uint64_t address)
{
    struct elf_inline inlines[ELF_INLINES_MAX];
    struct elf_variable variable;
    uint64_t offset, start, bytes;
    uint32_t line;
    const char *text = elf_file_function(file, address, &offset);
    size_t sum = text ? strlen(text) : 0;
    text = elf_file_line(file, address, &line);
    sum += text ? strlen(text) : 0;
    text = elf_file_variable(file, address);
    sum += text ? strlen(text) : 0;
    elf_file_function_range(file, address, &start, &bytes);
    elf_file_variable_at(file, address, sum & 1, &variable);
    size_t count = elf_file_inlines(file, address, inlines);
    for (size_t i = 0; i < count; i++)
        sum += strlen(inlines[i].function) + (inlines[i].source ? strlen(inlines[i].source) : 0);
    volatile size_t seen = sum;
    (void)seen;
    cfi_find(cfi, address);
}

static void look_all_over(struct elf_file *file)
{
    struct cfi cfi;
    uint64_t address;
    size_t bytes;
    cfi_init(&cfi, file, elf_file_machine(file) == ELF_MACHINE_AARCH64 ? 33 : 17);
    for (size_t segment = 0; segment < 3; segment++) {
        if (!elf_file_code(file, segment, &address, &bytes))
            break;
        for (size_t i = 0; i < PLACES; i++)
            look_at(file, &cfi, address + bytes * i / PLACES);
    }
    cfi_deinit(&cfi);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf_identity identity = {.build_id_bytes = 0};
    bool stale;
    int fd = memfd_create("fuzz_elf", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    if (write(fd, data, size) != (ssize_t)size)
        abort();
    struct elf_file *file = elf_file_open_fd(fd, "/nowhere/fuzz", &identity, &stale);
    if (file)
        look_all_over(file);
    elf_file_close(file);
    return 0;
}
