/* Which class of a node each cell stands in, and how many records each class has; see counts/rollup.py. */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

#define AHEAD 16    /* keys; about what the memory needs */
#define PATIENCE 64 /* slots that are looked at for each key, on average, at most */
#define SLOT(key, bits) ((int64_t)((uint64_t)(key) * 0x9E3779B97F4A7C15u >> (64 - (bits))))

typedef struct {
    int64_t key, number;
} Slot;

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

/* Numbers in the order in which keys are met, by a table that is at most half full. Slots are asked for some keys
 * ahead: a table of many keys lies outside the cache. Keys that meet too often (somebody chose them) are left to
 * whoever can sort. */
static int64_t by_meeting(const int64_t *key, int64_t n, int64_t *number, int64_t *at) {
    int bits = 4;
    while ((int64_t)1 << bits < 2 * n)
        bits++;
    int64_t last = ((int64_t)1 << bits) - 1, found = 0, patience = PATIENCE * n;
    Slot *slots = malloc((last + 1) * sizeof *slots);
    if (!slots)
        return -1;
    memset(slots, 0xff, (last + 1) * sizeof *slots); /* every key is at least 0 */
    for (int64_t i = 0; i < n && patience > 0; i++) {
        if (i + AHEAD < n)
            __builtin_prefetch(slots + SLOT(key[i + AHEAD], bits));
        int64_t slot = SLOT(key[i], bits);
        while (slots[slot].key >= 0 && slots[slot].key != key[i]) {
            slot = (slot + 1) & last;
            patience--;
        }
        if (slots[slot].key < 0) {
            slots[slot] = (Slot){key[i], found};
            at[found++] = i;
        }
        number[i] = slots[slot].number;
    }
    free(slots);
    return patience > 0 ? found : -1;
}

/* Every key's number among those that occur, and where each number occurs once: ascending where there is a place
 * for every key there might be, else in the order in which they are met. */
int64_t privet_numbered(const int64_t *key, int64_t n, int64_t room, int64_t dense, int64_t *number,
                        int64_t *at) {
    return n == 0 ? 0 : dense ? by_place(key, n, room, number, at) : by_meeting(key, n, number, at);
}

int64_t privet_added(const int64_t *number, const int64_t *count, int64_t n, int64_t *total, int64_t classes) {
    memset(total, 0, classes * sizeof *total);
    for (int64_t i = 0; i < n; i++)
        total[number[i]] += count[i];
    return n;
}
