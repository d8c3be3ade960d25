/* Debian 11's <sys/syscall.h>, with what Argus needs of Linux 5.6's. For cmake/portable.cmake only. */
#ifndef ARGUS_PORTABLE_SYS_SYSCALL_H
#define ARGUS_PORTABLE_SYS_SYSCALL_H

#include_next <sys/syscall.h>

/* The same number in every table (include/uapi/asm-generic/unistd.h, arch/x86/entry/syscalls). */
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

#endif
