#ifndef ARGUS_TESTS_UNWIND_LIBRARY_H
#define ARGUS_TESTS_UNWIND_LIBRARY_H

/* Calls `callback` from a function of a shared library that another one there calls. */
__attribute__((visibility("default"))) int library_outer(int (*callback)(int));

#endif
