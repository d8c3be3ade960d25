/* What would be replaced, and where a hook can be: for people who write tables. */
#include "hook_command.h"

#include <stdio.h>
#include <string.h>

#include "image_path.h"

static void print_hook(const struct planned_hook *hook)
{
    const struct window *window = &hook->window;
    printf("%s: 0x%llx, %u bytes for a jump:\n", hook->row->place,
           (unsigned long long)hook->address, window->bytes);
    for (uint32_t i = 0; i < window->count; i++)
        printf("    +0x%-6llx %s\n",
               (unsigned long long)(window->insns[i].address - window->function_first),
               window->insns[i].text);
}

static void print_image(const struct image *image)
{
    printf("%s", image->path);
    for (uint32_t i = 0; i < image->id_bytes; i++)
        printf("%s%02x", i ? "" : ", build id ", image->id[i]);
    printf("%s\n", image->id_bytes ? "" : ", no build id: its code is hashed");
}

struct argus_error *verb_check(const struct hook_options *options)
{
    bool more = true;
    struct argus_error *error = NULL;
    for (size_t i = 0; more && !error; i++) {
        struct prepared prepared;
        error = prepare(options, options->words[0], i, &prepared, &more);
        if (error)
            break;
        print_image(prepared.image);
        for (size_t k = 0; k < prepared.hooks.hooks.length; k++)
            print_hook(&prepared.hooks.hooks.data[k]);
        prepared_deinit(&prepared);
    }
    return error;
}

/* One line for an instruction: its offset, its text, and why no hook can be there. */
static struct argus_error *print_insn(const struct image *image, struct decoder *decoder,
                                      const struct insn *insn, uint64_t first)
{
    struct window window;
    struct trampoline_plan trampoline;
    struct argus_error *error = window_choose(image, decoder, insn->address, &window);
    if (!error)
        error = image->arch == HOOK_ARCH_ARM64 ? window_move_arm64(&window, &trampoline)
                                               : window_move_x86_64(&window, &trampoline);
    printf("+0x%-6llx %-50s %s%s\n", (unsigned long long)(insn->address - first), insn->text,
           error ? "no: " : "ok", error ? error->message : "");
    bool is_memory = error && error->code == ARGUS_ERROR_MEMORY;
    if (is_memory)
        return error;
    argus_error_destroy(error);
    return NULL;
}

static struct argus_error *show(const struct image *image, struct decoder *decoder,
                                const struct hook_row *place)
{
    uint64_t address, first, end;
    struct insn insn;
    struct argus_error *error = find_place(image, decoder, place, &address);
    if (error)
        return error;
    if (!image_function_range(image, address, &first, &end))
        return argus_error_create(ARGUS_ERROR_NOT_FOUND,
                                  "it is not known which function 0x%llx belongs to",
                                  (unsigned long long)address);
    for (uint64_t at = first; at < end && !error; at += insn.length) {
        const uint8_t *bytes = image_bytes(image, at, 1);
        if (!bytes || !decoder_next(decoder, bytes, end - at, at, &insn))
            return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                      "what stands at +0x%llx cannot be decoded",
                                      (unsigned long long)(at - first));
        error = print_insn(image, decoder, &insn, first);
    }
    return error;
}

struct argus_error *verb_show(const struct hook_options *options)
{
    struct hook_row place = {0};
    struct image *image = NULL;
    struct decoder *decoder = NULL;
    char *path = NULL;
    if (!hook_word_place(options->words[1], &place) || place.anywhere)
        return argus_error_create(ARGUS_ERROR_USAGE, "not a function or an address: %s",
                                  options->words[1]);
    struct argus_error *error = image_path_find(options->words[0], &path);
    if (!error)
        error = image_open(path, options->arch, &image);
    if (!error)
        error = decoder_create(image->arch, &decoder);
    if (!error) {
        print_image(image);
        error = show(image, decoder, &place);
    }
    decoder_destroy(decoder);
    image_close(image);
    free(path);
    free(place.function);
    return error;
}
