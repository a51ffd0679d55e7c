// The operands of the tensor copies, reductions and prefetches (PTX ISA 9.7.9.27).
#include "emulator/instructions/tensor_copy.hpp"

namespace tenon::emulator {

namespace {

using ptx::Type;

void decode_rank(Decoding& decoding, TensorDetail& d) {
  d.rank = decoding.require_one({"1d", "2d", "3d", "4d", "5d"}) + 1;
}

// `im2col`: the name of the mode here, with offsets or without.
void decode_mode(Decoding& decoding, TensorDetail& d, const char* im2col) {
  for (const char* mode : {"im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4"}) {
    if (decoding.accept(mode)) decoding.fail("the mode ." + std::string(mode) + " needs sm_100");
  }
  d.is_im2col = decoding.accept(im2col);
  if (d.is_im2col && d.rank < 3)
    decoding.fail("the mode ." + std::string(im2col) + " needs 3 to 5 dimensions");
  if (!d.is_im2col) decoding.accept("tile");
}

// {offsets} of im2col, 16 bits each.
void decode_offsets(Decoding& decoding, TensorDetail& d, int operand) {
  const auto* list = std::get_if<ptx::Vector>(&decoding.operand(operand).value);
  const std::size_t needed = static_cast<std::size_t>(d.rank) - 2;
  if (list == nullptr || list->elements.size() != needed)
    decoding.fail("the offsets of im2col are a list of " + std::to_string(needed));
  d.offsets = static_cast<int>(decoding.op().values.size());
  for (const ptx::Operand& offset : list->elements) {
    decoding.require_width(offset, Type::u16);
    decoding.op().values.push_back(decoding.scope().value(offset, Type::u16));
  }
}

// [tensorMap, {coordinates}]
void decode_box(Decoding& decoding, TensorDetail& d, int operand) {
  const auto* tensor = std::get_if<ptx::TensorAddress>(&decoding.operand(operand).value);
  if (tensor == nullptr) decoding.fail("the tensor is given as [map, {coordinates}]");
  if (static_cast<int>(tensor->coordinates.size()) != d.rank) {
    decoding.fail(std::to_string(tensor->coordinates.size()) + " coordinates are given where ." +
                  std::to_string(d.rank) + "d needs " + std::to_string(d.rank));
  }
  ptx::Operand map;
  map.value = tensor->map;
  d.map = add_address(decoding, map);
  d.coordinates = static_cast<int>(decoding.op().values.size());
  for (const ptx::Operand& coordinate : tensor->coordinates) {
    decoding.require_width(coordinate, Type::s32);
    decoding.op().values.push_back(decoding.scope().value(coordinate, Type::s32));
  }
}

// [dst], [map, coordinates], [mbar] {, offsets} {, mask} {, policy}
void decode_load(Decoding& decoding, TensorDetail& d, bool own_only) {
  decoding.require("global");
  decode_mode(decoding, d, "im2col");
  decoding.require("mbarrier::complete_tx::bytes");
  const bool multicast = decoding.accept("multicast::cluster");
  if (multicast && own_only) decoding.fail(".multicast::cluster needs the destination .shared::cluster");
  const bool has_policy = accept_cache_hint(decoding);
  const int least = 3 + (d.is_im2col ? 1 : 0), all = least + multicast + has_policy;
  decoding.require_count(all, all);
  d.arrivals.own_only = own_only;
  d.arrivals.to = add_address(decoding, 0);
  decode_box(decoding, d, 1);
  d.arrivals.mbarrier = add_address(decoding, 2);
  if (d.is_im2col) decode_offsets(decoding, d, 3);
  if (multicast) d.arrivals.mask = add_source(decoding, least, Type::u16);
  if (has_policy) add_source(decoding, least + multicast, Type::b64);
  decoding.op().handler = run_tensor_load;
}

// [map, coordinates], [src] {, policy}; without offsets
void decode_store(Decoding& decoding, TensorDetail& d, bool reduces) {
  decoding.require("shared::cta");
  d.reduces = reduces;
  if (reduces) d.reduction = require_reduction(decoding);
  decode_mode(decoding, d, "im2col_no_offs");
  decoding.require("bulk_group");
  const bool has_policy = accept_cache_hint(decoding);
  decoding.require_count(2 + has_policy, 2 + has_policy);
  decode_box(decoding, d, 0);
  d.from = add_address(decoding, 1);
  if (has_policy) add_source(decoding, 2, Type::b64);
  decoding.op().handler = run_tensor_store;
}

}  // namespace

void decode_tensor_copy(Decoding& decoding, bool reduces) {
  auto detail = std::make_unique<TensorDetail>();
  TensorDetail& d = *detail;
  decoding.op().detail = std::move(detail);
  if (!reduces && decoding.accept("prefetch")) {
    decoding.require("tensor");
    decode_rank(decoding, d);
    decoding.require("L2");
    decoding.require("global");
    decode_mode(decoding, d, "im2col");
    const bool has_policy = accept_cache_hint(decoding);
    const int least = 1 + (d.is_im2col ? 1 : 0);
    decoding.require_count(least + has_policy, least + has_policy);
    decode_box(decoding, d, 0);
    if (d.is_im2col) decode_offsets(decoding, d, 1);
    if (has_policy) add_source(decoding, least, Type::b64);
    decoding.op().handler = run_tensor_prefetch;
    return;
  }
  decoding.require("tensor");
  decode_rank(decoding, d);
  const int target = require_first_of(decoding, {"shared::cluster", "shared::cta", "global"});
  if (target == 2) {
    decode_store(decoding, d, reduces);
  } else {
    if (reduces) decoding.fail("a tensor reduction is into .global");
    decode_load(decoding, d, target == 1);
  }
}

}  // namespace tenon::emulator
