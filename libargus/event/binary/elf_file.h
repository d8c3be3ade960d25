/* One ELF file on disk and the functions and lines in it (libdw).
 *
 * Symbols come from .symtab, else .dynsym and .gnu_debugdata; more of them, and lines, from a separate debug file under
 * /usr/lib/debug or beside the file. Nothing is fetched from the network here, whatever DEBUGINFOD_URLS says (elf_fetched.h does).
 * One object belongs to one thread.
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

/* What is expected of the file. */
struct elf_identity {
    uint8_t build_id[ELF_BUILD_ID_MAX];
    uint32_t build_id_bytes; /* 0: not known */
    uint64_t
        unchanged_since_ns; /* without a build id: ns since 1970 after which it must not have changed; 0: any */
    uint64_t inode; /* without a build id: that of the file; 0: not known */
};

/* Opens `path`. NULL when it is not there, no ELF file, or not the one that `identity` says; `*ret_stale` tells the last
 * from the others. */
struct elf_file *elf_file_open(const char *path, const struct elf_identity *identity,
                               bool *ret_stale);
/* The same of an open file, which it takes, and which only its build id is asked for. `path` is where its debug file is looked for. */
struct elf_file *elf_file_open_fd(int fd, const char *path, const struct elf_identity *identity,
                                  bool *ret_stale);
void elf_file_close(struct elf_file *file);

/* The address in the file's own address space (p_vaddr) of the byte at `offset_bytes`. False if no segment has it. */
bool elf_file_address(const struct elf_file *file, uint64_t offset_bytes, uint64_t *ret);

/* The other way round: where in the file the byte is that has `address` in memory. False: nowhere. */
bool elf_file_offset(const struct elf_file *file, uint64_t address, uint64_t *ret);

/* Copies `bytes` bytes of the file from `offset_bytes` on; false if they are not all there. */
bool elf_file_read(const struct elf_file *file, uint64_t offset_bytes, size_t bytes, void *ret);

/* The name of the function that covers `address`, borrowed, and the offset into it. NULL: none. */
const char *elf_file_function(struct elf_file *file, uint64_t address, uint64_t *ret_offset);

/* The name of the variable that covers `address`, borrowed; NULL: none. Looks at all symbols. */
const char *elf_file_variable(struct elf_file *file, uint64_t address);

/* Where the function begins that covers `address`, also one that has no name. False: not known. */
bool elf_file_function_start(struct elf_file *file, uint64_t address, uint64_t *ret);

/* The function that covers `address`, also one that has no name: its beginning and its length. A part that the compiler moved
 * away (".cold") is a function by itself. False: not known. */
bool elf_file_function_range(struct elf_file *file, uint64_t address, uint64_t *ret_start,
                             uint64_t *ret_bytes);

/* A variable and where in it `address` is. */
struct elf_variable {
    const char *name; /* borrowed; as the linker has it */
    uint64_t offset, size_bytes;
};

/* The variable that covers `address`; of several the smallest. `is_thread_local`: `address` counts from the beginning of the
 * file's thread-local block. False: none. Looks at all symbols. */
bool elf_file_variable_at(struct elf_file *file, uint64_t address, bool is_thread_local,
                          struct elf_variable *ret);

/* The address behind the last byte that the file has in memory, and the size of its thread-local block with what keeps it
 * aligned (0: it has none). */
uint64_t elf_file_end(const struct elf_file *file);
uint64_t elf_file_thread_block(const struct elf_file *file);

/* Whether it is a program, and no library: it names an interpreter, or is linked to a fixed address. */
bool elf_file_is_program(const struct elf_file *file);

enum {
    ELF_MACHINE_386 = 3,
    ELF_MACHINE_X86_64 = 62,
    ELF_MACHINE_AARCH64 = 183
}; /* EM_… of elf.h */

/* The file's machine (EM_X86_64 …), and what unwinding it needs: .eh_frame, or the debug file's .debug_frame; NULL: none
 * (`which` 1: the second). Borrowed. */
unsigned elf_file_machine(const struct elf_file *file);
struct Dwarf_CFI_s *elf_file_cfi(struct elf_file *file, int which, uint64_t *ret_bias);

/* The source file, borrowed, and line of `address`. NULL: not known. */
const char *elf_file_line(struct elf_file *file, uint64_t address, uint32_t *ret_line);

/* Whether it has debug information, by itself or in a separate debug file. */
bool elf_file_has_lines(struct elf_file *file);

/* The build id in the notes of the ELF file at `path`; returns its length, 0 if there is none. A file that changed
 * after `unchanged_since_ns` (0: any), or has another inode than `inode` (0: any), is passed over. */
uint32_t elf_file_build_id(const char *path, uint64_t unchanged_since_ns, uint64_t inode,
                           uint8_t ret[ELF_BUILD_ID_MAX]);
/* The same of an open file, which it takes. */
uint32_t elf_file_build_id_fd(int fd, uint8_t ret[ELF_BUILD_ID_MAX]);

/* When the file was changed last, in any way; ns since 1970. */
static inline uint64_t elf_changed_ns(const struct stat *status)
{
    return (uint64_t)status->st_ctim.tv_sec * 1000000000u + (uint64_t)status->st_ctim.tv_nsec;
}

/* For debug_file.c: opens a regular file for reading, without waiting for fifos and the like; -1 if it is none. */
int elf_open_regular(const char *path, uint64_t unchanged_since_ns);

#endif
