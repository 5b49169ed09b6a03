/* Every compiled function, declared once: each source includes this page, so the compiler compares it with
 * the definition, and `signatures.py` reads it, so that Python compares it with what it is about to hand over.
 * A pointer without `const` is written to; `*const *` is a list of arrays.
 */
#ifndef PRIVET_LOOPS_H
#define PRIVET_LOOPS_H

#include <stdint.h>

/* cells_under.c: which cells lie under a node, and under which of its children; how many */
int64_t privet_cells_under_8(const uint8_t *codes, int64_t n, int64_t lo, int64_t hi, const uint8_t *child_of,
                             int64_t *cells, uint8_t *child);
int64_t privet_cells_under_16(const uint16_t *codes, int64_t n, int64_t lo, int64_t hi, const uint8_t *child_of,
                              int64_t *cells, uint8_t *child);
int64_t privet_cells_under_32(const uint32_t *codes, int64_t n, int64_t lo, int64_t hi, const uint8_t *child_of,
                              int64_t *cells, uint8_t *child);

/* cells_under.c: the same with the leaf and the child of each such cell as one number, and the records of each */
int64_t privet_leaves_under_8(const uint8_t *codes, int64_t n, int64_t lo, int64_t hi,
                              const uint8_t *child_of, int64_t fan, const int64_t *leaf, const int64_t *counts,
                              int64_t *cells, int64_t *key, int64_t *total);
int64_t privet_leaves_under_16(const uint16_t *codes, int64_t n, int64_t lo, int64_t hi,
                              const uint8_t *child_of, int64_t fan, const int64_t *leaf, const int64_t *counts,
                              int64_t *cells, int64_t *key, int64_t *total);
int64_t privet_leaves_under_32(const uint32_t *codes, int64_t n, int64_t lo, int64_t hi,
                              const uint8_t *child_of, int64_t fan, const int64_t *leaf, const int64_t *counts,
                              int64_t *cells, int64_t *key, int64_t *total);
/* cells_under.c: into the leaf of its number each cell goes; how many */
int64_t privet_cells_moved(const int64_t *cells, const int64_t *key, int64_t n, const int64_t *entry,
                           const int64_t *leaf_of_entry, int64_t *leaf);

/* lookahead.c: 1 every block keeps the bound, 0 one breaks it, -1 no memory or too many axes */
int64_t privet_blocks_keep(const uint8_t *codes, int64_t entries, const int64_t *radix, const int32_t *counts,
                           const int32_t *having, int64_t flags, const int64_t *blocks, const int64_t *groups,
                           const int64_t *vanish, int64_t n_blocks, int64_t block_width, int64_t reach, int64_t k,
                           const int64_t *tops, const int64_t *bottoms);

/* survey.c: 0, or -1 where there is no memory */
int64_t privet_survey_blocks(const uint16_t *codes, int64_t cells, const int64_t *radix, const int32_t *counts,
                             const int32_t *marked, int64_t marks, const int64_t *blocks, const int64_t *groups,
                             const int64_t *vanish, int64_t n_blocks, int64_t block_width, int64_t size,
                             int64_t *smallest, int64_t *top, int64_t *bottom);

/* class_distances.c: 0, or -1 where there is no memory */
int64_t privet_class_distances(const int64_t *start, int64_t classes, const int64_t *value, const int64_t *count,
                               const int64_t *over, const double *length, int64_t edges, const double *table,
                               double *far);

/* trimming.c: how many records went, or -1 where more than `most` would have to or there is no memory */
int64_t privet_trim_classes(int64_t *counts, int64_t classes, int64_t codes, const int64_t *over,
                            const int64_t *rise, int64_t edges, int64_t top, int64_t bottom, int64_t smallest,
                            int64_t most);

/* mdav.c: how many groups, or -1 where there is no memory */
int64_t privet_mdav_groups(const double *points, int64_t n, int64_t d, int64_t k, int64_t *group_of);

/* sequences.c: 0, or -1 where there is no memory; `handle` is what `take` fetches: address, count, members */
int64_t privet_minimal_violations(const int32_t *visits, const int64_t *starts, int64_t paths,
                                  const int64_t *weights, int64_t marks, const int64_t *tops,
                                  const int64_t *bottoms, int64_t points, int64_t k, int64_t longest,
                                  int64_t *handle);
int64_t privet_maximal_frequent(const int32_t *visits, const int64_t *starts, int64_t paths,
                                const int64_t *counts, int64_t points, int64_t least, int64_t *handle);
/* All of up to `longest` points that are frequent; 1 where they are more than `most`. */
int64_t privet_itemsets(const int32_t *visits, const int64_t *starts, int64_t paths, const int64_t *counts,
                        int64_t points, int64_t least, int64_t longest, int64_t most, int64_t *handle);
/* Those that are minimal and too rare, with their places, of which handle[3] says the number. */
int64_t privet_rare(const int32_t *visits, const int64_t *starts, int64_t paths, const int64_t *counts,
                    int64_t points, int64_t k, int64_t longest, int64_t *handle);
int64_t privet_places_take(int64_t handle, int32_t *path, int32_t *which);
int64_t privet_sequences_take(int64_t handle, int32_t *members, int64_t *ends, int64_t *support);

/* suppress.c: 0, or -1 where there is no memory */
int64_t privet_suppress_points(const int32_t *bad, const int64_t *bad_starts, int64_t bads, const int32_t *good,
                               const int64_t *good_starts, int64_t goods, int64_t points,
                               const int64_t *instances, int64_t kind, int32_t *order, int64_t *gain,
                               int64_t *loss, int64_t *found);

/* trees.c: 0, or -1 where there is no memory */
int64_t privet_trees_prices(const int64_t *how, const int32_t *const *whole, const int64_t *const *wide,
                            const int64_t *candidates, int64_t count, int64_t *prices);
int64_t privet_trees_nearest(const int64_t *how, const int32_t *const *whole, const int64_t *const *wide,
                             const int64_t *candidates, int64_t *bounds, int64_t count, int64_t first,
                             int64_t step, _Atomic int64_t *shared, int64_t *best);
int64_t privet_trees_merge(const int64_t *how, const int32_t *const *whole, const int64_t *const *wide, int64_t b,
                           int32_t *of_a, int32_t *of_b, int32_t *parents, int64_t *count);

/* anatomy.c: the best candidate, -1 where none fits, -2 where there is no memory */
int64_t privet_anatomy_best(const int32_t *kinds, const int32_t *keys, const int64_t *begins,
                            const int32_t *below, int64_t positions, int64_t joined, const int32_t *all_kinds,
                            const int32_t *all_keys, const int64_t *all_begins, const int32_t *all_below,
                            const int64_t *roots, const int64_t *sizes, const int32_t *counts,
                            const int32_t *group_counts, int64_t types, const int64_t *candidates,
                            int64_t candidates_count, const int32_t *ruled, const int32_t *rule_begins,
                            const int32_t *m, const int32_t *mu_most, const int32_t *eta_most, int64_t keyed,
                            int64_t by_vertices, const double *weights, const double *group_weight,
                            int64_t largest, int32_t *match);

/* even_lines.c: how many lines there are, or -1 where one has other fields or a reader could see it otherwise */
int64_t privet_even_lines(const uint8_t *text, int64_t size, int64_t delimiter, int64_t fields);

/* refine.c: 0, or -1 where there is no memory */
int64_t privet_best_moves(const int32_t *codes, int64_t cells, int64_t d, const int64_t *count,
                          const int32_t *of_cell, const int32_t *low, const int32_t *high, const int64_t *size,
                          int64_t classes, const int32_t *start, const int32_t *member, const int32_t *first,
                          const int32_t *last, const int32_t *beside, const int32_t *asked, int64_t many,
                          int64_t smallest, const int64_t *kinds, const int64_t *widths,
                          const int64_t *const *begin, const int64_t *const *end, const int64_t *const *own,
                          const int64_t *const *stretch, int64_t *gain, int64_t *to, int64_t *back);

/* regroup.c: 0, or -1 where there is no memory */
int64_t privet_regroup(const int32_t *codes, int64_t cells, int64_t d, const int64_t *count, int32_t *of_cell,
                       int64_t classes, int64_t smallest, const int32_t *beside, int64_t near,
                       const int64_t *heat, int64_t blocks, const int64_t *logs, int64_t seed,
                       const int64_t *kinds, const int64_t *widths, const int64_t *const *begin,
                       const int64_t *const *end, const int64_t *const *own, const int64_t *const *stretch);
/* regroup.c: the nearest cells of each among those of its part, and how far they are; 0 */
int64_t privet_near_cells(const int32_t *codes, int64_t d, const int32_t *order, const int32_t *ends, int64_t parts,
                          const int64_t *kinds, const int64_t *widths, const int64_t *const *begin,
                          const int64_t *const *end, const int64_t *const *own, const int64_t *const *stretch,
                          int64_t near, int32_t *beside, int64_t *apart);


#endif
