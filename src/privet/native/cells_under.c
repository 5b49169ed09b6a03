/* Which cells lie under a node, and under which of its children; see counts/partition.py.
 *
 * `child` says it of every code: which child, or the number of children where the code is not under the node.
 * So there is no branch to guess wrong; it took four times as long.
 */
#include "loops.h"

/* Written always, kept only where the code is under the node. */
#define UNDER(name, code_t)                                                                              \
    int64_t name(const code_t *codes, int64_t n, const uint8_t *child, int64_t size, int64_t fan,        \
                 int64_t *cells, uint8_t *of_cell)                                                       \
    {                                                                                                    \
        (void)size;                                                                                      \
        int64_t at = 0;                                                                                  \
        for (int64_t i = 0; i < n; i++) {                                                                \
            cells[at] = i;                                                                               \
            of_cell[at] = child[codes[i]];                                                               \
            at += child[codes[i]] < fan;                                                                 \
        }                                                                                                \
        return at;                                                                                       \
    }

UNDER(privet_cells_under_8, uint8_t)
UNDER(privet_cells_under_16, uint16_t)
UNDER(privet_cells_under_32, uint32_t)

/* Leaf by leaf a place for each child, and one for the rest. Two cells at a time that lie far apart: those
 * side by side are often of one place, and to add to it again waits for the first sum. */
#define KEY(i) (leaf[i] * (fan + 1) + child[codes[i]])

#define LEAVES(name, code_t)                                                                             \
    int64_t name(const code_t *codes, int64_t n, const uint8_t *child, int64_t size, int64_t fan,        \
                 const int32_t *leaf, const int32_t *counts, int64_t *total)                             \
    {                                                                                                    \
        (void)size;                                                                                      \
        int64_t half = n / 2;                                                                            \
        for (int64_t i = 0; i < half; i++) {                                                             \
            total[KEY(i)] += counts[i];                                                                  \
            total[KEY(half + i)] += counts[half + i];                                                    \
        }                                                                                                \
        if (n % 2)                                                                                       \
            total[KEY(n - 1)] += counts[n - 1];                                                          \
        return n;                                                                                        \
    }

LEAVES(privet_leaves_under_8, uint8_t)
LEAVES(privet_leaves_under_16, uint16_t)
LEAVES(privet_leaves_under_32, uint32_t)

#define MARKED(name, code_t)                                                                             \
    int64_t name(const code_t *codes, int64_t n, const uint8_t *child, int64_t size, int64_t fan,        \
                 const int32_t *leaf, const int32_t *counts, const int64_t *entry, const int32_t *mark,  \
                 int64_t entries, int64_t *total)                                                        \
    {                                                                                                    \
        (void)size;                                                                                      \
        for (int64_t i = 0; i < n; i++)                                                                  \
            if (mark[i] >= 0 && child[codes[i]] < fan)                                                   \
                total[mark[i] * entries + entry[KEY(i)]] += counts[i];                                   \
        return n;                                                                                        \
    }

MARKED(privet_leaves_marked_8, uint8_t)
MARKED(privet_leaves_marked_16, uint16_t)
MARKED(privet_leaves_marked_32, uint32_t)

#define MOVED(name, code_t)                                                                              \
    int64_t name(const code_t *codes, int64_t n, const uint8_t *child, int64_t size, int64_t fan,        \
                 const int32_t *to, int32_t *leaf)                                                       \
    {                                                                                                    \
        (void)size;                                                                                      \
        for (int64_t i = 0; i < n; i++)                                                                  \
            leaf[i] = to[KEY(i)];                                                                        \
        return n;                                                                                        \
    }

MOVED(privet_leaves_moved_8, uint8_t)
MOVED(privet_leaves_moved_16, uint16_t)
MOVED(privet_leaves_moved_32, uint32_t)
