/* Finds the address that a row of a table describes. */
#ifndef ARGUS_HOOKS_FIND_PLACE_H
#define ARGUS_HOOKS_FIND_PLACE_H

#include "hook_table.h"
#include "image.h"
#include "insn_decode.h"

/* The address of the instruction that `row` describes. An error suggests similar names, the
 * instructions that match the pattern best, or all matches if there are several. */
struct argus_error *find_place(const struct image *image, struct decoder *decoder,
                               const struct hook_row *row, uint64_t *ret);

#endif
