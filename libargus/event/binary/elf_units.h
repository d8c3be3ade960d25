/* The compilation units and functions in a file's debug information, found by address.
 *
 * libdw finds them by .debug_aranges, which Go, clang and newer versions of rustc do not write, and
 * does not look for functions inside namespaces, where Rust's and many of C++'s are.
 *
 * With split debug information (-gsplit-dwarf), a unit of the file is only a skeleton: ranges,
 * lines and the name of another file (.dwo), which has its functions. libdw looks for that file
 * below the folder of the program and below the folder of the compilation. Files of many units
 * packed into one (.dwp) are read by elfutils from 0.191 on.
 */
#ifndef ARGUS_EVENT_ELF_UNITS_H
#define ARGUS_EVENT_ELF_UNITS_H

#include <elfutils/libdwfl.h>

#include "base/vec.h"

/* A range of addresses that belongs to a unit or function. */
struct elf_range {
    uint64_t start, end; /* end exclusive */
    uint64_t item;       /* number of the unit, or offset of the function's entry */
};

struct elf_ranges {
    struct elf_range *data; /* owned; a VEC */
    size_t length, capacity;
};

struct elf_unit {
    Dwarf_Die die;  /* in the file */
    Dwarf_Die code; /* what has the functions: the same, or its split unit; valid if `read` */
    struct elf_ranges functions; /* sorted */
    uint8_t read;                /* how much of them: enum unit_read in elf_units.c */
};

struct elf_units {
    Dwarf *dwarf;             /* belongs to the module; NULL: no debug information */
    uint64_t bias;            /* address in the file minus address in the debug information */
    struct elf_ranges ranges; /* sorted */
    VEC(struct elf_unit) units;
    Dwfl_Module *module; /* borrowed */
    char *missing;       /* the first file of a split unit that is not there, owned; NULL: none */
    size_t missing_count;
};

/* Reads all units of `module`. NULL without memory. */
struct elf_units *elf_units_create(Dwfl_Module *module);
void elf_units_destroy(struct elf_units *units);

/* The unit that has the code at `address`, borrowed. NULL: none. */
struct elf_unit *elf_units_find(struct elf_units *units, uint64_t address);

/* The function in `unit` that has the code at `address`; one that was inlined does not count. The
 * first call for a unit reads its functions. False: none. */
bool elf_unit_function(struct elf_units *units, struct elf_unit *unit, uint64_t address,
                       Dwarf_Die *ret);

#endif
