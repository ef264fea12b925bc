/* The growable array that tree-sitter-python's scanner is written against. Neither its source package nor Debian's
 * libtree-sitter-dev brings it, so this is our own with the same face, for what the scanner uses. */
#ifndef TREE_SITTER_ARRAY_H_
#define TREE_SITTER_ARRAY_H_

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#define Array(T)       \
  struct {             \
    T *contents;       \
    uint32_t size;     \
    uint32_t capacity; \
  }

#define array_init(self) ((self)->contents = NULL, (self)->size = 0, (self)->capacity = 0)

#define array_delete(self) (free((self)->contents), array_init(self))

#define array_get(self, index) (assert((uint32_t)(index) < (self)->size), &(self)->contents[index])

#define array_back(self) array_get(self, (self)->size - 1)

#define array_reserve(self, wanted)                                                                   \
  ((self)->capacity >= (uint32_t)(wanted)                                                             \
       ? (void)0                                                                                      \
       : (void)((self)->contents = array_grow_((self)->contents, (wanted), sizeof *(self)->contents), \
                (self)->capacity = (uint32_t)(wanted)))

#define array_push(self, element)                                                          \
  (((self)->size == (self)->capacity                                                       \
        ? array_reserve(self, (self)->capacity < 8 ? 8 : 2 * (self)->capacity) : (void)0), \
   (self)->contents[(self)->size++] = (element))

#define array_pop(self) ((self)->contents[--(self)->size])

static inline void *array_grow_(void *contents, uint32_t count, size_t element_bytes) {
  void *grown = realloc(contents, count * element_bytes);
  if (grown == NULL) abort();
  return grown;
}

#endif
