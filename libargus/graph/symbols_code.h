/* The files behind addresses, for what reads code. */
#ifndef ARGUS_GRAPH_SYMBOLS_CODE_H
#define ARGUS_GRAPH_SYMBOLS_CODE_H

#include "argus/symbols.h"
#include "event/binary/elf_file.h"

/* The file that has the code at `address`, borrowed, and the address in the file's own address
 * space. NULL: it is in no file, or the file is gone, or another one by now. */
struct elf_file *symbols_code(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                              uint64_t address, uint64_t *ret_address);

/* The entry of argus_trace_images() that `process` has mapped at `address`; UINT32_MAX: none. */
uint32_t symbols_image_at(const struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                          uint64_t address);

#endif
