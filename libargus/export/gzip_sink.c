#include "export/gzip_sink.h"

#include <string.h>

/* zlib: 15 bits of window, and 16 for a gzip header, which has neither name nor time: the same
 * input gives the same file. */
enum { GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8, PIECE_BYTES = 1 << 15 };

static bool deflate_pieces(struct gzip_sink *packed, int flush)
{
    unsigned char piece[PIECE_BYTES];
    int state;
    do {
        packed->stream.next_out = piece;
        packed->stream.avail_out = sizeof(piece);
        state = deflate(&packed->stream, flush);
        size_t bytes = sizeof(piece) - packed->stream.avail_out;
        if (bytes && !packed->closed &&
            !packed->to->write(packed->to->context, (const char *)piece, bytes))
            packed->closed = true;
    } while (packed->stream.avail_out == 0 && state != Z_STREAM_ERROR && !packed->closed);
    return !packed->closed;
}

static bool write_packed(void *context, const char *text, size_t bytes)
{
    struct gzip_sink *packed = context;
    packed->stream.next_in = (unsigned char *)text;
    packed->stream.avail_in = (unsigned)bytes;
    return !packed->closed && deflate_pieces(packed, Z_NO_FLUSH);
}

struct argus_error *gzip_sink_init(struct gzip_sink *ret, const struct argus_sink *to)
{
    memset(ret, 0, sizeof(*ret));
    ret->to = to;
    ret->sink = (struct argus_sink){.write = write_packed, .context = ret};
    if (deflateInit2(&ret->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return argus_error_memory();
    return NULL;
}

void gzip_sink_end(struct gzip_sink *packed)
{
    packed->stream.avail_in = 0;
    if (!packed->closed)
        deflate_pieces(packed, Z_FINISH);
    deflateEnd(&packed->stream);
}
