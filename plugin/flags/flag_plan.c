/* Makes the recorder's plan for a wanted flag: its offset from where the image's code is mapped. */
#include <string.h>

#include "argus/data_symbols.h"
#include "plugin/flags/flag_file.h"
#include "plugin/flags/flag_place.h"

static struct argus_error *each_of_file(void *context, argus_data_symbol_function function,
                                        void *function_context)
{
    return argus_data_file_symbols_each(context, function, function_context);
}

static struct argus_error *find_variable(const struct flag_wish *wish, const char *name,
                                         struct flag_place *place)
{
    struct argus_data_symbol symbol;
    bool found;
    struct argus_error *error = argus_data_file_symbol_find(wish->image, name, &symbol, &found);
    if (error)
        return error;
    if (!found)
        return flag_place_not_found(wish->image, name, each_of_file, (void *)wish->image);
    if (symbol.is_thread_local)
        return argus_error_create(
            ARGUS_ERROR_UNSUPPORTED,
            "%s is thread-local: its address in a new process is not known in advance; watch it "
            "with argus watchflag when the thread exists",
            name);
    place->address = symbol.address;
    place->size_bytes = symbol.size_bytes;
    return NULL;
}

static struct argus_error *find_address(const struct flag_wish *wish,
                                        const struct argus_data_image *image, const char *name,
                                        struct flag_place *place)
{
    bool same = !wish->build_id_bytes ||
                (wish->build_id_bytes == image->build_id_bytes &&
                 memcmp(wish->build_id, image->build_id, image->build_id_bytes) == 0);
    if (!same)
        return argus_error_create(
            ARGUS_ERROR_FORMAT,
            "%s is not the build in which %s was chosen, so the address does not apply",
            wish->image, wish->place);
    return flag_place_number("an address in the file", name, &place->address);
}

uint32_t flag_natural_size(const struct flag_place *place)
{
    uint64_t room = place->size_bytes ? place->size_bytes : 4;
    uint32_t size = 8;
    while (size > 1 && (size > room || (!place->step_count && place->address % size)))
        size /= 2;
    return size;
}

static void fill(const struct flag_wish *wish, const struct argus_data_image *image,
                 const struct flag_place *place, struct request_flag *ret)
{
    *ret = (struct request_flag){
        .address = place->address - image->code_address,
        .bytes = wish->bytes ? wish->bytes : flag_natural_size(place),
        .access = wish->access,
        .semantics = wish->semantics,
        .step_count = place->step_count,
        .code_offset = image->code_offset,
        .build_id_bytes = image->build_id_bytes,
    };
    memcpy(ret->steps, place->steps, sizeof(ret->steps));
    memcpy(ret->build_id, image->build_id, sizeof(ret->build_id));
    memcpy(ret->image, wish->image, sizeof(ret->image));
    memcpy(ret->label, wish->name, sizeof(ret->label));
}

struct argus_error *flag_wish_plan(const struct flag_wish *wish, struct request_flag *ret)
{
    struct argus_data_image image;
    struct flag_place place;
    struct argus_data_place members = {.bytes = 0};
    char name[512];
    uint64_t offset;
    bool has_members = flag_place_has_members(wish->place);
    struct argus_error *error = argus_data_image_read(wish->image, &image);
    if (!error && !image.is_64_bit)
        error = argus_error_create(ARGUS_ERROR_UNSUPPORTED, "%s is a 32-bit program or library",
                                   wish->image);
    if (!error && has_members)
        error = argus_data_file_members_read(wish->image, wish->place, &members);
    if (!error)
        error = flag_place_parse(has_members ? members.text : wish->place, name, sizeof(name),
                                 &offset, &place);
    if (!error)
        error = name[0] == '0' ? find_address(wish, &image, name, &place)
                               : find_variable(wish, name, &place);
    if (error)
        return error;
    flag_place_move(&place, offset, members.bytes);
    if (wish->bytes && !place.step_count && place.address % wish->bytes)
        return argus_error_create(ARGUS_ERROR_USAGE,
                                  "%s is not aligned: %u bytes can be watched at multiples of %u",
                                  wish->place, wish->bytes, wish->bytes);
    fill(wish, &image, &place, ret);
    return NULL;
}
