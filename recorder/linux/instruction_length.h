/* The length of an instruction, of those with which compilers begin functions. */
#ifndef ARGUS_RECORDER_LINUX_INSTRUCTION_LENGTH_H
#define ARGUS_RECORDER_LINUX_INSTRUCTION_LENGTH_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the first instruction of `code` for this processor; 0: not known, or it does not fit
 * into `bytes`. A length that is returned is right. */
size_t instruction_length(const uint8_t *code, size_t bytes);

#endif
