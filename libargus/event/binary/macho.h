/* One Mach-O file: its UUID, segments and symbols (Apple's <mach-o/loader.h>, <mach-o/nlist.h>,
 * <mach-o/fat.h>).
 *
 * Argus has its own reader because it needs little, must run on Linux as well, and libdw reads ELF
 * only. The file is not trusted: every length and offset is checked, and memory stays below the
 * file's size times a constant. Of a fat file, one slice is read; offsets are relative to the
 * slice. Only 64-bit little-endian files are supported: Apple has made no others since macOS 10.15.
 * Lines are not read (they are in a .dSYM).
 */
#ifndef ARGUS_EVENT_MACHO_H
#define ARGUS_EVENT_MACHO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "event/binary/macho_layout.h"

#define MACHO_UUID_BYTES 16

struct macho_symbol {
    uint64_t address;
    const char *name; /* borrowed, NUL-terminated, without C's leading '_' */
    bool is_function; /* false: a variable */
    bool is_global;
};

struct macho;

/* Opens the slice with `uuid` (NULL: any) for `cpu`. If the file has no such slice, `*ret` is NULL
 * and there is no error. Errors name what is wrong with the file and at which offset. The object
 * belongs to one thread. */
struct argus_error *macho_open(const char *path, enum macho_cpu cpu, const uint8_t *uuid,
                               struct macho **ret);
void macho_close(struct macho *macho);

enum macho_cpu macho_cpu(const struct macho *macho);
/* False: it has none. */
bool macho_uuid(const struct macho *macho, uint8_t ret[MACHO_UUID_BYTES]);

/* The address in the file's own address space of the byte at `offset_bytes` of the slice. False if
 * no segment has it. */
bool macho_address(const struct macho *macho, uint64_t offset_bytes, uint64_t *ret);
/* The reverse: the offset in the slice of the byte at `address`. False: there is none. */
bool macho_offset(const struct macho *macho, uint64_t address, uint64_t *ret);
/* The address behind the last byte of all segments. */
uint64_t macho_end(const struct macho *macho);
/* Copies `bytes` bytes of the slice from `offset_bytes` on; false if the slice does not contain all
 * of them. */
bool macho_read(const struct macho *macho, uint64_t offset_bytes, size_t bytes, void *ret);

/* The symbols, sorted by address; borrowed. */
const struct macho_symbol *macho_symbols(const struct macho *macho, size_t *ret_count);
/* The function or variable that covers `address`: the last one before it in the same segment. NULL:
 * none, or that of a stripped symbol (LC_FUNCTION_STARTS says that another function begins before
 * `address`). */
const struct macho_symbol *macho_find(const struct macho *macho, uint64_t address,
                                      bool is_function);
/* Where the function that covers `address` begins, whether or not it has a name. False: not
 * known. */
bool macho_function_start(const struct macho *macho, uint64_t address, uint64_t *ret);

#endif
