/* Packing and unpacking, codec by codec. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "trace/pack.h"
#include "trace/reason.h"

enum { LENGTH = 100000 };

/* Somewhat regular data, which compresses, but not too well. */
static uint8_t *sample(void)
{
    uint8_t *data = malloc(LENGTH);
    assert_non_null(data);
    for (size_t i = 0; i < LENGTH; i++)
        data[i] = (uint8_t)(i % 7 ? i >> 8 : i * i >> 3);
    return data;
}

static struct bytes pack_with(enum argus_codec codec, const uint8_t *data, size_t length,
                              enum argus_codec expected)
{
    struct packer packer = {.codec = codec};
    struct bytes packed = {0};
    enum argus_codec used;
    for (int i = 0; i < 2; i++) { /* the second one uses the state of the first one */
        bytes_clear(&packed);
        assert_true(packer_pack(&packer, data, length, &packed, &used));
        assert_int_equal(used, expected);
    }
    packer_deinit(&packer);
    return packed;
}

static void check_codec(enum argus_codec codec)
{
    uint8_t *data = sample(), *unpacked = malloc(LENGTH);
    struct bytes packed = pack_with(codec, data, LENGTH, codec);
    assert_true(packed.length < LENGTH / 2);
    assert_null(pack_fault(codec));
    assert_null(unpack_check(codec, packed.data, packed.length, LENGTH));
    assert_null(unpack(codec, packed.data, packed.length, unpacked, LENGTH));
    assert_memory_equal(data, unpacked, LENGTH);
    assert_string_equal(unpack(codec, packed.data, packed.length, unpacked, LENGTH - 1),
                        REASON_PAYLOAD);
    assert_non_null(unpack(codec, packed.data, packed.length - 1, unpacked, LENGTH));
    packed.data[packed.length / 2] ^= 0x40;
    packed.data[0] ^= 1;
    assert_non_null(unpack(codec, packed.data, packed.length, unpacked, LENGTH));
    bytes_deinit(&packed);
    free(unpacked);
    free(data);
}

static void every_codec_gives_back_what_it_packed(void **state)
{
    (void)state;
    for (uint32_t codec = ARGUS_CODEC_ZLIB; codec < ARGUS_CODECS; codec++) {
        if (argus_codec_is_built(codec))
            check_codec(codec);
    }
}

static void what_does_not_become_shorter_stays(void **state)
{
    (void)state;
    static const uint8_t data[] = {1, 2, 3};
    uint8_t unpacked[sizeof(data)];
    for (uint32_t codec = ARGUS_CODEC_ZLIB; codec < ARGUS_CODECS; codec++) {
        if (!argus_codec_is_built(codec))
            continue;
        struct bytes packed = pack_with(codec, data, sizeof(data), ARGUS_CODEC_NONE);
        assert_int_equal(packed.length, sizeof(data));
        assert_null(unpack_check(ARGUS_CODEC_NONE, packed.data, 3, 3));
        assert_string_equal(unpack_check(ARGUS_CODEC_NONE, packed.data, 3, 4), REASON_PAYLOAD_SIZE);
        assert_null(unpack(ARGUS_CODEC_NONE, packed.data, 3, unpacked, 3));
        assert_memory_equal(unpacked, data, 3);
        bytes_deinit(&packed);
    }
}

/* No reader accepts that a few bytes unpack to a megabyte, so none is written. */
static void nothing_is_packed_more_than_a_reader_believes(void **state)
{
    (void)state;
    size_t length = 1 << 20;
    uint8_t *zeros = calloc(1, length);
    assert_non_null(zeros);
    struct bytes packed = pack_with(ARGUS_CODEC_NONE, zeros, length, ARGUS_CODEC_ZLIB);
    assert_null(unpack_check(ARGUS_CODEC_ZLIB, packed.data, packed.length, length));
    bytes_deinit(&packed);
    free(zeros);
}

/* A zstd frame states the length of its content. It must be checked before anything is allocated.
 * */
static void a_zstd_frame_says_its_size(void **state)
{
    (void)state;
    if (!argus_codec_is_built(ARGUS_CODEC_ZSTD)) {
        assert_non_null(strstr(pack_fault(ARGUS_CODEC_ZSTD), "without libzstd"));
        skip();
    }
    uint8_t *data = sample();
    struct bytes packed = pack_with(ARGUS_CODEC_ZSTD, data, LENGTH, ARGUS_CODEC_ZSTD);
    const char *(*check)(uint32_t, const uint8_t *, size_t, size_t) = unpack_check;
    assert_string_equal(check(ARGUS_CODEC_ZSTD, packed.data, packed.length, LENGTH + 1),
                        REASON_PAYLOAD_SIZE);
    assert_string_equal(check(ARGUS_CODEC_ZSTD, packed.data, packed.length - 1, LENGTH),
                        REASON_PAYLOAD_SIZE);
    bytes_put(&packed, "", 1);
    assert_string_equal(check(ARGUS_CODEC_ZSTD, packed.data, packed.length, LENGTH),
                        REASON_PAYLOAD_SIZE);
    packed.data[0] = 0x27; /* the magic number of zstd 0.7 */
    assert_string_equal(check(ARGUS_CODEC_ZSTD, packed.data, packed.length, LENGTH),
                        REASON_PAYLOAD);
    assert_string_equal(check(ARGUS_CODEC_ZSTD, packed.data, 20, LENGTH),
                        "it claims to unpack to more than is possible");
    bytes_deinit(&packed);
    free(data);
}

static void codecs_have_names(void **state)
{
    (void)state;
    enum argus_codec codec;
    assert_true(argus_codec_find("zstd", &codec));
    assert_int_equal(codec, ARGUS_CODEC_ZSTD);
    assert_false(argus_codec_find("none", &codec));
    assert_string_equal(argus_codec_name(ARGUS_CODEC_ZLIB), "zlib");
    assert_string_equal(argus_codec_name((enum argus_codec)99), "unknown");
    assert_false(argus_codec_is_built((enum argus_codec)99));
    assert_string_equal(pack_fault(ARGUS_CODECS), "it is packed with an unknown codec");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_gives_back_what_it_packed),
        cmocka_unit_test(what_does_not_become_shorter_stays),
        cmocka_unit_test(nothing_is_packed_more_than_a_reader_believes),
        cmocka_unit_test(a_zstd_frame_says_its_size),
        cmocka_unit_test(codecs_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
