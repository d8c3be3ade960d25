/* Addresses of code as they lie on stacks and in registers of arm64.
 *
 * A function with pointer authentication (-mbranch-protection, as Debian 13 and Ubuntu 24.04 are built) signs its return
 * address before it saves it. Linux lets the signature have bits 48 to 54; bit 55 tells the kernel's half from the user's,
 * and the byte above it is a tag (Linux's Documentation/arch/arm64: pointer-authentication.rst, tagged-pointers.rst, memory.rst).
 * A machine with addresses of 52 bits signs fewer bits, but gives addresses above 48 bits only to a process that asks mmap()
 * for one, so code lies below. An address without a signature stays what it is.
 */
#ifndef ARGUS_BASE_CODE_ADDRESS_H
#define ARGUS_BASE_CODE_ADDRESS_H

#include <stdint.h>

#define CODE_ADDRESS_ARM64_BITS 48

static inline uint64_t code_address_arm64(uint64_t address)
{
    const uint64_t mask = (1ull << CODE_ADDRESS_ARM64_BITS) - 1;
    return address >> 55 & 1 ? address | ~mask : address & mask;
}

#endif
