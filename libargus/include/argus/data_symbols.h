/* Variables of a running process, by name: where a data flag is. Linux: /proc/PID/maps and the symbols of its files (libdw).
 *
 * Symbols come from .symtab, else .dynsym and .gnu_debugdata, and from a separate debug file. C++ names are taken as people
 * write them ("Window::dirty") and as the linker does. The process is only read, and not stopped. Any thread may call it.
 */
#ifndef ARGUS_DATA_SYMBOLS_H
#define ARGUS_DATA_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_data_symbol {
    uint64_t
        address; /* in the process; of a thread-local variable the offset in its module's block */
    uint64_t size_bytes; /* 0: the file does not say */
    bool is_global;      /* other files can refer to it */
    bool is_thread_local;
    bool is_of_program; /* thread-local: of the program itself, not of a library … */
    uint64_t
        module_word; /* … of a library: address in the process of a word with its module number; 0: there is none */
    uint64_t
        module_address; /* where the file that has it was loaded: what its own addresses count from */
};

/* Called for each variable of `image`, in no particular order; false ends the search. `name` is borrowed. */
typedef bool (*argus_data_symbol_function)(void *context, const char *name,
                                           const struct argus_data_symbol *symbol);

/* All variables of a mapped file of process `pid`. `image`: its path, its name ("libfoo.so.1"), or the beginning of that up to a
 * dot or a dash ("libfoo"). NOT_FOUND: no such process, or it has no such file; the message lists the files. PERMISSION: it is
 * somebody else's. */
struct argus_error *argus_data_symbols_each(uint32_t pid, const char *image,
                                            argus_data_symbol_function function, void *context);

/* The variable `name` as the process uses it: that of `image`, or, when the program has a copy of a library's global variable (as
 * programs have that are not position-independent, by R_X86_64_COPY and the like), that copy. False in `*ret_found`: there is none.
 * Errors as above. */
struct argus_error *argus_data_symbol_find(uint32_t pid, const char *image, const char *name,
                                           struct argus_data_symbol *ret, bool *ret_found);

/* The address in process `pid` at which address 0 of the file `image` would be: for programs without symbols. Errors as above. */
struct argus_error *argus_image_base(uint32_t pid, const char *image, uint64_t *ret);

/* The file of process `pid` that has `address`, its path and where it was loaded; NOT_FOUND: that is no file's memory (the stack, the
 * heap …). Other errors as above. */
struct argus_error *argus_image_at(uint32_t pid, uint64_t address, char *ret_path,
                                   size_t path_bytes, uint64_t *ret_base);

/* How a file is mapped when a process begins it or loads it. */
struct argus_data_image {
    uint64_t code_offset;  /* in the file, of its first executable page … */
    uint64_t code_address; /* … and the address that the file gives to that */
    uint8_t build_id[20];
    uint32_t build_id_bytes; /* 0: it has none */
    bool is_64_bit;
};

/* NOT_FOUND, PERMISSION …: it cannot be opened; FORMAT: it is no program or library. */
struct argus_error *argus_data_image_read(const char *path, struct argus_data_image *ret);

/* The `bytes` bytes that the file `path` has for its address `address`. False: it has none there. */
bool argus_data_file_read(const char *path, uint64_t address, void *ret, size_t bytes);

/* As argus_data_symbols_each() and argus_data_symbol_find(), of a file; addresses are the file's own, and thread-local ones offsets
 * in its block. */
struct argus_error *
argus_data_file_symbols_each(const char *path, argus_data_symbol_function function, void *context);
struct argus_error *argus_data_file_symbol_find(const char *path, const char *name,
                                                struct argus_data_symbol *ret, bool *ret_found);

#ifdef __cplusplus
}
#endif
#endif
