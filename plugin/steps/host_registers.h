/* This machine's registers in the order of a step file, and what its calls do with them. */
#ifndef ARGUS_PLUGIN_HOST_REGISTERS_H
#define ARGUS_PLUGIN_HOST_REGISTERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t host_register_count(void);
/* LLDB's name of register `number`; a static string. */
const char *host_register_name_in_lldb(uint32_t number);

uint64_t host_pc(const uint64_t *registers);
uint64_t host_stack_pointer(const uint64_t *registers);
/* The result of a function that has just returned, and the arguments of one that was just
 * called. */
uint64_t host_result(const uint64_t *registers);
void host_arguments(const uint64_t *registers, uint64_t ret[6]);

#ifdef __cplusplus
}
#endif
#endif
