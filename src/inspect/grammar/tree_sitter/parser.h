/* Debian's tree_sitter/parser.h is of version 0.20; tree-sitter-python 0.23's parser speaks the same binary interface
 * (14), but its source uses newer macros. They are added here, on top of the system's header. */
#ifndef TRITONSMITH_TREE_SITTER_PARSER_H_
#define TRITONSMITH_TREE_SITTER_PARSER_H_

#include_next <tree_sitter/parser.h>

#ifndef ADVANCE_MAP

typedef struct {
  int32_t start;
  int32_t end;
} TSCharacterRange;

/* Whether a character lies in one of the ranges, which are in order. */
static inline bool set_contains(const TSCharacterRange *ranges, uint32_t count, int32_t character) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (character > ranges[middle].end) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && ranges[low].start <= character;
}

/* 0.20 passes what follows the child count by name; 0.23 by position. Taken by the old macro, the position would be
 * that of the symbol, and every reduction would go wrong without a word from the compiler. */
#undef REDUCE
#define REDUCE(symbol_name, children, precedence, production) \
  {{                                                          \
    .reduce = {                                               \
      .type = TSParseActionTypeReduce,                        \
      .child_count = (children),                              \
      .symbol = (symbol_name),                                \
      .dynamic_precedence = (precedence),                     \
      .production_id = (production),                          \
    },                                                        \
  }}

/* Pairs of a character and the state it leads to. */
#define ADVANCE_MAP(...)                                             \
  {                                                                  \
    static const uint16_t map[] = {__VA_ARGS__};                     \
    for (uint32_t i = 0; i < sizeof(map) / sizeof(*map); i += 2) {   \
      if (map[i] == lookahead) {                                     \
        state = map[i + 1];                                          \
        goto next_state;                                             \
      }                                                              \
    }                                                                \
  }

#endif
#endif
