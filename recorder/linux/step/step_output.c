#include "linux/step/step_output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void step_output_flush(struct step_output *output)
{
    size_t done = 0;
    while (done < output->length && !output->failed) {
        ssize_t put = write(output->fd, output->buffer + done, output->length - done);
        if (put < 0 && errno != EINTR)
            output->failed = true;
        done += put > 0 ? (size_t)put : 0;
    }
    output->length = 0;
}

static void put_bytes(struct step_output *output, const void *data, size_t bytes)
{
    if (!bytes)
        return;
    memcpy(output->buffer + output->length, data, bytes);
    output->length += bytes;
}

void step_output_put(struct step_output *output, enum step_item_kind kind, const void *head,
                     size_t head_bytes, const void *tail, size_t tail_bytes)
{
    struct step_item item = {.kind = kind, .bytes = (uint32_t)(head_bytes + tail_bytes)};
    if (item.bytes > STEP_ITEM_BYTES)
        return;
    if (sizeof(output->buffer) - output->length < sizeof(item) + item.bytes)
        step_output_flush(output);
    put_bytes(output, &item, sizeof(item));
    put_bytes(output, head, head_bytes);
    put_bytes(output, tail, tail_bytes);
}
