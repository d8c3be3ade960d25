/* Reads images, and tries hooks at places in their code. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "image.h"
#include "window.h"

static void try_places(const struct image *image)
{
    struct decoder *decoder = NULL;
    struct argus_error *error = decoder_create(image->arch, &decoder);
    for (size_t i = 0; i < image->starts.length && i < 8 && !error; i++) {
        struct function_code code = {0};
        error = function_code_create(image, decoder, image->starts.data[i], &code);
        for (size_t k = 0; k < code.starts.length && k < 64 && !error; k++) {
            struct window window;
            struct trampoline_plan trampoline;
            argus_error_destroy(
                window_move(&code, code.starts.data[k], k & 1, &window, &trampoline));
        }
        function_code_deinit(&code);
        argus_error_destroy(error);
        error = NULL;
    }
    argus_error_destroy(error);
    decoder_destroy(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct image *image = NULL;
    int fd = memfd_create("image", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct argus_error *error = image_open(path, 0, &image);
    if (!error) {
        const struct image_function *function;
        error = image_find_function(image, "victim", &function);
        try_places(image);
    }
    argus_error_destroy(error);
    image_close(image);
    close(fd);
    return 0;
}
