/* Flat JSON records, each on a line: may one of them say two things to two readers? */

#include <stddef.h>
#include <string.h>

#include "loops.h"

enum {
    MOST_KEYS = 2048,
    MOST_DEEP = 64, /* objects and lists within each other */
    SURELY_EXACT = 15, /* digits of a whole number that every double holds */
    SURELY_WHOLE = 38, /* digits of a whole number that 128 bits hold */
    MOST_TOLD = 32, /* keys of one kind; one more stands for all others */
};

/* A key as it is written. Written otherwise it may be the same one, if it is escaped. */
struct key {
    const uint8_t *text;
    ptrdiff_t length;
    int owner; /* which of the objects of its line has it, in the order in which they begin */
    int escaped;
};

static int is_written_alike(const struct key *a, const struct key *b)
{
    return a->owner == b->owner && a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
}

/* A key once more, or for the first time. told: how many there are, and of each where it begins and how long it is. */
static void tell(int64_t *told, const uint8_t *text, const struct key *key)
{
    int64_t i = 0;

    while (i < told[0] && i < MOST_TOLD
        && (told[2 + 2 * i] != key->length || memcmp(text + told[1 + 2 * i], key->text, (size_t)key->length) != 0))
        i++;
    if (i < told[0])
        return;
    told[0]++;
    if (i < MOST_TOLD) {
        told[1 + 2 * i] = key->text - text;
        told[2 + 2 * i] = key->length;
    }
}

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

/* found: the end of the line that is returned; the keys with a long whole number; those with a list or an object. */
int64_t privet_json_keys(const uint8_t *text, int64_t size, int64_t begin, int64_t trusted, int64_t *found)
{
    const uint8_t *at = text + begin, *end = text + size;
    int64_t *long_ones = found + 1, *nested = long_ones + 1 + 2 * MOST_TOLD;
    struct key keys[MOST_KEYS];
    int owners[MOST_DEEP];
    int known = 0; /* so many keys stand so in an earlier line, and are keys of their own */

    while (at < end) {
        const uint8_t *line = at, *stop = memchr(at, '\n', (size_t)(end - at));
        int count = 0, odd = 0, same = 1, spelt = 0, objects = 0, depth = 0;

        if (stop == NULL)
            stop = end;
        while (at < stop && !odd) {
            if (*at == '"') {
                struct key key = {++at, 0, depth > 0 ? owners[depth - 1] : 0, 0};
                const struct key *usual = same && count < known ? keys + count : NULL;
                int half = 0;

                if (usual != NULL && usual->length < stop - at && at[usual->length] == '"'
                    && memcmp(at, usual->text, (size_t)usual->length) == 0) {
                    at += usual->length; /* most likely the key of the line before */
                    key.escaped = usual->escaped;
                } else {
                    at = closed(at, stop, &key.escaped, &half);
                }
                if (at == NULL || (half && !trusted)) {
                    odd = 1;
                    break;
                }
                key.length = at++ - key.text;
                while (at < stop && (*at == ' ' || *at == '\t' || *at == '\r'))
                    at++;
                if (at == stop || *at != ':')
                    continue;
                at++;
                if (count == MOST_KEYS) {
                    odd = 1;
                    break;
                }
                spelt |= key.escaped;
                if (!same || count >= known || !is_written_alike(keys + count, &key)) {
                    same = 0;
                    odd = spelt && !trusted; /* two spellings may be one key, whichever came first */
                    for (int i = 0; i < count && !odd && !trusted; i++)
                        odd = is_written_alike(keys + i, &key);
                }
                keys[count++] = key;
            } else if (*at >= '0' && *at <= '9') {
                const uint8_t *start = at;

                while (at < stop && *at >= '0' && *at <= '9')
                    at++;
                if (at - start > SURELY_EXACT && count > 0)
                    tell(long_ones, text, keys + count - 1);
                odd = at - start > SURELY_WHOLE && start > line && start[-1] != '.' && !trusted;
            } else if (*at == '{' || *at == '[') {
                if (depth == MOST_DEEP) {
                    odd = 1;
                    break;
                }
                if (depth == 1 && count > 0)
                    tell(nested, text, keys + count - 1);
                owners[depth] = *at++ == '{' || depth == 0 ? objects++ : owners[depth - 1];
                depth++;
            } else if (*at == '}' || *at == ']') {
                depth -= depth > 0;
                at++;
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
