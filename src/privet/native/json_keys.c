/* Flat JSON records, each on a line: may one of them say two things to two readers? */

#include <stddef.h>
#include <string.h>

#include "loops.h"

enum {
    MOST_KEYS = 2048,
    SURELY_EXACT = 15, /* digits of a whole number that every double holds */
    MOST_LONG = 8, /* keys with longer ones that are told; one more stands for all others */
};

/* Is there an escape of half a pair of surrogates here, after its backslash? 1 the first, 2 the second half. */
static int half_of(const uint8_t *at, const uint8_t *end)
{
    if (at + 3 > end || at[0] != 'u' || (at[1] | 0x20) != 'd' || at[2] < '8')
        return 0;
    return at[2] <= '9' || (at[2] | 0x20) <= 'b' ? 1 : 2;
}

/* The quote that ends a text, or NULL. What is escaped in it is told, and a half without its other half. */
static const uint8_t *closed(const uint8_t *at, const uint8_t *end, int *escaped, int *half)
{
    for (; at < end; at++) {
        if (*at == '"')
            return at;
        if (*at != '\\')
            continue;
        *escaped = 1;
        int which = half_of(++at, end);
        if (which == 1 && at + 5 < end && at[5] == '\\' && half_of(at + 6, end) == 2)
            at += 6;
        else if (which != 0)
            *half = 1;
    }
    return NULL;
}

/* found: the end of the line that is returned; how many keys have a long whole number, and of each where it begins
   and how long it is. */
int64_t privet_json_keys(const uint8_t *text, int64_t size, int64_t begin, int64_t trusted, int64_t *found)
{
    const uint8_t *at = text + begin, *end = text + size;
    const uint8_t *keys[MOST_KEYS];
    ptrdiff_t lengths[MOST_KEYS];
    int known = 0; /* so many keys stand so in an earlier line, and are keys of their own */

    while (at < end) {
        const uint8_t *line = at, *stop = memchr(at, '\n', (size_t)(end - at));
        int count = 0, odd = 0, same = 1;

        if (stop == NULL)
            stop = end;
        while (at < stop && !odd) {
            if (*at == '"') {
                int escaped = 0, half = 0;
                const uint8_t *start = ++at;
                const ptrdiff_t usual = same && count < known ? lengths[count] : -1;

                if (usual >= 0 && usual < stop - at && at[usual] == '"' && memcmp(at, keys[count], (size_t)usual) == 0)
                    at += usual; /* most likely the key of the line before */
                else
                    at = closed(at, stop, &escaped, &half);
                if (at == NULL || (half && !trusted)) {
                    odd = 1;
                    break;
                }
                ptrdiff_t length = at++ - start;
                while (at < stop && (*at == ' ' || *at == '\t' || *at == '\r'))
                    at++;
                if (at == stop || *at != ':')
                    continue;
                at++;
                if (count == MOST_KEYS) {
                    odd = 1;
                    break;
                }
                if (!same || count >= known || lengths[count] != length
                    || memcmp(keys[count], start, (size_t)length) != 0) {
                    same = 0;
                    odd = escaped && !trusted; /* two spellings may be one key */
                    for (int i = 0; i < count && !odd && !trusted; i++)
                        odd = lengths[i] == length && memcmp(keys[i], start, (size_t)length) == 0;
                }
                keys[count] = start;
                lengths[count++] = length;
            } else if (*at >= '0' && *at <= '9') {
                const uint8_t *start = at;

                while (at < stop && *at >= '0' && *at <= '9')
                    at++;
                if (at - start > SURELY_EXACT && count > 0) {
                    int64_t i = 0;
                    const uint8_t *key = keys[count - 1];
                    ptrdiff_t length = lengths[count - 1];

                    while (i < found[1] && i < MOST_LONG
                        && (found[3 + 2 * i] != length || memcmp(text + found[2 + 2 * i], key, (size_t)length) != 0))
                        i++;
                    if (i == found[1] && i < MOST_LONG) {
                        found[2 + 2 * i] = key - text;
                        found[3 + 2 * i] = length;
                    }
                    if (i == found[1] && i <= MOST_LONG)
                        found[1]++;
                }
            } else {
                at++;
            }
        }
        if (odd) {
            found[0] = stop - text;
            return line - text;
        }
        if (!same)
            known = count;
        trusted = 0;
        at = stop + 1;
    }
    return -1;
}
