/* The contents of vouchers: for which process a message is sent.
 *
 * Kernels whose kdebug level is standard (Intel) record them when a voucher is made, if the setting
 * kern.ipc_voucher_trace_contents is not 0 (osfmk/ipc/ipc_voucher.c: iv_dedup()). Other kernels
 * have the setting as well, and ignore it. */
#ifndef ARGUS_RECORDER_MACOS_VOUCHER_CONTENTS_H
#define ARGUS_RECORDER_MACOS_VOUCHER_CONTENTS_H

#include "macos/kdebug_os.h"

struct voucher_contents {
    bool changed;
    uint32_t before; /* the setting */
};

/* Sets it, if it is 0. Failure is none: then the contents are missing. */
void voucher_contents_begin(struct voucher_contents *contents, const struct kdebug_os *os);
/* Restores the setting. May be called twice. */
void voucher_contents_end(struct voucher_contents *contents, const struct kdebug_os *os);

#endif
