/* Which cells lie under a node, and under which of its children; see relational/partition.py.
 *
 * Written always, kept only where the code is in the range: no branch to guess wrong.
 */
#include "loops.h"

#define UNDER(name, code_t)                                                                              \
    int64_t name(const code_t *codes, int64_t n, int64_t lo, int64_t hi, const uint8_t *child_of,        \
                 int64_t *cells, uint8_t *child)                                                         \
    {                                                                                                    \
        int64_t at = 0, last = hi - lo - 1;                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                \
            int64_t code = (int64_t)codes[i] - lo;                                                       \
            int64_t inside = code < 0 ? 0 : code > last ? last : code;                                   \
            cells[at] = i;                                                                               \
            child[at] = child_of[inside];                                                                \
            at += code == inside;                                                                        \
        }                                                                                                \
        return at;                                                                                       \
    }

UNDER(privet_cells_under_8, uint8_t)
UNDER(privet_cells_under_16, uint16_t)
UNDER(privet_cells_under_32, uint32_t)

#define LEAVES(name, code_t)                                                                             \
    int64_t name(const code_t *codes, int64_t n, int64_t lo, int64_t hi, const uint8_t *child_of,        \
                 int64_t fan, const int64_t *leaf, const int64_t *counts, int64_t *cells, int64_t *key,  \
                 int64_t *total)                                                                         \
    {                                                                                                    \
        int64_t at = 0, last = hi - lo - 1;                                                              \
        for (int64_t i = 0; i < n; i++) {                                                                \
            int64_t code = (int64_t)codes[i] - lo;                                                       \
            int64_t inside = code < 0 ? 0 : code > last ? last : code;                                   \
            int64_t here = leaf[i] * fan + child_of[inside];                                             \
            cells[at] = i;                                                                               \
            key[at] = here;                                                                              \
            total[here] += code == inside ? counts[i] : 0;                                               \
            at += code == inside;                                                                        \
        }                                                                                                \
        return at;                                                                                       \
    }

LEAVES(privet_leaves_under_8, uint8_t)
LEAVES(privet_leaves_under_16, uint16_t)
LEAVES(privet_leaves_under_32, uint32_t)

int64_t privet_cells_moved(const int64_t *cells, const int64_t *key, int64_t n, const int64_t *entry,
                           const int64_t *leaf_of_entry, int64_t *leaf)
{
    for (int64_t i = 0; i < n; i++)
        leaf[cells[i]] = leaf_of_entry[entry[key[i]]];
    return n;
}
