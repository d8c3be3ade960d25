/* An image as the generator sees it: its bytes by address, its functions, and every address to
 * which the image has a pointer. One reader per format fills it (elf_image.c, macho_image.c): a row
 * in image.c.
 *
 * The file may be hostile: readers check every offset and keep memory bounded by the file's size.
 */
#ifndef ARGUS_HOOKS_IMAGE_H
#define ARGUS_HOOKS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "base/vec.h"
#include "plan.h"

enum image_format { IMAGE_ELF, IMAGE_MACHO };

/* Bytes of the file at an address. */
struct image_segment {
    uint64_t address, bytes;
    const uint8_t *data; /* in the mapped file */
    bool is_code;
};

/* A possible branch, call or lea with 32 bits: it is one if an instruction begins there. */
struct far_branch {
    uint64_t to, from;
    bool takes_address;
};

struct image_function {
    char *name; /* owned */
    uint64_t address;
};

struct image {
    char *path;
    char *name; /* its name for the loader: soname, install name; "" for a program */
    const uint8_t *file;
    size_t file_bytes;
    enum image_format format;
    enum hook_arch arch;
    uint8_t id[HOOK_ID_MOST];
    uint32_t id_bytes;
    VEC(struct image_segment) segments;
    VEC(struct image_function) functions; /* by address */
    VEC(uint64_t) starts;   /* of functions, with or without a name; sorted, each once */
    VEC(uint64_t) pointers; /* addresses in code that data or exception tables name; sorted */
    VEC(struct far_branch)
    far_branches; /* in x86-64 code, from every place whose bytes could be a branch; by `to` */
};

/* Opens the file. `arch` chooses among the parts of a universal Mach-O file; 0: that of this
 * machine, or the only one. */
struct argus_error *image_open(const char *path, enum hook_arch arch, struct image **ret);
void image_close(struct image *image);

/* `count` bytes at `address`, all in one segment; NULL: they are not in the file. */
const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t count);
/* The segment with code that has `address`; NULL: none. */
const struct image_segment *image_code(const struct image *image, uint64_t address);

/* The function of this name. If there is none, the error suggests similar names. */
struct argus_error *image_find_function(const struct image *image, const char *name,
                                        const struct image_function **ret);
/* The bounds of the function that contains `address`, from symbols and unwind tables. False:
 * unknown. */
bool image_function_range(const struct image *image, uint64_t address, uint64_t *ret_first,
                          uint64_t *ret_end);
/* The name of the function that has `address`; NULL: none is known. */
const char *image_function_name(const struct image *image, uint64_t address, uint64_t *ret_start);

/* For readers. False: no memory. */
bool image_add_segment(struct image *image, uint64_t address, uint64_t offset, uint64_t bytes,
                       bool is_code);
bool image_add_function(struct image *image, const char *name, size_t length, uint64_t address);

/* Fills far_branches. */
bool image_find_far_branches(struct image *image);

struct argus_error *elf_image_read(struct image *image, enum hook_arch arch);
struct argus_error *macho_image_read(struct image *image, enum hook_arch arch);

#endif
