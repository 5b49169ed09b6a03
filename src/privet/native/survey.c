/* The smallest group and the largest shares over every combination of columns; see models/groups.py.
 *
 * The check of what is about to leave. It looks like the search's loop and is kept apart from it on
 * purpose: what a search got wrong must not be counted wrong here too.
 */
#include "loops.h"

#include <stdlib.h>

typedef struct {
    int64_t smallest;
    int64_t *top, *bottom; /* the largest share of each mark so far, as a fraction */
} found_t;

static void look(const int32_t *table, int64_t room, int64_t stride, int64_t marks, found_t *found)
{
    for (int64_t g = 0; g < room; g++) {
        int64_t n = table[g];
        if (n <= 0)
            continue;
        if (n < found->smallest)
            found->smallest = n;
        for (int64_t m = 0; m < marks; m++) {
            int64_t h = table[(m + 1) * stride + g];
            /* h/n above top/bottom, multiplied out: exact in 64 bits, all are below 2^31 */
            if (h * found->bottom[m] > found->top[m] * n) {
                found->top[m] = h;
                found->bottom[m] = n;
            }
        }
    }
}

/* Leave out axes one after the other, in ascending order, until `size` of them are left: each choice of
 * axes is met once. Groups of columns from `vanish` on keep at least one axis: a choice without them is
 * met in another block (see blocks.py). `levels` holds one table for each depth. */
static void descend(int32_t **levels, const int64_t *shape, const int64_t *group, int64_t dims, int64_t first,
                    int64_t size, int64_t vanish, int64_t stride, int64_t marks, found_t *found)
{
    if (dims <= size) {
        int64_t room = 1;
        for (int64_t j = 0; j < dims; j++)
            room *= shape[j];
        look(levels[0], room, stride, marks, found);
        return;
    }
    for (int64_t axis = first; axis < dims; axis++) {
        int64_t fewer[64], left[64], before = 1, after = 1, width = shape[axis], loose = 0, companions = 0;
        for (int64_t j = 0; j < dims; j++) {
            int bound = group[j] >= vanish && (j == 0 || group[j] != group[j - 1]);
            if (j >= axis && !bound)
                loose++; /* axes that may still go, from this one on */
            if (j != axis && group[j] == group[axis])
                companions++;
            if (j < axis)
                before *= shape[j];
            if (j > axis)
                after *= shape[j];
            if (j != axis) {
                fewer[j - (j > axis)] = shape[j];
                left[j - (j > axis)] = group[j];
            }
        }
        if (loose < dims - size)
            break;
        if (!companions && group[axis] >= vanish)
            continue;
        for (int64_t m = 0; m <= marks; m++) {
            const int32_t *restrict whole = levels[0] + m * stride;
            int32_t *restrict part = levels[1] + m * stride;
            for (int64_t p = 0; p < before; p++) {
                for (int64_t q = 0; q < after; q++)
                    part[p * after + q] = 0;
                for (int64_t w = 0; w < width; w++)
                    for (int64_t q = 0; q < after; q++)
                        part[p * after + q] += whole[(p * width + w) * after + q];
            }
        }
        descend(levels + 1, fewer, left, dims - 1, axis, size, vanish, stride, marks, found);
    }
}

/* For each block of columns: its smallest group, and for each mark its largest share. 0, or -1 when
 * there is no memory or a block has too many columns. */
int64_t privet_survey_blocks(const uint16_t *codes, int64_t cells, const int64_t *radix, const int32_t *counts,
                  const int32_t *marked, int64_t marks, const int64_t *blocks, const int64_t *groups,
                  const int64_t *vanish, int64_t n_blocks, int64_t block_width, int64_t size,
                  int64_t *smallest, int64_t *top, int64_t *bottom)
{
    for (int64_t b = 0; b < n_blocks; b++) {
        int64_t shape[64], group[64], member[64], dims = 0, room = 1;
        for (int64_t j = 0; j < block_width && blocks[b * block_width + j] >= 0; j++) {
            if (dims == 64)
                return -1;
            member[dims] = blocks[b * block_width + j];
            group[dims] = groups[b * block_width + j];
            shape[dims] = radix[member[dims]];
            room *= shape[dims++];
        }
        int64_t depth = dims > size ? dims - size + 1 : 1;
        int32_t *memory = calloc((size_t)(depth * (marks + 1) * room), sizeof *memory);
        if (!memory)
            return -1;
        int32_t *levels[65];
        for (int64_t d = 0; d < depth; d++)
            levels[d] = memory + d * (marks + 1) * room;
        enum { AT_ONCE = 1024 };
        uint32_t key[AT_ONCE];
        for (int64_t start = 0; start < cells; start += AT_ONCE) {
            int64_t n = cells - start < AT_ONCE ? cells - start : AT_ONCE;
            for (int64_t i = 0; i < n; i++)
                key[i] = 0;
            for (int64_t j = 0; j < dims; j++)
                for (int64_t i = 0; i < n; i++)
                    key[i] = key[i] * (uint32_t)shape[j] + codes[member[j] * cells + start + i];
            for (int64_t i = 0; i < n; i++)
                memory[key[i]] += counts[start + i];
            for (int64_t m = 0; m < marks; m++)
                for (int64_t i = 0; i < n; i++)
                    memory[(m + 1) * room + key[i]] += marked[m * cells + start + i];
        }
        found_t found = {INT64_MAX, top + b * marks, bottom + b * marks};
        for (int64_t m = 0; m < marks; m++) {
            found.top[m] = 0;
            found.bottom[m] = 1;
        }
        descend(levels, shape, group, dims, 0, size, vanish[b], room, marks, &found);
        smallest[b] = found.smallest;
        free(memory);
    }
    return 0;
}
