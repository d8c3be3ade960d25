/* From what a table says to an address. */
#ifndef ARGUS_HOOKS_FIND_PLACE_H
#define ARGUS_HOOKS_FIND_PLACE_H

#include "hook_table.h"
#include "image.h"
#include "insn_decode.h"

/* The address of the instruction that `row` means. An error says what is like it: near names, instructions that fit the
 * pattern best, or the places that it fits when there are several. */
struct argus_error *find_place(const struct image *image, struct decoder *decoder,
                               const struct hook_row *row, uint64_t *ret);

#endif
