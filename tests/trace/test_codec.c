/* Varints and columns: encoding and decoding give back the same values, and invalid data is
 * refused. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "trace/codec.h"
#include "trace/varint.h"

static void varints_round_trip(void **state)
{
    (void)state;
    for (int bits = 0; bits <= 64; bits++) {
        uint64_t top = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
        for (uint64_t value = top > 2 ? top - 2 : 0;; value++) {
            uint8_t bytes[VARINT_MOST_BYTES + VARINT_SLACK] = {0};
            size_t length = (size_t)(varint_write(bytes, value) - bytes), at = 0;
            assert_int_equal(varint_read(bytes, &at), value);
            assert_int_equal(at, length);
            assert_int_equal(unzigzag(zigzag(value)), value);
            if (value == top)
                break;
        }
    }
}

static void longer_varints_are_bad(void **state)
{
    (void)state;
    uint8_t bytes[32];
    size_t at = 0;
    memset(bytes, 0xff, sizeof(bytes));
    varint_read(bytes, &at);
    assert_int_equal(at, VARINT_BAD);

    at = 0;
    bytes[9] = 2; /* the 66th bit */
    varint_read(bytes, &at);
    assert_int_equal(at, VARINT_BAD);

    at = 0;
    bytes[9] = 1;
    assert_int_equal(varint_read(bytes, &at), UINT64_MAX);
    assert_int_equal(at, 10);
}

static void bytes_beyond_the_needed_are_read(void **state)
{
    (void)state;
    uint8_t bytes[VARINT_SLACK + 4] = {0x85, 0x80, 0x00}; /* 5, in three bytes */
    size_t at = 0;
    assert_int_equal(varint_read(bytes, &at), 5);
    assert_int_equal(at, 3);
}

/* An encoded payload with slack behind it, to be damaged. */
struct payload {
    struct bytes bytes;
    struct codec_bounds bounds;
};

static struct payload encode(const struct argus_record *records, uint32_t count, uint32_t cpu)
{
    static const uint8_t slack[VARINT_SLACK];
    struct codec_encoder encoder = {0};
    struct payload payload = {
        .bounds = {.first_ticks = 0,
                   .last_ticks = UINT64_MAX,
                   .count = count,
                   .cpu = cpu,
                   .cpu_count = 4},
    };
    codec_encode(&encoder, &payload.bounds, records, &payload.bytes);
    assert_false(payload.bytes.failed);
    bytes_put(&payload.bytes, slack, sizeof(slack));
    codec_encoder_deinit(&encoder);
    return payload;
}

static const char *decode(const struct payload *payload, struct argus_record *ret)
{
    return codec_decode(payload->bytes.data, payload->bytes.length - VARINT_SLACK, &payload->bounds,
                        ret);
}

static void round_trip(const struct argus_record *records, uint32_t count, uint32_t cpu)
{
    struct payload payload = encode(records, count, cpu);
    struct argus_record *got = calloc(count + 1, sizeof(*got));
    const char *reason = decode(&payload, got);
    assert_null(reason);
    assert_memory_equal(got, records, count * sizeof(*got));
    free(got);
    bytes_deinit(&payload.bytes);
}

static const struct argus_record extremes[] = {
    {.timestamp = UINT64_MAX, .debugid = UINT32_MAX, .tid = UINT64_MAX, .cpu = 3},
    {.timestamp = 0, .arg = {UINT64_MAX, 0, UINT64_MAX, 1ull << 63}, .cpu = 3},
    {.timestamp = 1ull << 63, .arg = {0, UINT64_MAX, 1, INT64_MAX}, .cpu = 3},
    {.debugid = UINT32_MAX, .tid = 1, .arg = {1, 2, 3, 4}, .cpu = 3},
};

static void extremes_round_trip(void **state)
{
    (void)state;
    round_trip(extremes, 4, 3);
    round_trip(extremes, 4, ARGUS_CPU_MIXED);
    round_trip(extremes, 1, 3);
}

static void the_longest_chunk_fits_a_payload(void **state)
{
    (void)state;
    struct argus_record *records = calloc(ARGUS_CHUNK_MAX_RECORDS, sizeof(*records));
    assert_non_null(records);
    for (uint32_t i = 0; i < ARGUS_CHUNK_MAX_RECORDS; i++) /* every difference ten bytes long */
        records[i] = (struct argus_record){
            .timestamp = i % 2 ? 0 : 1ull << 63,
            .arg = {1ull << 63, 1ull << 63, 1ull << 63, 1ull << 63},
            .tid = i % 2 ? 0 : 1ull << 63,
            .debugid = UINT32_MAX - i,
        };
    struct payload payload = encode(records, ARGUS_CHUNK_MAX_RECORDS, ARGUS_CPU_MIXED);
    assert_true(payload.bytes.length <= ARGUS_CHUNK_MAX_BYTES);
    assert_true(payload.bytes.length > 60 * ARGUS_CHUNK_MAX_RECORDS);
    bytes_deinit(&payload.bytes);
    free(records);
}

static void zero_records_round_trip(void **state)
{
    (void)state;
    round_trip(extremes, 0, 0);
}

static void every_cut_of_a_payload_is_refused(void **state)
{
    (void)state;
    struct payload payload = encode(extremes, 4, ARGUS_CPU_MIXED);
    struct argus_record got[4];
    size_t length = payload.bytes.length - VARINT_SLACK;
    for (size_t cut = 0; cut < length; cut++)
        assert_non_null(codec_decode(payload.bytes.data, cut, &payload.bounds, got));
    bytes_deinit(&payload.bytes);
}

/* Decodes the payload, frees it, and expects this error after `damage` was applied. */
static void refused(struct payload payload, const char *reason)
{
    struct argus_record got[8];
    const char *said = decode(&payload, got);
    assert_non_null(said);
    assert_string_equal(said, reason);
    bytes_deinit(&payload.bytes);
}

static void impossible_payloads_are_refused(void **state)
{
    (void)state;
    struct payload payload = encode(extremes, 4, 3);
    payload.bounds.count = 3;
    refused(payload, "a column has bytes left over");

    payload = encode(extremes, 4, 3);
    payload.bounds.count = 5;
    refused(payload, "a column is cut off");

    payload = encode(extremes, 4, ARGUS_CPU_MIXED);
    payload.bounds.cpu_count = 3;
    refused(payload, "a record's cpu is not one of the recorded machine");

    payload = encode(extremes, 4, ARGUS_CPU_MIXED);
    payload.bounds.cpu = 3;
    refused(payload, "it has a cpu column although it belongs to one cpu");

    payload = encode(extremes, 4, 3);
    payload.bounds.last_ticks = 1000;
    refused(payload, "a timestamp is outside the time range of the chunk");
}

static void a_wrong_dictionary_is_refused(void **state)
{
    (void)state;
    struct payload payload = encode(extremes, 4, 3);
    uint32_t time_bytes;
    memcpy(&time_bytes, payload.bytes.data, sizeof(time_bytes));
    uint8_t *dictionary = payload.bytes.data + CODEC_SIZES_BYTES + time_bytes;
    assert_int_equal(dictionary[0], 2);
    memcpy(dictionary + 5, dictionary + 1, 4);
    refused(payload, "a debugid is twice in the dictionary");

    payload = encode(extremes, 4, 3);
    dictionary = payload.bytes.data + CODEC_SIZES_BYTES + time_bytes;
    dictionary[0] = 100;
    refused(payload, "the dictionary of debugids is cut off");

    payload = encode(extremes, 4, 3);
    dictionary = payload.bytes.data + CODEC_SIZES_BYTES + time_bytes;
    dictionary[9] = 2; /* the first record's index */
    refused(payload, "a record's debugid is not in the dictionary");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varints_round_trip),
        cmocka_unit_test(longer_varints_are_bad),
        cmocka_unit_test(bytes_beyond_the_needed_are_read),
        cmocka_unit_test(extremes_round_trip),
        cmocka_unit_test(zero_records_round_trip),
        cmocka_unit_test(the_longest_chunk_fits_a_payload),
        cmocka_unit_test(every_cut_of_a_payload_is_refused),
        cmocka_unit_test(impossible_payloads_are_refused),
        cmocka_unit_test(a_wrong_dictionary_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
