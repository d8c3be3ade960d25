/* This machine's registers in the order of a step file, for the C++ code of plugin/lldb. */
#ifndef ARGUS_PLUGIN_HOST_REGISTERS_H
#define ARGUS_PLUGIN_HOST_REGISTERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t host_register_count(void);
/* LLDB's name of register `number`; a static string. */
const char *host_register_name_in_lldb(uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
