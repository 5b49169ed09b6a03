/* Every compiled function, declared once: each source includes this page, so the compiler compares it with
 * the definition, and `signatures.py` reads it, so that Python compares it with what it is about to hand over.
 * A pointer without `const` is written to; `*const *` is a list of arrays. Behind a pointer stands in a comment
 * how long it is at least (a list: how many arrays it has): numbers, other arguments, or an entry of another array.
 */
#ifndef PRIVET_LOOPS_H
#define PRIVET_LOOPS_H

#include <stdint.h>

/* cells_under.c: which cells lie under a node, and under which of its children; how many */
int64_t privet_cells_under_8(const uint8_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, int64_t *cells /* n */, uint8_t *of_cell /* n */);
int64_t privet_cells_under_16(const uint16_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, int64_t *cells /* n */, uint8_t *of_cell /* n */);
int64_t privet_cells_under_32(const uint32_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, int64_t *cells /* n */, uint8_t *of_cell /* n */);
/* cells_under.c: the records of each child of each leaf, at leaf * (fan + 1) + child; n */
int64_t privet_leaves_under_8(const uint8_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, const int32_t *leaf /* n */, const int32_t *counts /* n */,
    int64_t *total);
int64_t privet_leaves_under_16(const uint16_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, const int32_t *leaf /* n */, const int32_t *counts /* n */,
    int64_t *total);
int64_t privet_leaves_under_32(const uint32_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, const int32_t *leaf /* n */, const int32_t *counts /* n */,
    int64_t *total);
/* cells_under.c: of those with a mark (not -1), the records by mark and by the entry of leaf and child; n */
int64_t privet_leaves_marked_8(const uint8_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, const int32_t *leaf /* n */, const int32_t *counts /* n */,
    const int64_t *entry, const int32_t *mark /* n */, int64_t entries, int64_t *total);
int64_t privet_leaves_marked_16(const uint16_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, const int32_t *leaf /* n */, const int32_t *counts /* n */,
    const int64_t *entry, const int32_t *mark /* n */, int64_t entries, int64_t *total);
int64_t privet_leaves_marked_32(const uint32_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, const int32_t *leaf /* n */, const int32_t *counts /* n */,
    const int64_t *entry, const int32_t *mark /* n */, int64_t entries, int64_t *total);
/* cells_under.c: each cell goes to the leaf of its leaf and child; n */
int64_t privet_leaves_moved_8(const uint8_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, const int32_t *to, int32_t *leaf /* n */);
int64_t privet_leaves_moved_16(const uint16_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, const int32_t *to, int32_t *leaf /* n */);
int64_t privet_leaves_moved_32(const uint32_t *codes /* n */, int64_t n, const uint8_t *child /* size */,
    int64_t size, int64_t fan, const int32_t *to, int32_t *leaf /* n */);

/* classes.c: a number for each cell, equal where all its axes are lifted to equal ones; how many, -1 no memory */
int64_t privet_keys_16(const uint16_t *codes, int64_t axes, const int64_t *cell /* n */, int64_t n,
    const int64_t *lift, const int64_t *start /* axes */, int64_t *key /* n */);
int64_t privet_keys_32(const uint32_t *codes, int64_t axes, const int64_t *cell /* n */, int64_t n,
    const int64_t *lift, const int64_t *start /* axes */, int64_t *key /* n */);
/* classes.c: how many keys occur, or -1 where there is no memory; all are at least 0 and below `room` */
int64_t privet_numbered(const int64_t *key /* n */, int64_t n, int64_t room, int64_t dense,
    int64_t *number /* n */, int64_t *at /* n */);
/* classes.c: the same, with the sum of the counts (each at least 1; below 2^31 in all if dense) of each key */
int64_t privet_summed(const int64_t *key /* n */, const int64_t *count /* n */, int64_t n, int64_t room,
    int64_t dense, int64_t *at /* n */, int64_t *total /* n */);
/* classes.c: the sum of the counts of each class; how many were added */
int64_t privet_added(const int64_t *number /* n */, const int64_t *count /* n */, int64_t n,
    int64_t *total /* classes */, int64_t classes);
/* classes.c: how many keys may have so many records, and which; -1 where there is no memory. All that do are among
 * them: keys are mixed into 2^bits places, and those that share one are counted together */
int64_t privet_company(const int64_t *key /* n */, const int64_t *count /* n */, int64_t n, int64_t bits,
    int64_t smallest, int64_t *at /* n */);

/* lookahead.c: 1 every block keeps the bound, 0 one breaks it, -1 no memory or too many axes */
int64_t privet_blocks_keep(const uint8_t *codes, int64_t entries, const int64_t *radix,
    const int32_t *counts /* entries */, const int32_t *having /* flags * entries */, int64_t flags,
    const int64_t *blocks /* n_blocks * block_width */, const int64_t *groups /* n_blocks * block_width */,
    const int64_t *vanish /* n_blocks */, int64_t n_blocks, int64_t block_width, int64_t reach, int64_t k,
    const int64_t *tops /* flags */, const int64_t *bottoms /* flags */);

/* survey.c: 0, or -1 where there is no memory */
int64_t privet_survey_blocks(const uint16_t *codes, int64_t cells, const int64_t *radix,
    const int32_t *counts /* cells */, const int32_t *marked /* marks * cells */, int64_t marks,
    const int64_t *blocks /* n_blocks * block_width */, const int64_t *groups /* n_blocks * block_width */,
    const int64_t *vanish /* n_blocks */, int64_t n_blocks, int64_t block_width, int64_t size,
    int64_t *smallest /* n_blocks */, int64_t *top /* n_blocks * marks */,
    int64_t *bottom /* n_blocks * marks */);

/* class_distances.c: 0, or -1 where there is no memory */
int64_t privet_class_distances(const int64_t *start /* classes + 1 */, int64_t classes,
    const int64_t *value /* start[classes] */, const int64_t *count /* start[classes] */, const int64_t *over,
    const double *length /* edges */, int64_t edges, const double *table /* edges */,
    double *far /* classes */);

/* trimming.c: how many records went, or -1 where more than `most` would have to or there is no memory */
int64_t privet_trim_classes(int64_t *counts /* classes * codes */, int64_t classes, int64_t codes,
    const int64_t *over /* codes * edges */, const int64_t *rise /* edges */, int64_t edges, int64_t top,
    int64_t bottom, int64_t smallest, int64_t most);

/* mdav.c: how many groups, or -1 where there is no memory */
int64_t privet_mdav_groups(const double *points /* n * d */, int64_t n, int64_t d, int64_t k,
    int64_t *group_of /* n */);

/* sequences.c: 0, or -1 where there is no memory; `handle` is what `take` fetches: address, count, members */
int64_t privet_minimal_violations(const int32_t *visits /* starts[paths] */,
    const int64_t *starts /* paths + 1 */, int64_t paths, const int64_t *weights /* paths * marks + paths */,
    int64_t marks, const int64_t *tops /* marks */, const int64_t *bottoms /* marks */, int64_t points,
    int64_t k, int64_t longest, int64_t *handle /* 3 */);
int64_t privet_maximal_frequent(const int32_t *visits /* starts[paths] */,
    const int64_t *starts /* paths + 1 */, int64_t paths, const int64_t *counts /* paths */, int64_t points,
    int64_t least, int64_t *handle /* 3 */);
/* All of up to `longest` points that are frequent; 1 where they are more than `most`. */
int64_t privet_itemsets(const int32_t *visits /* starts[paths] */, const int64_t *starts /* paths + 1 */,
    int64_t paths, const int64_t *counts /* paths */, int64_t points, int64_t least, int64_t longest,
    int64_t most, int64_t *handle /* 3 */);
/* Those that are minimal and too rare, with their places, of which handle[3] says the number. */
int64_t privet_rare(const int32_t *visits /* starts[paths] */, const int64_t *starts /* paths + 1 */,
    int64_t paths, const int64_t *counts /* paths */, int64_t points, int64_t k, int64_t longest,
    int64_t *handle /* 4 */);
int64_t privet_places_take(int64_t handle, int32_t *path, int32_t *which);
int64_t privet_sequences_take(int64_t handle, int32_t *members, int64_t *ends, int64_t *support);

/* suppress.c: 0, or -1 where there is no memory */
int64_t privet_suppress_points(const int32_t *bad /* bad_starts[bads] */,
    const int64_t *bad_starts /* bads + 1 */, int64_t bads, const int32_t *good /* good_starts[goods] */,
    const int64_t *good_starts /* goods + 1 */, int64_t goods, int64_t points,
    const int64_t *instances /* points */, int64_t kind, int32_t *order /* points */,
    int64_t *gain /* points */, int64_t *loss /* points */, int64_t *found /* 1 */);

/* trees.c: 0, or -1 where there is no memory */
int64_t privet_trees_prices(const int64_t *how /* 6 */, const int32_t *const *whole,
    const int64_t *const *wide, const int64_t *candidates /* count */, int64_t count,
    int64_t *prices /* count */);
int64_t privet_trees_nearest(const int64_t *how /* 6 */, const int32_t *const *whole,
    const int64_t *const *wide, const int64_t *candidates /* count */, int64_t *bounds /* count */,
    int64_t count, int64_t first, int64_t step, _Atomic int64_t *shared /* 1 */, int64_t *best /* 3 */);
int64_t privet_trees_merge(const int64_t *how /* 6 */, const int32_t *const *whole,
    const int64_t *const *wide, int64_t b, int32_t *of_a, int32_t *of_b, int32_t *parents,
    int64_t *count /* 1 */);

/* anatomy.c: the best candidate, -1 where none fits, -2 where there is no memory */
int64_t privet_anatomy_best(const int32_t *kinds /* positions */, const int32_t *keys /* positions */,
    const int64_t *begins, const int32_t *below, int64_t positions, int64_t joined, const int32_t *all_kinds,
    const int32_t *all_keys, const int64_t *all_begins, const int32_t *all_below, const int64_t *roots,
    const int64_t *sizes, const int32_t *counts, const int32_t *group_counts /* types */, int64_t types,
    const int64_t *candidates /* candidates_count */, int64_t candidates_count, const int32_t *ruled,
    const int32_t *rule_begins, const int32_t *m, const int32_t *mu_most, const int32_t *eta_most,
    int64_t keyed, int64_t by_vertices, const double *weights, const double *group_weight /* 1 */,
    int64_t largest, int32_t *match /* positions */);

/* even_lines.c: how many lines there are, or -1 where one has other fields or a reader could see it otherwise */
int64_t privet_even_lines(const uint8_t *text /* size */, int64_t size, int64_t delimiter, int64_t fields);

/* json_keys.c: where the first line from `begin` on begins that has to be read with care, or -1: a key may stand twice
 * in it, a text hold half a pair of surrogates, a whole number or the nesting be too much for a reader. The first one
 * is taken as it is if it is trusted. */
int64_t privet_json_keys(const uint8_t *text /* size */, int64_t size, int64_t begin, int64_t trusted,
    int64_t *found /* 131 */);

/* refine.c: 0, or -1 where there is no memory */
int64_t privet_best_moves(const int32_t *codes /* cells * d */, int64_t cells, int64_t d,
    const int64_t *count /* cells */, const int32_t *of_cell /* cells */,
    const int32_t *low /* classes * d */, const int32_t *high /* classes * d */,
    const int64_t *size /* classes */, int64_t classes, const int32_t *start,
    const int32_t *member /* cells */, const int32_t *first, const int32_t *last, const int32_t *beside,
    const int32_t *asked /* many */, int64_t many, int64_t smallest, const int64_t *kinds /* d */,
    const int64_t *widths /* d */, const int64_t *const *begin /* d */, const int64_t *const *end /* d */,
    const int64_t *const *own /* d */, const int64_t *const *stretch /* d */, int64_t *gain /* many */,
    int64_t *to /* many */, int64_t *back /* many */);

/* refine.c: the cells of each class and its ends; 0 */
int64_t privet_settled(const int32_t *codes /* cells * d */, int64_t cells, int64_t d,
    const int64_t *count /* cells */, const int32_t *of_cell /* cells */, int64_t classes,
    int32_t *member /* cells */, int32_t *start /* classes + 1 */, int32_t *low /* classes * d */,
    int32_t *high /* classes * d */, int64_t *size /* classes */);

/* regroup.c: 0, or -1 where there is no memory */
int64_t privet_regroup(const int32_t *codes /* cells * d */, int64_t cells, int64_t d,
    const int64_t *count /* cells */, int32_t *of_cell /* cells */, int64_t classes, int64_t smallest,
    const int32_t *beside /* cells * near */, int64_t near, const int64_t *heat /* blocks */, int64_t blocks,
    const int64_t *logs, int64_t seed, const int64_t *kinds /* d */, const int64_t *widths /* d */,
    const int64_t *const *begin /* d */, const int64_t *const *end /* d */, const int64_t *const *own /* d */,
    const int64_t *const *stretch /* d */);
/* regroup.c: the nearest cells of each among those of its part, and how far they are; 0, or -1: no memory */
int64_t privet_near_cells(const int32_t *codes, int64_t d, const int32_t *order /* ends[parts] */,
    const int32_t *ends /* parts + 1 */, int64_t parts, const int64_t *kinds /* d */,
    const int64_t *widths /* d */, const int64_t *const *begin /* d */, const int64_t *const *end /* d */,
    const int64_t *const *own /* d */, const int64_t *const *stretch /* d */, int64_t near, int32_t *beside,
    int64_t *apart);


#endif
