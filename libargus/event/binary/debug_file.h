/* Finds separate debug files on this machine only. */
#ifndef ARGUS_EVENT_DEBUG_FILE_H
#define ARGUS_EVENT_DEBUG_FILE_H

#include <elfutils/libdwfl.h>

/* A find_debuginfo callback for libdwfl. libdwfl's default callback would ask debuginfod
 * servers. */
int debug_file_find(Dwfl_Module *module, void **userdata, const char *module_name, Dwarf_Addr base,
                    const char *file_name, const char *debuglink, GElf_Word debuglink_crc,
                    char **ret_path);

#endif
