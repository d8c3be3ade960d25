/* Code addresses as found on stacks and in registers of arm64.
 *
 * A function with pointer authentication (-mbranch-protection, as Debian 13 and Ubuntu 24.04 are
 * built) signs its return address before it saves it. On Linux the signature occupies bits 48 to
 * 54; bit 55 distinguishes kernel from user addresses, and the byte above it is a tag (Linux's
 * Documentation/arch/arm64: pointer-authentication.rst, tagged-pointers.rst, memory.rst). With
 * 52-bit addresses the signature has fewer bits, but the kernel uses addresses above 48 bits only
 * if a process requests one from mmap(), so code lies below. An address without a signature is left
 * unchanged.
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
