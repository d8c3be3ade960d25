/* Reading kernel structures.
 *
 * bpf_rdonly_cast() (Linux 6.2) makes any number a pointer to a kernel type: reading through it is
 * one instruction with an entry in the kernel's exception table, where bpf_probe_read_kernel() is a
 * call of 10 to 20 ns. A bad address reads as 0 both ways. The programs are built once for each way
 * (ARGUS_CASTS); the recorder takes the build that the kernel accepts.
 */
#ifndef ARGUS_BPF_KERNEL_READ_H
#define ARGUS_BPF_KERNEL_READ_H

#include "ring.h"

/* A field of a `struct type` at `pointer`. */
#if defined(ARGUS_CASTS)
extern void *bpf_rdonly_cast(const void *place, uint32_t type) __ksym;

#define kernel_read(type, pointer, field)                                                          \
    (((struct type *)bpf_rdonly_cast((pointer), bpf_core_type_id_kernel(struct type)))->field)
#else
#define kernel_read(type, pointer, field) BPF_CORE_READ((struct type *)(pointer), field)
#endif

/* The address of a field. */
#define kernel_place(type, pointer, field)                                                         \
    ((const void *)(pointer) + bpf_core_field_offset(struct type, field))

/* The 8 bytes at `place`, as a number (a pointer that is read as a field cannot be calculated
 * with). */
static __always_inline uint64_t kernel_word(const void *place)
{
    return (uint64_t)kernel_read(timespec64, place, tv_sec);
}

#endif
