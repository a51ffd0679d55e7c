// Suites of products drawn by a seed: another seed gives products that the library was not tuned on. Sizes
// are log-uniform.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "microbench/cases.hpp"

namespace tenon::microbench {

struct Product {
  Types types;
  Layout layout;
  Shape shape;  // with its leading dimensions
};

struct RandomSuite {
  std::string name;
  std::string what;  // a line for --help
  // The first `count` products of the sequence that the seed begins: a smaller sample is a part of a larger
  // one, and has each kind of product equally often.
  std::vector<Product> (*draw)(std::uint64_t seed, int count);
};

const std::vector<RandomSuite>& random_suites();

// nullptr if there is none of that name.
const RandomSuite* find_random_suite(const std::string& name);

}  // namespace tenon::microbench
