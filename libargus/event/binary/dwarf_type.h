/* Types in debug information: what a struct consists of, and where a pointer leads.
 *
 * Names that do not change the layout (typedef, const, volatile, _Atomic …) are passed over. A type
 * that is only declared in one unit is looked for in the others.
 */
#ifndef ARGUS_EVENT_DWARF_TYPE_H
#define ARGUS_EVENT_DWARF_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* A member or base class. */
struct dwarf_part {
    Dwarf_Die type;
    const char *name; /* borrowed; NULL: a base class, or an anonymous struct or union */
    uint64_t offset;  /* from the beginning of the struct; of a bit-field, its first byte */
    uint64_t bytes;   /* 0: not known, as of a flexible array */
    uint64_t bit;     /* bit-field: distance from the beginning of the struct, in bits */
    uint64_t bits;    /* 0: no bit-field */
};

/* The type of a variable, member, pointer or array. False: void, or not known. */
bool dwarf_type_of(Dwarf_Die *die, Dwarf_Die *ret);

bool dwarf_type_is_pointer(Dwarf_Die *type);
bool dwarf_type_is_struct(Dwarf_Die *type);
bool dwarf_type_is_array(Dwarf_Die *type);

/* 0: not known. */
uint64_t dwarf_type_bytes(Dwarf_Die *type);

struct dwarf_parts {
    Dwarf_Die type; /* a struct; the other members begin as 0 */
    Dwarf_Die child;
    bool is_started;
};

/* The next member or base class. False: there are no more. */
bool dwarf_parts_next(struct dwarf_parts *parts, struct dwarf_part *ret);

#define DWARF_DIMENSIONS 4

/* Bytes between neighbours of each dimension of an array, the outermost first; the last one is the
 * size of an element. Returns the number of dimensions; 0: not known. */
unsigned dwarf_array_strides(Dwarf_Die *array, uint64_t ret[DWARF_DIMENSIONS]);

#endif
