/* The registers of a step on this machine, in the order of a step file, for the C++ of plugin/lldb. */
#ifndef ARGUS_PLUGIN_HOST_REGISTERS_H
#define ARGUS_PLUGIN_HOST_REGISTERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t host_register_count(void);
/* The name of register `number` in LLDB; static. */
const char *host_register_name_in_lldb(uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
