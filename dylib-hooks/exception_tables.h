/* Where functions begin, and where an exception can continue in the middle of one (landing pads):
 * from .eh_frame, which also stripped files have, and the tables that it names. Linux Standard
 * Base, chapter 10.6; the landing pads are in GCC's unwind-pe.h and the Itanium C++ ABI. */
#ifndef ARGUS_HOOKS_EXCEPTION_TABLES_H
#define ARGUS_HOOKS_EXCEPTION_TABLES_H

#include "image.h"

/* Adds to image->starts and image->pointers. Skips unreadable entries. False: no memory. */
bool exception_tables_read(struct image *image, uint64_t address, uint64_t bytes);

/* The same for one function, which begins at `function`: the landing pads in its table at
 * `address`. */
bool exception_table_read(struct image *image, uint64_t address, uint64_t function);

#endif
