/* Has every line of a CSV as many fields? Lines without a quote are counted as fast as they can be read. */

#include <stddef.h>
#include <string.h>

#include "loops.h"

/* One line with quotes or returns in it, by the strict rule that every reader shares: a quote opens at the start of
   a field only, and closes before a delimiter or the end of the line. Where it ends, or NULL. */
static const uint8_t *careful(const uint8_t *at, const uint8_t *end, uint8_t delimiter, int64_t *fields)
{
    for (*fields = 1;; (*fields)++) {
        if (at < end && *at == '"') {
            for (at++;; at += 2) {
                at = memchr(at, '"', (size_t)(end - at));
                if (at == NULL)
                    return NULL;
                if (at + 1 == end || at[1] != '"')
                    break;
            }
            at++;
        } else {
            while (at < end && *at != delimiter && *at != '\n' && *at != '\r') {
                if (*at == '"')
                    return NULL;
                at++;
            }
        }
        if (at < end && *at == delimiter) {
            at++;
            continue;
        }
        if (at < end && *at == '\r' && (++at == end || *at != '\n'))
            return NULL;
        return at == end || *at == '\n' ? at : NULL;
    }
}

int64_t privet_even_lines(const uint8_t *text, int64_t size, int64_t delimiter, int64_t fields)
{
    const uint8_t *at = text, *end = text + size;
    const uint8_t between = (uint8_t)delimiter;
    int64_t lines = 0;

    for (; at < end; at++, lines++) { /* over the end of the line before */
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        int64_t found = 1;
        int odd = 0;

        if (stop == NULL)
            stop = end;
        ptrdiff_t length = stop - at;
        if (length > 0 && stop < end && stop[-1] == '\r')
            length--;
        for (ptrdiff_t begin = 0; begin < length; begin += 255) { /* so that a byte can hold the sum */
            ptrdiff_t here = length - begin < 255 ? length - begin : 255;
            uint8_t some = 0, marks = 0;
            for (ptrdiff_t i = 0; i < here; i++) {
                uint8_t c = at[begin + i];
                some += c == between;
                marks |= (uint8_t)((c == '"') | (c == '\r'));
            }
            found += some;
            odd |= marks;
        }
        if (odd) {
            stop = careful(at, end, between, &found);
            if (stop == NULL)
                return -1;
        }
        if (found != fields)
            return -1;
        at = stop;
    }
    return lines;
}
