/* One ELF file on disk and the functions and lines in it (libdw).
 *
 * Symbols come from .symtab, else .dynsym and .gnu_debugdata; additional symbols and lines come
 * from a separate debug file under /usr/lib/debug or next to the file. Nothing is fetched from the
 * network here, even if DEBUGINFOD_URLS is set (elf_fetched.h does that). One object belongs to one
 * thread.
 */
#ifndef ARGUS_EVENT_ELF_FILE_H
#define ARGUS_EVENT_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/compat.h"

#define ELF_BUILD_ID_MAX 20

struct elf_file;

/* How to check that a file is the right one. */
struct elf_identity {
    uint8_t build_id[ELF_BUILD_ID_MAX];
    uint32_t build_id_bytes; /* 0: not known */
    /* if there is no build ID: ns since 1970 after which the file must not have changed; 0: any */
    uint64_t unchanged_since_ns;
    uint64_t inode; /* if there is no build ID: the file's inode; 0: unknown */
};

/* Opens `path`. NULL: it does not exist, is not an ELF file, or does not match `identity`;
 * `*ret_stale` is true in the last case. */
struct elf_file *elf_file_open(const char *path, const struct elf_identity *identity,
                               bool *ret_stale);
/* The same for an open file, of which it takes ownership. Only the build ID is checked. The debug
 * file is searched for relative to `path`. */
struct elf_file *elf_file_open_fd(int fd, const char *path, const struct elf_identity *identity,
                                  bool *ret_stale);
void elf_file_close(struct elf_file *file);

/* The address in the file's own address space (p_vaddr) of the byte at `offset_bytes`. False if no
 * segment has it. */
bool elf_file_address(const struct elf_file *file, uint64_t offset_bytes, uint64_t *ret);

/* The reverse: the offset in the file of the byte at `address`. False: there is none. */
bool elf_file_offset(const struct elf_file *file, uint64_t address, uint64_t *ret);

/* Copies `bytes` bytes of the file from `offset_bytes` on; false if the file does not contain all
 * of them. */
bool elf_file_read(const struct elf_file *file, uint64_t offset_bytes, size_t bytes, void *ret);

/* The bytes of the file's `index`th executable segment, borrowed until the file is closed, and the
 * address of the first one. NULL: there are no more. */
const uint8_t *elf_file_code(const struct elf_file *file, size_t index, uint64_t *ret_address,
                             size_t *ret_bytes);

/* The name of the function that covers `address`, borrowed, and the offset into it. NULL: none. */
const char *elf_file_function(struct elf_file *file, uint64_t address, uint64_t *ret_offset);

/* The name of the variable that covers `address`, borrowed; NULL: none. Searches all symbols. */
const char *elf_file_variable(struct elf_file *file, uint64_t address);

/* The start of the function that covers `address`, which may lack a name. False: unknown. */
bool elf_file_function_start(struct elf_file *file, uint64_t address, uint64_t *ret);

/* Whether Go's compiler made the function that covers `address`, and how it gets arguments. */
enum elf_go_code {
    ELF_NOT_GO,
    ELF_GO_REGISTERS, /* by Go's own convention: since Go 1.18, 1.17 on x86-64 */
    ELF_GO_UNKNOWN,   /* on the stack or in registers: Go before 1.18 */
};
enum elf_go_code elf_file_go_code(struct elf_file *file, uint64_t address);

/* How far the stack pointer is below the return address when the instruction at `address` runs, if
 * Go's compiler made the function. False: it did not, or unknown. */
bool elf_file_go_stack_bytes(struct elf_file *file, uint64_t address, uint32_t *ret);

/* The function that covers `address`, which may lack a name: its start and length. A part that the
 * compiler moved away (".cold") counts as a function of its own. False: unknown. */
bool elf_file_function_range(struct elf_file *file, uint64_t address, uint64_t *ret_start,
                             uint64_t *ret_bytes);

/* A variable, and the offset of `address` in it. */
struct elf_variable {
    const char *name; /* borrowed; the mangled name */
    uint64_t offset, size_bytes;
};

/* The variable that covers `address`; if several do, the smallest. `is_thread_local`: `address` is
 * an offset in the file's thread-local block. False: none. Searches all symbols. */
bool elf_file_variable_at(struct elf_file *file, uint64_t address, bool is_thread_local,
                          struct elf_variable *ret);

/* The address behind the last byte that the file occupies in memory, and the size of its
 * thread-local block including alignment (0: it has none). */
uint64_t elf_file_end(const struct elf_file *file);
uint64_t elf_file_thread_block(const struct elf_file *file);

/* Whether it is a program rather than a library: it names an interpreter, or is linked to a fixed
 * address. */
bool elf_file_is_program(const struct elf_file *file);

enum {
    ELF_MACHINE_386 = 3,
    ELF_MACHINE_X86_64 = 62,
    ELF_MACHINE_AARCH64 = 183
}; /* EM_… of elf.h */

/* The file's machine (EM_X86_64 …), and its call frame information: .eh_frame (`which` 0) or the
 * debug file's .debug_frame (`which` 1). NULL: none. Borrowed. */
unsigned elf_file_machine(const struct elf_file *file);
struct Dwarf_CFI_s *elf_file_cfi(struct elf_file *file, int which, uint64_t *ret_bias);

/* The source file, borrowed, and line of `address`. NULL: unknown. */
const char *elf_file_line(struct elf_file *file, uint64_t address, uint32_t *ret_line);

/* Whether it has debug information, in the file or in a separate debug file. */
bool elf_file_has_lines(struct elf_file *file);

/* The build id in the notes of the ELF file at `path`; returns its length, 0 if there is none.
 * Returns 0 also for a file that changed after `unchanged_since_ns` (0: any time) or has another
 * inode than `inode` (0: any). */
uint32_t elf_file_build_id(const char *path, uint64_t unchanged_since_ns, uint64_t inode,
                           uint8_t ret[ELF_BUILD_ID_MAX]);
/* The same for an open file, of which it takes ownership. */
uint32_t elf_file_build_id_fd(int fd, uint8_t ret[ELF_BUILD_ID_MAX]);

/* The time of the file's last change of any kind; ns since 1970. */
static inline uint64_t elf_changed_ns(const struct stat *status)
{
    return (uint64_t)status->st_ctim.tv_sec * 1000000000u + (uint64_t)status->st_ctim.tv_nsec;
}

/* For debug_file.c: opens a regular file for reading; -1 if it is not one. Devices, FIFOs and files
 * of /proc are not opened at all. */
int elf_open_regular(const char *path, uint64_t unchanged_since_ns);

#endif
