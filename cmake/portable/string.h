/* glibc 2.31's <string.h>, with what Argus needs of 2.32's. For cmake/portable.cmake only. */
#ifndef ARGUS_PORTABLE_STRING_H
#define ARGUS_PORTABLE_STRING_H

#include_next <string.h>

/* The signal's name without SIG; NULL if it has none. Numbers of Linux on x86 and arm64. */
static inline const char *sigabbrev_np(int number)
{
    static const char *const names[] = {
        NULL,   "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
        "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
        "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "POLL", "PWR",  "SYS",
    };
    unsigned int count = sizeof(names) / sizeof(names[0]);
    return number > 0 && (unsigned int)number < count ? names[number] : NULL;
}

#endif
