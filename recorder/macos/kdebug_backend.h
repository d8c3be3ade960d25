/* Recording over kdebug, on a stock kernel or one with xnu-patch/. */
#ifndef ARGUS_RECORDER_MACOS_KDEBUG_BACKEND_H
#define ARGUS_RECORDER_MACOS_KDEBUG_BACKEND_H

#include "macos/kdebug_os.h"
#include "server/backend.h"

extern const struct backend_ops kdebug_backend_ops;

/* A backend that asks `os`, borrowed, instead of macOS: for the tests, which run elsewhere. */
struct argus_error *kdebug_backend_create(const struct kdebug_os *os,
                                          const struct backend_options *options,
                                          struct backend **ret);

#endif
