/* Would a split keep a linkage bound? The search's counting loop; see relational/lookahead.py.
 *
 * Every block of attributes is counted into one table, with the candidate's child as its first axis.
 * Then all axes but the first and `reach` others are summed out, in every way, and each sum is looked
 * at. The check of a finished table (survey.c) is written apart from this on purpose.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 2048 }; /* entries whose keys are packed at a time: the vectorised half of the loop */

static int within(const int32_t *table, int64_t room, int64_t stride, int64_t flags, int64_t k,
                  const int64_t *tops, const int64_t *bottoms)
{
    for (int64_t g = 0; g < room; g++) {
        int64_t size = table[g];
        if (size > 0 && size < k)
            return 0;
        for (int64_t f = 0; f < flags; f++) /* share > top / bottom, multiplied out: exact */
            if ((int64_t)table[(f + 1) * stride + g] * bottoms[f] > size * tops[f])
                return 0;
    }
    return 1;
}

/* The axes that go are taken in ascending order like the digits of a counter; sums[d] holds the table
 * without the first d of them, so that a step of the counter sums anew only what changed. */
static int all_within(int32_t *sums, int64_t stride, const int64_t *shape, int64_t axes, int64_t kept,
                      int64_t flags, int64_t k, const int64_t *tops, const int64_t *bottoms)
{
    int64_t gone = axes > kept ? axes - kept : 0;
    int64_t layer = stride * (flags + 1);
    int64_t shapes[65][64], rooms[65], digit[64];
    rooms[0] = 1;
    for (int64_t j = 0; j < axes; j++) {
        shapes[0][j] = shape[j];
        rooms[0] *= shape[j];
    }
    for (int64_t d = 0; d < gone; d++)
        digit[d] = d + 1;
    int64_t stale = 0;
    for (;;) {
        for (int64_t d = stale; d < gone; d++) {
            int64_t axis = digit[d] - d, dims = axes - d, width = shapes[d][axis], before = 1, after = 1;
            for (int64_t j = 0; j < axis; j++) {
                before *= shapes[d][j];
                shapes[d + 1][j] = shapes[d][j];
            }
            for (int64_t j = axis + 1; j < dims; j++) {
                after *= shapes[d][j];
                shapes[d + 1][j - 1] = shapes[d][j];
            }
            rooms[d + 1] = before * after;
            for (int64_t t = 0; t <= flags; t++) {
                const int32_t *restrict source = sums + d * layer + t * stride;
                int32_t *restrict target = sums + (d + 1) * layer + t * stride;
                for (int64_t b = 0; b < before; b++, source += width * after, target += after) {
                    memcpy(target, source, (size_t)after * sizeof *target);
                    for (int64_t w = 1; w < width; w++)
                        for (int64_t a = 0; a < after; a++)
                            target[a] += source[w * after + a];
                }
            }
        }
        if (!within(sums + gone * layer, rooms[gone], stride, flags, k, tops, bottoms))
            return 0;
        stale = gone - 1;
        while (stale >= 0 && digit[stale] == axes - gone + stale)
            stale--;
        if (stale < 0)
            return 1;
        digit[stale]++;
        for (int64_t d = stale + 1; d < gone; d++)
            digit[d] = digit[d - 1] + 1;
    }
}

/* 1: every block keeps the bound; 0: one breaks it; -1: no memory, or too many axes. */
int privet_blocks_keep(const uint8_t *codes, int64_t entries, const int64_t *radix, const int32_t *counts,
                       const int32_t *having, int64_t flags, const int64_t *blocks, int64_t n_blocks,
                       int64_t block_width, int64_t reach, int64_t k, const int64_t *tops,
                       const int64_t *bottoms)
{
    int64_t stride = 0, layers = 1;
    for (int64_t b = 0; b < n_blocks; b++) {
        int64_t room = radix[0], axes = 1;
        for (int64_t j = 0; j < block_width && blocks[b * block_width + j] >= 0; j++, axes++)
            room *= radix[blocks[b * block_width + j] + 1];
        if (room > stride)
            stride = room;
        if (axes - reach > layers)
            layers = axes - reach;
        if (axes > 64)
            return -1;
    }
    int32_t *table = malloc((size_t)(layers * (flags + 1) * stride) * sizeof *table);
    if (!table)
        return -1;
    uint32_t key[CHUNK];
    int keep = 1;
    for (int64_t b = 0; b < n_blocks && keep; b++) {
        int64_t shape[64], rows[64], axes = 1, room = radix[0];
        shape[0] = radix[0];
        rows[0] = 0;
        for (int64_t j = 0; j < block_width && blocks[b * block_width + j] >= 0; j++, axes++) {
            rows[axes] = blocks[b * block_width + j] + 1;
            shape[axes] = radix[rows[axes]];
            room *= shape[axes];
        }
        for (int64_t t = 0; t <= flags; t++)
            memset(table + t * stride, 0, (size_t)room * sizeof *table);
        for (int64_t start = 0; start < entries; start += CHUNK) {
            int64_t n = entries - start < CHUNK ? entries - start : CHUNK;
            for (int64_t i = 0; i < n; i++)
                key[i] = codes[start + i];
            for (int64_t j = 1; j < axes; j++) {
                const uint8_t *restrict row = codes + rows[j] * entries + start;
                uint32_t width = (uint32_t)shape[j];
                for (int64_t i = 0; i < n; i++)
                    key[i] = key[i] * width + row[i];
            }
            for (int64_t i = 0; i < n; i++)
                table[key[i]] += counts[start + i];
            for (int64_t f = 0; f < flags; f++)
                for (int64_t i = 0; i < n; i++)
                    table[(f + 1) * stride + key[i]] += having[f * entries + start + i];
        }
        keep = all_within(table, stride, shape, axes, reach + 1, flags, k, tops, bottoms);
    }
    free(table);
    return keep;
}
