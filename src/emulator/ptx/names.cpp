#include "emulator/ptx/names.hpp"

#include <unordered_map>
#include <unordered_set>

namespace tenon::emulator::ptx {

std::optional<Type> type_named(std::string_view dotted) {
  static const std::unordered_map<std::string_view, Type> types = {
      {".pred", Type::pred},     {".b8", Type::b8},         {".b16", Type::b16},     {".b32", Type::b32},
      {".b64", Type::b64},       {".b128", Type::b128},     {".u8", Type::u8},       {".u16", Type::u16},
      {".u32", Type::u32},       {".u64", Type::u64},       {".s8", Type::s8},       {".s16", Type::s16},
      {".s32", Type::s32},       {".s64", Type::s64},       {".f16", Type::f16},     {".f16x2", Type::f16x2},
      {".bf16", Type::bf16},     {".bf16x2", Type::bf16x2}, {".tf32", Type::tf32},   {".f32", Type::f32},
      {".f32x2", Type::f32x2},   {".f64", Type::f64},       {".e4m3", Type::e4m3},   {".e5m2", Type::e5m2},
      {".e4m3x2", Type::e4m3x2}, {".e5m2x2", Type::e5m2x2}, {".u16x2", Type::u16x2}, {".s16x2", Type::s16x2},
      {".u4", Type::u4},         {".s4", Type::s4},         {".b1", Type::b1}};
  const auto found = types.find(dotted);
  return found == types.end() ? std::nullopt : std::optional<Type>(found->second);
}

std::optional<Space> space_named(std::string_view dotted) {
  if (dotted == ".global") return Space::global;
  if (dotted == ".shared") return Space::shared;
  if (dotted == ".local") return Space::local;
  if (dotted == ".param") return Space::param;
  if (dotted == ".const") return Space::constant;
  return std::nullopt;
}

bool is_special_register(std::string_view name) {
  static const std::unordered_set<std::string_view> names = {"%tid",
                                                             "%ntid",
                                                             "%laneid",
                                                             "%warpid",
                                                             "%nwarpid",
                                                             "%ctaid",
                                                             "%nctaid",
                                                             "%smid",
                                                             "%nsmid",
                                                             "%gridid",
                                                             "%is_explicit_cluster",
                                                             "%clusterid",
                                                             "%nclusterid",
                                                             "%cluster_ctaid",
                                                             "%cluster_nctaid",
                                                             "%cluster_ctarank",
                                                             "%cluster_nctarank",
                                                             "%lanemask_eq",
                                                             "%lanemask_le",
                                                             "%lanemask_lt",
                                                             "%lanemask_ge",
                                                             "%lanemask_gt",
                                                             "%clock",
                                                             "%clock_hi",
                                                             "%clock64",
                                                             "%globaltimer",
                                                             "%globaltimer_lo",
                                                             "%globaltimer_hi",
                                                             "%reserved_smem_offset_begin",
                                                             "%reserved_smem_offset_end",
                                                             "%reserved_smem_offset_cap",
                                                             "%reserved_smem_offset_0",
                                                             "%reserved_smem_offset_1",
                                                             "%total_smem_size",
                                                             "%aggr_smem_size",
                                                             "%dynamic_smem_size",
                                                             "%current_graph_exec"};
  if (names.count(name) != 0) return true;
  // %envreg0 to %envreg31, %pm0 to %pm7, %pm0_64 to %pm7_64
  constexpr std::string_view environment = "%envreg", counter = "%pm";
  const auto number = [&](std::string_view digits, int end) {
    if (digits.empty() || digits.size() > 2 || (digits.size() == 2 && digits[0] == '0')) return false;
    int value = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return false;
      value = 10 * value + (c - '0');
    }
    return value < end;
  };
  if (name.substr(0, environment.size()) == environment) return number(name.substr(environment.size()), 32);
  if (name.substr(0, counter.size()) != counter) return false;
  name.remove_prefix(counter.size());
  if (name.size() == 4 && name.substr(1) == "_64") name.remove_suffix(3);
  return number(name, 8);
}

}  // namespace tenon::emulator::ptx
