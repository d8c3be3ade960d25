/* Finds variables of a running process by name, to watch them as data flags. Linux: /proc/PID/maps
 * and the symbols of its files (libdw).
 *
 * Symbols come from .symtab, else .dynsym and .gnu_debugdata, and from a separate debug file. C++
 * names are accepted in source form ("Window::dirty") and in mangled form. The process is only
 * read, not stopped. Any thread may call these functions.
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
    /* in the process; for a thread-local variable the offset in its module's TLS block */
    uint64_t address;
    uint64_t size_bytes; /* 0: the file does not say */
    bool is_global;      /* other files can refer to it */
    bool is_thread_local;
    bool is_of_program; /* thread-local: it belongs to the program itself, not to a library */
    /* thread-local, of a library: address in the process of the word with the library's module
     * number; 0: there is none */
    uint64_t module_word;
    /* address at which its file was loaded: the base of the file's own addresses */
    uint64_t module_address;
};

/* Called for each variable of `image`, in no particular order; false ends the search. `name` is
 * borrowed. */
typedef bool (*argus_data_symbol_function)(void *context, const char *name,
                                           const struct argus_data_symbol *symbol);

/* All variables of a mapped file of process `pid`. `image`: its path, its name ("libfoo.so.1"), or
 * the beginning of the name up to a dot or dash ("libfoo"). NOT_FOUND: there is no such process, or
 * it has no such file; the message lists its files. PERMISSION: the process belongs to another
 * user. */
struct argus_error *argus_data_symbols_each(uint32_t pid, const char *image,
                                            argus_data_symbol_function function, void *context);

/* Finds the variable `name` as the process uses it: the one of `image`, or the program's copy of
 * it. Programs that are not position-independent have copies of a library's global variables
 * (R_X86_64_COPY and the like). False in `*ret_found`: there is none. Errors as above. */
struct argus_error *argus_data_symbol_find(uint32_t pid, const char *image, const char *name,
                                           struct argus_data_symbol *ret, bool *ret_found);

/* A place with offsets instead of members: "app->0x18->0x8". */
struct argus_data_place {
    char text[512];
    uint64_t bytes; /* of what is there, by its type; 0: not known */
};

/* Rewrites a place like "app->net->state", "table[3].done" by the debug information of `image`,
 * which process `pid` has mapped. A name that is not known stays as it is. NOT_FOUND: a struct has
 * no such member; the message names its members. UNSUPPORTED: a type is not known. Other errors as
 * above. */
struct argus_error *argus_data_members_read(uint32_t pid, const char *image, const char *text,
                                            struct argus_data_place *ret);

/* The address in process `pid` at which address 0 of the file `image` would be; used for programs
 * without symbols. Errors as above. */
struct argus_error *argus_image_base(uint32_t pid, const char *image, uint64_t *ret);

/* The file of process `pid` that is mapped at `address`: its path and load address. NOT_FOUND: the
 * address is not in a file's mapping (stack, heap …). Other errors as above. */
struct argus_error *argus_image_at(uint32_t pid, uint64_t address, char *ret_path,
                                   size_t path_bytes, uint64_t *ret_base);

/* How a file is mapped when a process executes or loads it. */
struct argus_data_image {
    uint64_t code_offset;  /* offset in the file of its first executable page … */
    uint64_t code_address; /* … and the address that the file gives to that page */
    uint8_t build_id[20];
    uint32_t build_id_bytes; /* 0: it has none */
    bool is_64_bit;
};

/* NOT_FOUND, PERMISSION …: the file cannot be opened; FORMAT: it is not a program or library. */
struct argus_error *argus_data_image_read(const char *path, struct argus_data_image *ret);

/* Reads `bytes` bytes that the file `path` has at its address `address`. False: the file has none
 * there. */
bool argus_data_file_read(const char *path, uint64_t address, void *ret, size_t bytes);

/* As argus_data_symbols_each() and argus_data_symbol_find(), for a file. Addresses are the file's
 * own; those of thread-local variables are offsets in its TLS block. */
struct argus_error *
argus_data_file_symbols_each(const char *path, argus_data_symbol_function function, void *context);
struct argus_error *argus_data_file_symbol_find(const char *path, const char *name,
                                                struct argus_data_symbol *ret, bool *ret_found);
/* As argus_data_members_read(), for a file. */
struct argus_error *argus_data_file_members_read(const char *path, const char *text,
                                                 struct argus_data_place *ret);

#ifdef __cplusplus
}
#endif
#endif
