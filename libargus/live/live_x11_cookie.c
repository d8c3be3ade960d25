/* Entries of ~/.Xauthority: a family, then four texts (address, display's number, name, data), each
 * behind its length; numbers in network order (Xsecurity(7), libXau's AuRead.c). */
#include "live/live_x11_cookie.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY_LOCAL = 256, FAMILY_WILD = 65535, TEXT_BYTES = 256, TEXTS = 4 };
enum { ADDRESS, NUMBER, NAME, DATA };

struct text {
    uint8_t bytes[TEXT_BYTES];
    unsigned length;
};

static bool read_number(FILE *file, unsigned *ret)
{
    int high = fgetc(file), low = fgetc(file);
    *ret = (unsigned)(high << 8 | low);
    return high != EOF && low != EOF;
}

static bool read_text(FILE *file, struct text *ret)
{
    return read_number(file, &ret->length) && ret->length <= sizeof(ret->bytes) &&
           fread(ret->bytes, 1, ret->length, file) == ret->length;
}

static bool is_text(const struct text *text, const char *wanted, size_t length)
{
    return text->length == length && memcmp(text->bytes, wanted, length) == 0;
}

static bool search(FILE *file, const char *number, size_t digits, struct x11_cookie *ret)
{
    struct text texts[TEXTS];
    unsigned family;
    while (read_number(file, &family)) {
        for (int i = 0; i < TEXTS; i++)
            if (!read_text(file, &texts[i]))
                return false;
        if ((family != FAMILY_LOCAL && family != FAMILY_WILD) ||
            (texts[NUMBER].length && !is_text(&texts[NUMBER], number, digits)) ||
            !is_text(&texts[NAME], X11_COOKIE_NAME, strlen(X11_COOKIE_NAME)) ||
            texts[DATA].length != sizeof(ret->bytes))
            continue;
        memcpy(ret->bytes, texts[DATA].bytes, sizeof(ret->bytes));
        return true;
    }
    return false;
}

bool x11_find_cookie(const char *authority, const char *display, struct x11_cookie *ret)
{
    char path[512];
    const char *home = getenv("HOME"), *colon = strrchr(display, ':');
    snprintf(path, sizeof(path), "%s/.Xauthority", home ? home : "");
    FILE *file = colon ? fopen(authority && authority[0] ? authority : path, "re") : NULL;
    if (!file)
        return false;
    bool found = search(file, colon + 1, strspn(colon + 1, "0123456789"), ret);
    fclose(file);
    return found;
}
