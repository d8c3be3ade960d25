/* Names that are the same in each build and each run of a program. */
#ifndef ARGUS_FLEET_NAMES_H
#define ARGUS_FLEET_NAMES_H

#include <stddef.h>

/* All of these write to `buffer` of `bytes` bytes and return it. */

/* A function without what compilers add to its name: "load.isra.0" becomes "load", Rust's
 * "load::h0123456789abcdef" as well. "" for an address, and for image+offset. */
const char *fleet_function_name(const char *name, char *buffer, size_t bytes);

/* A process or thread, in which numbers of `digits` digits or more are "#": "pool-17" becomes
 * "pool-#". */
const char *fleet_thread_name(const char *name, size_t digits, char *buffer, size_t bytes);

/* The file name of an image without its version: "/usr/lib/libfoo.so.1.2" becomes "libfoo.so". */
const char *fleet_image_name(const char *path, char *buffer, size_t bytes);

#endif
