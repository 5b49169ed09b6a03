/* Would a split keep a linkage bound? The search's counting loop; see relational/lookahead.py.
 *
 * Every block of attributes is counted into one table, with the candidate's child as its first axis.
 * Then all axes but the first and `reach` others are summed out, in every way, and each sum is looked
 * at. The check of a finished table (survey.c) is written apart from this on purpose.
 */
#include "loops.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 2048, AXES = 64 }; /* entries whose keys are packed at a time; axes of a table at most */

typedef struct {
    int64_t stride, flags, kept, k, vanish;
    const int64_t *tops, *bottoms;
} bound_t;

static int within(const int32_t *table, int64_t room, const bound_t *bound)
{
    for (int64_t g = 0; g < room; g++) {
        int64_t size = table[g];
        if (size > 0 && size < bound->k)
            return 0;
        for (int64_t f = 0; f < bound->flags; f++) /* share > top / bottom, multiplied out: exact */
            if ((int64_t)table[(f + 1) * bound->stride + g] * bound->bottoms[f] > size * bound->tops[f])
                return 0;
    }
    return 1;
}

/* How many of the axes from `first` on may go. A group of attributes from `vanish` on must leave one
 * behind: combinations without it are looked at in another block (see blocks.py). */
static int64_t may_go(const int64_t *group, int64_t axes, int64_t first, int64_t vanish)
{
    int64_t count = 0;
    for (int64_t j = first; j < axes; j++) {
        int opens = j == 0 || group[j] != group[j - 1];
        count += !(opens && group[j] >= vanish);
    }
    return count;
}

/* Sum out one axis after the other, in ascending order, until `kept` are left: each choice once. */
static int all_within(int32_t *table, const int64_t *shape, const int64_t *group, int64_t axes, int64_t first,
                      const bound_t *bound)
{
    if (axes <= bound->kept) {
        int64_t room = 1;
        for (int64_t j = 0; j < axes; j++)
            room *= shape[j];
        return within(table, room, bound);
    }
    int32_t *smaller = table + bound->stride * (bound->flags + 1);
    for (int64_t axis = first; axis < axes && may_go(group, axes, axis, bound->vanish) >= axes - bound->kept;
         axis++) {
        int alone = (axis == 0 || group[axis - 1] != group[axis]) &&
                    (axis + 1 == axes || group[axis + 1] != group[axis]);
        if (alone && group[axis] >= bound->vanish)
            continue;
        int64_t left_shape[AXES], left_group[AXES], before = 1, after = 1, width = shape[axis];
        for (int64_t j = 0, to = 0; j < axes; j++) {
            if (j == axis)
                continue;
            if (j < axis)
                before *= shape[j];
            else
                after *= shape[j];
            left_shape[to] = shape[j];
            left_group[to++] = group[j];
        }
        for (int64_t t = 0; t <= bound->flags; t++) {
            const int32_t *restrict source = table + t * bound->stride;
            int32_t *restrict target = smaller + t * bound->stride;
            for (int64_t b = 0; b < before; b++, source += width * after, target += after) {
                memcpy(target, source, (size_t)after * sizeof *target);
                for (int64_t w = 1; w < width; w++)
                    for (int64_t a = 0; a < after; a++)
                        target[a] += source[w * after + a];
            }
        }
        if (!all_within(smaller, left_shape, left_group, axes - 1, axis, bound))
            return 0;
    }
    return 1;
}

/* 1: every block keeps the bound; 0: one breaks it; -1: no memory, or too many axes. */
int64_t privet_blocks_keep(const uint8_t *codes, int64_t entries, const int64_t *radix, const int32_t *counts,
                       const int32_t *having, int64_t flags, const int64_t *blocks, const int64_t *groups,
                       const int64_t *vanish, int64_t n_blocks, int64_t block_width, int64_t reach, int64_t k,
                       const int64_t *tops, const int64_t *bottoms)
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
        if (axes > AXES)
            return -1;
    }
    int32_t *table = malloc((size_t)(layers * (flags + 1) * stride) * sizeof *table);
    if (!table)
        return -1;
    uint32_t key[CHUNK];
    int keep = 1;
    for (int64_t b = 0; b < n_blocks && keep; b++) {
        int64_t shape[AXES], group[AXES], rows[AXES], axes = 1, room = radix[0];
        shape[0] = radix[0];
        group[0] = -1; /* the child stays in every combination */
        rows[0] = 0;
        for (int64_t j = 0; j < block_width && blocks[b * block_width + j] >= 0; j++, axes++) {
            rows[axes] = blocks[b * block_width + j] + 1;
            group[axes] = groups[b * block_width + j];
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
        bound_t bound = {stride, flags, reach + 1, k, vanish[b], tops, bottoms};
        keep = all_within(table, shape, group, axes, 1, &bound);
    }
    free(table);
    return keep;
}
