#include "linux/step/step_output.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "linux/step/stepper.h"

#define PATIENCE_NS 10000000000u

/* Waits until the reader has taken something. The stepped thread is stopped meanwhile, so a reader
 * that is stopped, too (Ctrl-Z), is not waited for forever. */
static bool wait_for_room(const struct step_output *output)
{
    struct pollfd polled = {.fd = output->fd, .events = POLLOUT};
    uint64_t began_ns = step_now_ns();
    while (step_now_ns() - began_ns < PATIENCE_NS)
        if (poll(&polled, 1, 100) > 0) /* the timer interrupts it */
            return true;
    return false;
}

void step_output_flush(struct step_output *output)
{
    size_t done = 0;
    while (done < output->length && !output->failed) {
        ssize_t put = write(output->fd, output->buffer + done, output->length - done);
        if (put < 0 && errno == EAGAIN)
            output->failed = !wait_for_room(output);
        else if (put < 0 && errno != EINTR)
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
