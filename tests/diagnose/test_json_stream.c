/* json_stream.h: the same text as json_write(), piece by piece. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "report/json_stream.h"

struct text {
    char bytes[400000];
    size_t length, most;
};

static struct text streamed, whole;

static bool take(void *context, const char *bytes, size_t count)
{
    struct text *text = context;
    if (text->length + count > text->most)
        return false;
    memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
    return true;
}

static struct argus_sink sink_of(struct text *text, size_t most)
{
    text->length = 0;
    text->most = most;
    return (struct argus_sink){.write = take, .context = text};
}

static json_t *element(int number)
{
    json_t *json = json_object();
    json_put(json, "number", json_ns((uint64_t)number));
    json_put(json, "name", json_text("two\nlines \"and\" a \\n"));
    json_put(json, "nothing", json_array());
    json_t *list = json_array();
    json_add(list, json_object());
    json_add(list, json_null());
    json_put(json, "list", list);
    return json;
}

static void compare(int count)
{
    struct argus_sink sink = sink_of(&streamed, sizeof(streamed.bytes));
    struct argus_sink other = sink_of(&whole, sizeof(whole.bytes));
    struct json_stream stream;
    json_t *object = json_object(), *list = json_array();
    json_stream_begin(&stream, &sink, "test 1");
    assert_true(json_stream_put(&stream, "first", element(-1)));
    json_stream_list(&stream, "elements");
    json_put(object, "first", element(-1));
    for (int i = 0; i < count; i++) {
        assert_true(json_stream_add(&stream, element(i)));
        json_add(list, element(i));
    }
    json_stream_list_end(&stream);
    json_put(object, "elements", list);
    json_stream_put(&stream, "last", json_text("x"));
    json_put(object, "last", json_text("x"));
    assert_null(json_stream_end(&stream));
    assert_null(json_write(&other, "test 1", object));
    assert_int_equal(streamed.length, whole.length);
    assert_memory_equal(streamed.bytes, whole.bytes, whole.length);
}

static void the_text_is_that_of_the_whole_object(void **state)
{
    (void)state;
    compare(0);
    compare(1);
    compare(1000); /* much longer than what is written at a time */
}

/* A reader that closes its end is no failure, and nothing more is made. */
static void a_closed_sink_ends_the_list(void **state)
{
    (void)state;
    struct argus_sink sink = sink_of(&streamed, 10000);
    struct json_stream stream;
    int count = 0;
    json_stream_begin(&stream, &sink, "test 1");
    json_stream_list(&stream, "elements");
    while (count < 1000 && json_stream_add(&stream, element(count)))
        count++;
    json_stream_list_end(&stream);
    assert_in_range(count, 10, 999);
    assert_null(json_stream_end(&stream));
}

static void lacking_memory_is_an_error(void **state)
{
    (void)state;
    struct argus_sink sink = sink_of(&streamed, sizeof(streamed.bytes));
    struct json_stream stream;
    json_t *broken = element(1);
    json_put(broken, "missing", NULL);
    json_stream_begin(&stream, &sink, "test 1");
    json_stream_list(&stream, "elements");
    assert_true(json_stream_add(&stream, element(0)));
    assert_false(json_stream_add(&stream, broken));
    assert_false(json_stream_add(&stream, NULL));
    json_stream_list_end(&stream);
    struct argus_error *error = json_stream_end(&stream);
    assert_non_null(error);
    assert_int_equal(error->code, ARGUS_ERROR_MEMORY);
    argus_error_destroy(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_that_of_the_whole_object),
        cmocka_unit_test(a_closed_sink_ends_the_list),
        cmocka_unit_test(lacking_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
