/* Reading images, and deciding about places in what they say is their code. */
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
        struct window window;
        struct trampoline_plan trampoline;
        error = window_choose(image, decoder, image->starts.data[i], &window);
        if (!error)
            error = image->arch == HOOK_ARCH_ARM64 ? window_move_arm64(&window, &trampoline)
                                                   : window_move_x86_64(&window, &trampoline);
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
