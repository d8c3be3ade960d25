/* The parsers of requests and replies: accepted messages must satisfy everything on which the
 * recorder and the front end rely.
 *
 * A valid message is unlikely to be found by chance, so the input changes a valid one: byte 0 says
 * which (bit 0: a reply) and whether it is a byte too short (bit 1) or too long (bit 2), byte 1 is
 * the verb, and then three bytes each are an offset (little-endian) and a value to put there.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/protocol.h"

#include "fuzz.h"

static void require(bool fact, const char *what)
{
    if (fact)
        return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

static bool has_end(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static void check_start(const struct request_start *start)
{
    require(start->mode >= RECORDING_STREAM && start->mode <= RECORDING_RING, "the mode is one");
    require(start->backend < BACKEND_KIND_COUNT, "the backend is one");
    require(start->ring_bytes <= PROTOCOL_RING_MAX, "the ring has a limit");
    require(start->rate_hz <= PROTOCOL_RATE_MAX, "the rate has a limit");
    require(start->categories & CATEGORY_BIT(CATEGORY_SCHED), "sched is always recorded");
    require(!(start->categories & ~CATEGORIES_ALL), "the categories are known");
    require(start->unwind_count <= PROTOCOL_UNWIND_MAX, "the processes to unwind fit");
    require(!start->unwind_count || start->unwind_bytes <= PROTOCOL_UNWIND_LIMIT,
            "a stack to keep has a limit");
    require(has_end(start->hang_name, sizeof(start->hang_name)), "a name ends");
    for (size_t i = 0; i < PROTOCOL_UNWIND_MAX; i++)
        require(has_end(start->unwind_names[i], sizeof(start->unwind_names[i])), "a name ends");
}

static void parse_request(const uint8_t *bytes, size_t size)
{
    struct request request;
    struct argus_error *error = request_parse(bytes, size, &request);
    if (!error) {
        require(request.verb >= REQUEST_START && request.verb <= REQUEST_LAST, "the verb is one");
        if (request.verb == REQUEST_START)
            check_start(&request.start);
        if (request.verb == REQUEST_WATCHED)
            require(has_end(request.watched.reason, sizeof(request.watched.reason)),
                    "a reason ends");
    }
    argus_error_destroy(error);
}

static void parse_reply(const uint8_t *bytes, size_t size)
{
    struct reply reply;
    struct argus_error *error = reply_parse(bytes, size, &reply);
    if (!error) {
        require(has_end(reply.text, sizeof(reply.text)), "the text ends");
        require(reply.count <= PROTOCOL_PAGE, "a page has a limit");
        require(reply.error <= 1 + ARGUS_ERROR_QUESTION, "the error is one");
    }
    argus_error_destroy(error);
}

static struct request good_request(uint8_t verb)
{
    struct request request = {.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .verb = verb};
    if (verb == REQUEST_START)
        request.start = (struct request_start){
            .mode = RECORDING_MEMORY,
            .ring_bytes = PROTOCOL_RING_MIN,
            .file_ring_bytes = PROTOCOL_FILE_RING_MIN,
            .categories = CATEGORIES_ALL,
        };
    return request;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool is_reply = size > 0 && data[0] & 1;
    uint8_t verb = size > 1 ? data[1] : REQUEST_STATUS;
    struct request request = good_request(verb);
    struct reply reply = {.magic = PROTOCOL_MAGIC, .version = PROTOCOL_VERSION, .verb = verb};
    size_t length = is_reply ? sizeof(reply) : sizeof(request);
    uint8_t *message = calloc(1, length + 1);
    if (!message)
        return 0;
    memcpy(message, is_reply ? (const void *)&reply : (const void *)&request, length);
    for (size_t i = 2; i + 3 <= size; i += 3)
        message[(data[i] | (size_t)data[i + 1] << 8) % length] = data[i + 2];
    if (size > 0)
        length += (data[0] >> 2 & 1) - (size_t)(data[0] >> 1 & 1);
    uint8_t *exact = malloc(length); /* so that the sanitizer detects an overrun of one byte */
    if (exact) {
        memcpy(exact, message, length);
        (is_reply ? parse_reply : parse_request)(exact, length);
    }
    free(exact);
    free(message);
    return 0;
}
