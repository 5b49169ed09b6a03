/* Which class of a node each cell stands in, and how many records each class has; see counts/rollup.py. */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD 16 /* cells or keys; about what the memory needs */
#define DIGIT 11 /* bits; as many heaps as the first cache can be written to at once */

/* A cell's codes lie side by side, so that it is fetched once. `lift` holds one table after the other; that
 * of an axis begins at `start`, and an axis whose table begins before the first says nothing. */
#define KEYS(name, code_t)                                                                               \
    int64_t name(const code_t *codes, int64_t axes, const int64_t *cell, int64_t n, const int64_t *lift, \
                 const int64_t *start, int64_t *key)                                                     \
    {                                                                                                    \
        int64_t *used = malloc((axes + 1) * sizeof *used), many = 0;                                     \
        if (!used)                                                                                       \
            return -1;                                                                                   \
        for (int64_t a = 0; a < axes; a++)                                                               \
            if (start[a] >= 0)                                                                           \
                used[many++] = a;                                                                        \
        for (int64_t i = 0; i < n; i++) {                                                                \
            const code_t *row = codes + cell[i] * axes;                                                  \
            __builtin_prefetch(codes + cell[i + AHEAD < n ? i + AHEAD : i] * axes);                      \
            int64_t sum = 0;                                                                             \
            for (int64_t u = 0; u < many; u++)                                                           \
                sum += lift[start[used[u]] + row[used[u]]];                                              \
            key[i] = sum;                                                                                \
        }                                                                                                \
        free(used);                                                                                      \
        return n;                                                                                        \
    }

KEYS(privet_keys_16, uint16_t)
KEYS(privet_keys_32, uint32_t)

/* An array with a place for every key there might be. */
static int64_t by_place(const int64_t *key, int64_t n, int64_t room, int64_t *number, int64_t *at) {
    int32_t *place = calloc(room, sizeof *place);
    if (!place)
        return -1;
    for (int64_t i = 0; i < n; i++)
        place[key[i]] = 1;
    int64_t found = 0;
    for (int64_t k = 0; k < room; k++) {
        int32_t there = place[k];
        place[k] = (int32_t)found;
        found += there;
    }
    for (int64_t i = 0; i < n; i++) {
        number[i] = place[key[i]];
        at[number[i]] = i;
    }
    free(place);
    return found;
}

/* Words in the order of some of their bits, those that agree in the order in which they stood; in `word` or in
 * `other`, whichever is returned. Digits in which all agree are left out. */
static uint64_t *in_order(uint64_t *word, uint64_t *other, int64_t n, int low, int high) {
    int digits = (high - low + DIGIT - 1) / DIGIT, wide = digits ? (high - low + digits - 1) / digits : 0;
    for (int at = low; at < high; at += wide) {
        int64_t begin[1 << DIGIT] = {0}, before = 0;
        uint64_t mask = ((uint64_t)1 << (high - at < wide ? high - at : wide)) - 1;
        for (int64_t i = 0; i < n; i++)
            begin[word[i] >> at & mask]++;
        if (begin[word[0] >> at & mask] == n)
            continue;
        for (uint64_t d = 0; d <= mask; d++) {
            int64_t many = begin[d];
            begin[d] = before;
            before += many;
        }
        for (int64_t i = 0; i < n; i++)
            other[begin[word[i] >> at & mask]++] = word[i];
        uint64_t *swap = word;
        word = other, other = swap;
    }
    return word;
}

static int bits_of(int64_t largest) {
    int bits = 0;
    while (largest >> bits)
        bits++;
    return bits;
}

/* Where the keys stand, the smallest first; equal ones in the order in which they stand. The place is the lower part of
 * a word whose upper part is the key; a key that leaves no room for it is sorted by its lower half first. */
static uint64_t *places_in_order(const int64_t *key, int64_t n, int64_t room, uint64_t **taken) {
    int place = bits_of(n - 1), whole = bits_of(room - 1), half = whole + place > 64 ? 64 - place : whole;
    uint64_t *word = *taken = malloc(2 * n * sizeof *word), *other = word + n, there = ((uint64_t)1 << place) - 1;
    if (!word || whole - half + place > 64)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        word[i] = (uint64_t)key[i] << place | (uint64_t)i;
    word = in_order(word, other, n, place, place + half);
    if (half < whole) {
        for (int64_t i = 0; i < n; i++)
            word[i] = (uint64_t)key[word[i] & there] >> half << place | (word[i] & there);
        word = in_order(word, word == other ? *taken : other, n, place, place + whole - half);
    }
    for (int64_t i = 0; i < n; i++)
        word[i] &= there;
    return word;
}

static int64_t by_order(const int64_t *key, int64_t n, int64_t room, int64_t *number, int64_t *at) {
    uint64_t *taken, *place = places_in_order(key, n, room, &taken);
    int64_t found = place ? 0 : -1, last = -1;
    for (int64_t i = 0; place && i < n; i++) {
        if (key[place[i]] != last)
            at[found++] = (int64_t)place[i];
        last = key[place[i]];
        number[place[i]] = found - 1;
    }
    free(taken);
    return found;
}

/* Every key's number among those that occur, ascending, and where each number occurs once. `dense`: there is memory
 * for a place for every key there might be. */
int64_t privet_numbered(const int64_t *key, int64_t n, int64_t room, int64_t dense, int64_t *number,
                        int64_t *at) {
    return n == 0 ? 0 : dense ? by_place(key, n, room, number, at) : by_order(key, n, room, number, at);
}

int64_t privet_added(const int64_t *number, const int64_t *count, int64_t n, int64_t *total, int64_t classes) {
    memset(total, 0, classes * sizeof *total);
    for (int64_t i = 0; i < n; i++)
        total[number[i]] += count[i];
    return n;
}

typedef struct {
    int32_t total, at;
} Slot;

static int64_t summed_by_place(const int64_t *key, const int64_t *count, int64_t n, int64_t room, int64_t *at,
                               int64_t *total) {
    Slot *slots = calloc(room, sizeof *slots);
    if (!slots)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        Slot *slot = slots + key[i];
        __builtin_prefetch(slots + key[i + AHEAD < n ? i + AHEAD : i], 1);
        slot->total += (int32_t)count[i];
        slot->at = (int32_t)i;
    }
    int64_t found = 0;
    for (int64_t k = 0; k < room; k++)
        if (slots[k].total) {
            at[found] = slots[k].at;
            total[found++] = slots[k].total;
        }
    free(slots);
    return found;
}

static int64_t summed_by_order(const int64_t *key, const int64_t *count, int64_t n, int64_t room, int64_t *at,
                               int64_t *total) {
    uint64_t *taken, *place = places_in_order(key, n, room, &taken);
    int64_t found = place ? 0 : -1, last = -1;
    for (int64_t i = 0; place && i < n; i++) {
        if (key[place[i]] != last) {
            at[found] = (int64_t)place[i];
            total[found++] = 0;
        }
        last = key[place[i]];
        total[found - 1] += count[place[i]];
    }
    free(taken);
    return found;
}

/* Both at once, where nobody asks for the number of each key: the sum of each key that occurs, ascending, and where it
 * occurs once. Counts are at least 1; `dense`: they add up to less than 2^31, too. */
int64_t privet_summed(const int64_t *key, const int64_t *count, int64_t n, int64_t room, int64_t dense,
                      int64_t *at, int64_t *total) {
    return n == 0 ? 0
           : dense ? summed_by_place(key, count, n, room, at, total)
                   : summed_by_order(key, count, n, room, at, total);
}

/* Mixed as Python mixes them (relational/local.py); a place that has enough need not count on. */
#define PLACE(key) ((uint64_t)(key) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits))

int64_t privet_company(const int64_t *key, const int64_t *count, int64_t n, int64_t bits, int64_t smallest,
                       int64_t *at) {
    if (smallest > INT32_MAX)
        return -1;
    int32_t *records = calloc((size_t)1 << bits, sizeof *records);
    if (!records)
        return -1;
    for (int64_t i = 0; i < n; i++) {
        int32_t *place = records + PLACE(key[i]);
        __builtin_prefetch(records + PLACE(key[i + AHEAD < n ? i + AHEAD : i]), 1);
        *place = (int32_t)(count[i] < smallest - *place ? *place + count[i] : smallest);
    }
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        __builtin_prefetch(records + PLACE(key[i + AHEAD < n ? i + AHEAD : i]));
        at[found] = i;
        found += records[PLACE(key[i])] >= smallest;
    }
    free(records);
    return found;
}
