/* arch_prctl(ARCH_MAP_VDSO_32) maps the vdso of 32-bit programs into a process that has none, for
 * programs that restore checkpoints (arch/x86/kernel/process_64.c). A child process unmaps its own
 * vdso and maps that one. The child is a copy of the host process, perhaps a debugger. Therefore it
 * only makes system calls and runs no library code, and its exit sends no signal.
 */
#include "event/binary/elf_vdso.h"

#include <elf.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes `bytes` bytes at `start` to a memory file, and opens that as an ELF file. */
static struct elf_file *open_copy(const void *start, size_t bytes)
{
    const struct elf_identity any = {.build_id_bytes = 0};
    bool stale;
    int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (write(fd, start, bytes) == (ssize_t)bytes)
        return elf_file_open_fd(fd, "[vdso]", &any, &stale);
    close(fd);
    return NULL;
}

/* --- this process's vdso --- */

/* The size of the ELF image mapped at `start`: up to the end of what its header refers to. */
static size_t image_bytes(const unsigned char *start)
{
    const Elf64_Ehdr *header = (const void *)start;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return 0;
    const Elf64_Phdr *segments = (const void *)(start + header->e_phoff);
    size_t bytes = header->e_shoff + (size_t)header->e_shentsize * header->e_shnum;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_offset + segments[i].p_filesz > bytes)
            bytes = segments[i].p_offset + segments[i].p_filesz;
    return bytes;
}

struct elf_file *elf_vdso_open(void)
{
    const unsigned char *start = (const unsigned char *)getauxval(AT_SYSINFO_EHDR);
    size_t bytes = start ? image_bytes(start) : 0;
    return bytes ? open_copy(start, bytes) : NULL;
}

/* --- the vdso of 32-bit programs --- */

#ifdef __x86_64__

#define MAP_VDSO_32 0x2002     /* ARCH_MAP_VDSO_32 of asm/prctl.h */
#define MAP_AT      0x10000000 /* any free address: the kernel chooses another one if it is taken */
#define PAGE_BYTES  4096u
#define MOST_PAGES  64u /* about a dozen, including the data pages before it */

struct range {
    uint64_t start, end; /* end exclusive */
};

/* The mappings that the kernel made for this process's vdso: code, data, clocks. */
struct own_ranges {
    struct range ranges[8];
    size_t count;
};

static bool read_own_ranges(struct own_ranges *ret)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    ret->count = 0;
    while (maps && ret->count < 8 && fgets(line, sizeof(line), maps)) {
        struct range *range = &ret->ranges[ret->count];
        if ((strstr(line, " [vdso]") || strstr(line, " [vvar")) &&
            sscanf(line, "%" SCNx64 "-%" SCNx64, &range->start, &range->end) == 2)
            ret->count++;
    }
    if (maps)
        fclose(maps);
    return ret->count > 0;
}

/* Runs in the child, which shares `fd` with the parent: writes each readable page to its offset in
 * the file. Writing from an unmapped address only fails. Without a vdso, no function that reads the
 * time may be called. */
static void copy_pages(const struct own_ranges *own, int fd)
{
    for (size_t i = 0; i < own->count; i++)
        syscall(SYS_munmap, own->ranges[i].start, own->ranges[i].end - own->ranges[i].start);
    if (syscall(SYS_arch_prctl, MAP_VDSO_32, MAP_AT) > 0)
        for (size_t i = 0; i < MOST_PAGES; i++)
            syscall(SYS_pwrite64, fd, MAP_AT + i * PAGE_BYTES, PAGE_BYTES, i * PAGE_BYTES);
    syscall(SYS_exit_group, 0);
}

static bool copy_by_child(int fd)
{
    struct own_ranges own;
    int status;
    if (!read_own_ranges(&own))
        return false;
    long child = syscall(SYS_clone, 0, 0, 0, 0, 0); /* like fork(), but its exit sends no signal */
    if (child == 0)
        copy_pages(&own, fd);
    return child > 0 && waitpid((pid_t)child, &status, __WCLONE) == child;
}

/* The vdso begins at a page boundary after its data, and extends to the end of what was copied. */
static struct elf_file *open_in_pages(const unsigned char *pages, size_t bytes)
{
    for (size_t at = 0; at + PAGE_BYTES <= bytes; at += PAGE_BYTES)
        if (memcmp(pages + at, ELFMAG, SELFMAG) == 0)
            return open_copy(pages + at, bytes - at);
    return NULL;
}

struct elf_file *elf_vdso_open_32_bit(void)
{
    struct elf_file *file = NULL;
    int fd = memfd_create("vdso", MFD_CLOEXEC);
    if (fd < 0)
        return NULL;
    off_t bytes = copy_by_child(fd) ? lseek(fd, 0, SEEK_END) : 0;
    unsigned char *pages = bytes > 0 ? malloc((size_t)bytes) : NULL;
    if (pages && pread(fd, pages, (size_t)bytes, 0) == (ssize_t)bytes)
        file = open_in_pages(pages, (size_t)bytes);
    free(pages);
    close(fd);
    /* otherwise something else was mapped at this address */
    if (!file || elf_file_machine(file) == EM_386)
        return file;
    elf_file_close(file);
    return NULL;
}

#else

struct elf_file *elf_vdso_open_32_bit(void)
{
    return NULL;
}

#endif
