/* The variables of an ELF file that libdwfl has open: as part of a process (data_symbols.c) or
 * alone (data_files.c). */
#ifndef ARGUS_EVENT_DATA_MODULE_H
#define ARGUS_EVENT_DATA_MODULE_H

#include <elfutils/libdwfl.h>

#include "argus/data_symbols.h"

/* Calls the function for each variable, C++ names in both forms. Addresses are those of
 * `module`. */
void data_module_each(Dwfl_Module *module, argus_data_symbol_function function, void *context);

/* A variable to find by name. */
struct data_wanted {
    const char *name;
    struct argus_data_symbol *symbol; /* result */
    bool found;                       /* result */
};

/* An argus_data_symbol_function that takes the first variable with the wanted name and ends the
 * search. Its context is a struct data_wanted. */
bool data_wanted_take(void *context, const char *name, const struct argus_data_symbol *symbol);

#endif
