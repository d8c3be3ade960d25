/* The variables of one ELF file that libdwfl has open, of a process (data_symbols.c) or by itself (data_files.c). */
#ifndef ARGUS_EVENT_DATA_MODULE_H
#define ARGUS_EVENT_DATA_MODULE_H

#include <elfutils/libdwfl.h>

#include "argus/data_symbols.h"

/* Tells each variable, C++ names in both forms. Addresses are those of `module`. */
void data_module_each(Dwfl_Module *module, argus_data_symbol_function function, void *context);

/* A variable that is looked for by name. */
struct data_wanted {
    const char *name;
    struct argus_data_symbol *symbol; /* result */
    bool found;                       /* result */
};

/* An argus_data_symbol_function whose context is a struct data_wanted: takes the first one of that name, and ends there. */
bool data_wanted_take(void *context, const char *name, const struct argus_data_symbol *symbol);

#endif
