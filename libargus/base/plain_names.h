/* Names without what differs from build to build. */
#ifndef ARGUS_BASE_PLAIN_NAMES_H
#define ARGUS_BASE_PLAIN_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of a function's name without the suffixes of copies and parts that a compiler
 * makes of it: "load.isra.0" and "load(int) [clone .cold]" have those of "load" and "load(int)". */
size_t plain_function_bytes(const char *name);

/* Whether the name is that of a part of a function that the function itself calls:
 * "load.part.0". */
bool plain_is_called_part(const char *name);

/* Whether the name is that of a part that the compiler moved away, "load.cold": it is jumped to,
 * and does not begin as functions do. */
bool plain_is_cold_part(const char *name);

/* Writes the name without these suffixes, and without the hash in names of Rust, to `buffer` of
 * `bytes` bytes, and returns it. */
const char *plain_function_name(const char *name, char *buffer, size_t bytes);

/* Writes a file's or program's name without its folder and without numbers to `buffer`, and returns
 * it: "/usr/lib/libLLVM-15.so.1" and "libLLVM-13.so.1" become "libLLVM.so". Different files may
 * have the same plain name. */
const char *plain_file_name(const char *path, char *buffer, size_t bytes);

#endif
