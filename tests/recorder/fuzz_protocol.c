/* Feeds bytes to the parsers of requests and replies. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is accepted must lie within what the recorder relies on. */
static void check_accepted(const struct request *request)
{
    if (request->verb < REQUEST_START || request->verb > REQUEST_LAST)
        abort();
    if (request->verb == REQUEST_START && (request->start.ring_bytes > PROTOCOL_RING_MAX ||
                                           request->start.rate_hz > PROTOCOL_RATE_MAX))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct request request;
    struct reply reply;
    struct argus_error *error = request_parse(data, size, &request);
    if (!error)
        check_accepted(&request);
    argus_error_destroy(error);
    error = reply_parse(data, size, &reply);
    if (!error && memchr(reply.text, '\0', sizeof(reply.text)) == NULL)
        abort();
    argus_error_destroy(error);
    return 0;
}

#ifdef ARGUS_FUZZ_MAIN
/* Without libFuzzer: good messages with a few bytes changed, in an order that is the same each time. */
int main(void)
{
    static union {
        struct request request;
        struct reply reply;
        uint8_t bytes[sizeof(struct reply) + 8];
    } message;
    uint32_t random = 1;
    for (int round = 0; round < 200000; round++) {
        memset(&message, 0, sizeof(message));
        message.request.magic = PROTOCOL_MAGIC;
        message.request.version = PROTOCOL_VERSION;
        message.request.verb = REQUEST_START;
        message.request.start.ring_bytes = 1 << 20;
        message.request.start.mode = RECORDING_MEMORY;
        message.request.start.categories = CATEGORIES_ALL;
        size_t size = round % 2 ? sizeof(struct request) : sizeof(struct reply);
        for (int change = 0; change < round % 5; change++) {
            random = random * 1664525 + 1013904223;
            message.bytes[(random >> 8) % size] = (uint8_t)(random >> 24);
        }
        LLVMFuzzerTestOneInput(message.bytes, size + (round % 97 == 0));
    }
    return 0;
}
#endif
