/* Internals that the files behind elf_file.h share. */
#ifndef ARGUS_EVENT_ELF_PRIVATE_H
#define ARGUS_EVENT_ELF_PRIVATE_H

#include <elfutils/libdwfl.h>

#include "event/binary/elf_file.h"

/* Borrowed. */
Dwfl_Module *elf_file_module(const struct elf_file *file);

#endif
