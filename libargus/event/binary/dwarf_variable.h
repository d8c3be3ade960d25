/* Variables in debug information: by address, by name, and those of a function at an instruction.
 * All addresses are those of the debug information. */
#ifndef ARGUS_EVENT_DWARF_VARIABLE_H
#define ARGUS_EVENT_DWARF_VARIABLE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* A global or static variable. */
struct dwarf_wanted {
    uint64_t address;
    bool is_thread_local; /* `address` counts from the beginning of the thread-local block */
    const char *symbol;   /* its mangled name, by which a declaration is accepted; NULL: none */
};

/* Looks in the unit `unit` (NULL: none), including its functions, and then in all units of
 * `dwarf`. */
bool dwarf_variable_find(Dwarf *dwarf, Dwarf_Die *unit, const struct dwarf_wanted *wanted,
                         Dwarf_Die *ret);

/* Where a function has a local variable at an instruction: in a register, or in memory. */
struct dwarf_local {
    bool is_in_register;
    uint8_t number;   /* DWARF's number of that register; in memory: … */
    int64_t offset;   /* … the variable is that far behind where this register points, … */
    bool is_of_frame; /* … or behind the canonical frame address */
};

/* The `index`th variable or parameter of `function` or of what was inlined there, that is known at
 * `pc`; the innermost block's first. False: there are no more. */
bool dwarf_local_at(Dwarf_Die *function, uint64_t pc, uint32_t index, Dwarf_Die *ret,
                    struct dwarf_local *ret_where);

#endif
