#include "macos/voucher_contents.h"

static const char setting[] = "kern.ipc_voucher_trace_contents";

void voucher_contents_begin(struct voucher_contents *contents, const struct kdebug_os *os)
{
    uint32_t on = 1;
    size_t bytes = sizeof(contents->before);
    *contents = (struct voucher_contents){0};
    if (os->control(os->context, setting, &contents->before, &bytes, NULL, 0) != 0 ||
        contents->before != 0)
        return;
    contents->changed = os->control(os->context, setting, NULL, NULL, &on, sizeof(on)) == 0;
}

void voucher_contents_end(struct voucher_contents *contents, const struct kdebug_os *os)
{
    if (contents->changed)
        os->control(os->context, setting, NULL, NULL, &contents->before, sizeof(contents->before));
    contents->changed = false;
}
