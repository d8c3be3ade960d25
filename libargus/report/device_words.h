/* What a thread waited for, if a device ended the wait. */
#ifndef ARGUS_REPORT_DEVICE_WORDS_H
#define ARGUS_REPORT_DEVICE_WORDS_H

#include "slice/timeline.h"

/* "the network interface en0", "the driver IONVMeController", "a device or the network": as far as
 * the name of the kernel's thread tells that ended the wait of `vertex`. Returns `buffer`. */
const char *text_device(const struct view *view, uint32_t vertex, char *buffer, size_t bytes);

#endif
