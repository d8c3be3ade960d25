/* The reader of step files against any bytes: unchanged, and with all checksums corrected. Checks
 * the reader's guarantees about IDs; a violation ends the program. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "argus/steps.h"
#include "fuzz.h"
#include "fuzz_file.h"
#include "steps/steps_layout.h"

static uint32_t crc_of(const void *data, size_t length)
{
    return (uint32_t)crc32(0, data, (unsigned)length);
}

static void seal(uint8_t *data, size_t size)
{
    size_t at = sizeof(struct steps_file_header);
    uint32_t sequence = 0;
    if (size < at)
        return;
    uint32_t crc = crc_of(data, offsetof(struct steps_file_header, crc));
    memcpy(data + offsetof(struct steps_file_header, crc), &crc, sizeof(crc));
    while (size - at >= sizeof(struct steps_chunk_header)) {
        struct steps_chunk_header header;
        memcpy(&header, data + at, sizeof(header));
        size_t payload = at + sizeof(header);
        if (header.stored_bytes > size - payload)
            header.stored_bytes = (uint32_t)(size - payload);
        header.sequence = sequence++;
        header.payload_crc = crc_of(data + payload, header.stored_bytes);
        header.header_crc = crc_of(&header, offsetof(struct steps_chunk_header, header_crc));
        memcpy(data + at, &header, sizeof(header));
        at = payload + header.stored_bytes;
    }
}

static void check_tables(const struct argus_steps *steps, size_t step_count)
{
    const struct argus_step_event *events;
    const struct argus_step_frame *frames;
    const struct argus_step_image *images;
    size_t event_count = argus_steps_events(steps, &events);
    size_t frame_count = argus_steps_frames(steps, &frames);
    size_t image_count = argus_steps_images(steps, &images);
    for (size_t i = 0; i < event_count; i++)
        if (events[i].step >= step_count || (i && events[i].step < events[i - 1].step) ||
            (events[i].frame != ARGUS_NONE && events[i].frame >= frame_count))
            abort();
    for (size_t i = 0; i < frame_count; i++)
        if (frames[i].caller != ARGUS_NONE && frames[i].caller >= i)
            abort();
    for (size_t i = 0; i < image_count; i++)
        if (images[i].start >= images[i].end || strlen(images[i].path) > (1u << 24) ||
            argus_steps_image_of(steps, images[i].start) != i)
            abort();
    if (argus_steps_first_frame(steps) != ARGUS_NONE &&
        argus_steps_first_frame(steps) >= frame_count)
        abort();
}

static void check_steps(struct argus_steps *steps)
{
    const uint64_t *pcs;
    uint64_t registers[ARGUS_STEP_REGISTERS];
    uint8_t code[64];
    size_t count = argus_steps_pcs(steps, &pcs);
    for (uint32_t i = 0; i < count; i++) {
        argus_steps_registers(steps, i, registers);
        if (argus_steps_code(steps, pcs[i], sizeof(code), code) > sizeof(code))
            abort();
    }
    if (argus_steps_registers(steps, (uint32_t)count, registers))
        abort();
    check_tables(steps, count);
}

static void read_steps(const uint8_t *data, size_t size)
{
    struct argus_steps *steps = NULL;
    struct argus_error *error = argus_steps_open(fuzz_file(data, size), &steps);
    if (!error)
        check_steps(steps);
    argus_error_destroy(error);
    argus_steps_close(steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_sealed(data, size, read_steps, seal);
    return 0;
}
