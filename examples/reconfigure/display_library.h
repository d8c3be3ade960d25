/* The flag of settings-library, in a library of its own. */
#ifndef RECONFIGURE_DISPLAY_LIBRARY_H
#define RECONFIGURE_DISPLAY_LIBRARY_H

#define EXPORTED __attribute__((visibility("default")))

extern EXPORTED volatile int display_did_reconfigure;

#endif
