/* Internals that the files behind elf_file.h share. */
#ifndef ARGUS_EVENT_ELF_PRIVATE_H
#define ARGUS_EVENT_ELF_PRIVATE_H

#include <elfutils/libdwfl.h>

#include "event/binary/elf_file.h"
#include "event/binary/elf_go.h"
#include "event/binary/elf_units.h"

/* Borrowed. */
Dwfl_Module *elf_file_module(const struct elf_file *file);

/* What its debug information describes, borrowed; read on the first call. NULL without memory. */
struct elf_units *elf_file_units(struct elf_file *file);

/* The table of a Go program, borrowed; NULL: it is none. */
struct elf_go *elf_file_go(struct elf_file *file);

#endif
