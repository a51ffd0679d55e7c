// The fragment layouts as the PTX ISA prints them (9.0, sections 9.7.14.5.1 to 9.7.14.5.13), transcribed
// formula by formula and case by case: deliberately not the one rule of layout.hpp, which is tested against
// them.
#pragma once

#include <vector>

#include "tenon/fragment/layout.hpp"

namespace tenon::test {

struct IsaTable {
  const char* shape;
  std::vector<const char*> types;
  const char* operand;
  Coord (*at)(int laneid, int i);
};

inline int group(int laneid) {
  return laneid >> 2;
}  // groupID
inline int in_group(int laneid) {
  return laneid % 4;
}  // threadID_in_group
inline int low_half(int laneid) {
  return laneid < 16 ? 0 : 4;
}  // "+ 4 otherwise" of m8n8k4

// C and D of all shapes with 8 rows, and of all with 16 rows.
inline Coord c_of_m8(int l, int i) {
  return {group(l), in_group(l) * 2 + i};
}
inline Coord c_of_m16(int l, int i) {
  return {i < 2 ? group(l) : group(l) + 8, in_group(l) * 2 + (i & 0x1)};
}

inline const std::vector<IsaTable>& isa_tables() {
  static const std::vector<IsaTable> tables = {
      // 9.7.14.5.1 m8n8k4, .f16
      {"m8n8k4",
       {"f16"},
       "a_row",
       [](int l, int i) {
         return Coord{l % 4 + low_half(l), i};
       }},
      {"m8n8k4",
       {"f16"},
       "a_col",
       [](int l, int i) {
         return Coord{i % 4 + low_half(l), l % 4};
       }},
      {"m8n8k4",
       {"f16"},
       "b_row",
       [](int l, int i) {
         return Coord{l % 4, i + low_half(l)};
       }},
      {"m8n8k4",
       {"f16"},
       "b_col",
       [](int l, int i) {
         return Coord{i, l % 4 + low_half(l)};
       }},
      {"m8n8k4",
       {"f16"},
       "c",
       [](int l, int i) {
         return Coord{l % 4 + low_half(l), i};
       }},
      {"m8n8k4",
       {"f32"},
       "c",
       [](int l, int i) {
         const int x = (l & 0b1) + (i & 0b10);
         return Coord{l < 16 ? x : x + 4, (i & 0b100) + (l & 0b10) + (i & 0b1)};
       }},
      // 9.7.14.5.2 m8n8k4, .f64
      {"m8n8k4",
       {"f64"},
       "a",
       [](int l, int) {
         return Coord{group(l), in_group(l)};
       }},
      {"m8n8k4",
       {"f64"},
       "b",
       [](int l, int) {
         return Coord{in_group(l), group(l)};
       }},
      {"m8n8k4", {"f64"}, "c", c_of_m8},
      // 9.7.14.5.3 m8n8k16
      {"m8n8k16",
       {"s8", "u8"},
       "a",
       [](int l, int i) {
         return Coord{group(l), in_group(l) * 4 + i};
       }},
      {"m8n8k16",
       {"s8", "u8"},
       "b",
       [](int l, int i) {
         return Coord{in_group(l) * 4 + i, group(l)};
       }},
      {"m8n8k16", {"s32"}, "c", c_of_m8},
      // 9.7.14.5.4 m8n8k32
      {"m8n8k32",
       {"s4", "u4"},
       "a",
       [](int l, int i) {
         return Coord{group(l), in_group(l) * 8 + i};
       }},
      {"m8n8k32",
       {"s4", "u4"},
       "b",
       [](int l, int i) {
         return Coord{in_group(l) * 8 + i, group(l)};
       }},
      {"m8n8k32", {"s32"}, "c", c_of_m8},
      // 9.7.14.5.5 m8n8k128
      {"m8n8k128",
       {"b1"},
       "a",
       [](int l, int i) {
         return Coord{group(l), in_group(l) * 32 + i};
       }},
      {"m8n8k128",
       {"b1"},
       "b",
       [](int l, int i) {
         return Coord{in_group(l) * 32 + i, group(l)};
       }},
      {"m8n8k128", {"s32"}, "c", c_of_m8},
      // 9.7.14.5.6 m16n8k4
      {"m16n8k4",
       {"tf32", "f64"},
       "a",
       [](int l, int i) {
         return Coord{i == 0 ? group(l) : group(l) + 8, in_group(l)};
       }},
      {"m16n8k4",
       {"tf32", "f64"},
       "b",
       [](int l, int) {
         return Coord{in_group(l), group(l)};
       }},
      {"m16n8k4", {"f32", "f64"}, "c", c_of_m16},
      // 9.7.14.5.7 m16n8k8
      {"m16n8k8",
       {"f16", "bf16"},
       "a",
       [](int l, int i) {
         return Coord{i == 0 || i == 1 ? group(l) : group(l) + 8, in_group(l) * 2 + (i & 0x1)};
       }},
      {"m16n8k8",
       {"tf32", "f64"},
       "a",
       [](int l, int i) {
         return Coord{i == 0 || i == 2 ? group(l) : group(l) + 8,
                      i == 0 || i == 1 ? in_group(l) : in_group(l) + 4};
       }},
      {"m16n8k8",
       {"f16", "bf16"},
       "b",
       [](int l, int i) {
         return Coord{in_group(l) * 2 + i, group(l)};
       }},
      {"m16n8k8",
       {"tf32", "f64"},
       "b",
       [](int l, int i) {
         return Coord{i == 0 ? in_group(l) : in_group(l) + 4, group(l)};
       }},
      {"m16n8k8", {"f16", "f32", "f64"}, "c", c_of_m16},
      // 9.7.14.5.8 m16n8k16, floating point
      {"m16n8k16",
       {"f16", "bf16"},
       "a",
       [](int l, int i) {
         return Coord{(0 <= i && i < 2) || (4 <= i && i < 6) ? group(l) : group(l) + 8,
                      i < 4 ? in_group(l) * 2 + (i & 0x1) : in_group(l) * 2 + (i & 0x1) + 8};
       }},
      {"m16n8k16",
       {"f64"},
       "a",
       [](int l, int i) {
         return i % 2 == 0 ? Coord{group(l), i * 2 + in_group(l)}
                           : Coord{group(l) + 8, i * 2 - 2 + in_group(l)};
       }},
      {"m16n8k16",
       {"f16", "bf16"},
       "b",
       [](int l, int i) {
         return Coord{i < 2 ? in_group(l) * 2 + (i & 0x1) : in_group(l) * 2 + (i & 0x1) + 8, group(l)};
       }},
      {"m16n8k16",
       {"f64"},
       "b",
       [](int l, int i) {
         return Coord{in_group(l) + i * 4, group(l)};
       }},
      {"m16n8k16", {"f16", "f32", "f64", "s32"}, "c", c_of_m16},
      // 9.7.14.5.9 m16n8k16, 8 bits
      {"m16n8k16",
       {"s8", "u8", "e4m3", "e5m2"},
       "a",
       [](int l, int i) {
         return Coord{i < 4 ? group(l) : group(l) + 8, in_group(l) * 4 + (i & 0x3)};
       }},
      {"m16n8k16",
       {"s8", "u8", "e4m3", "e5m2"},
       "b",
       [](int l, int i) {
         return Coord{in_group(l) * 4 + i, group(l)};
       }},
      // 9.7.14.5.10 m16n8k32
      {"m16n8k32",
       {"s4", "u4"},
       "a",
       [](int l, int i) {
         return Coord{i < 8 ? group(l) : group(l) + 8, in_group(l) * 8 + (i & 0x7)};
       }},
      {"m16n8k32",
       {"s8", "u8", "e4m3", "e5m2"},
       "a",
       [](int l, int i) {
         return Coord{(0 <= i && i < 4) || (8 <= i && i < 12) ? group(l) : group(l) + 8,
                      i < 8 ? in_group(l) * 4 + (i & 0x3) : in_group(l) * 4 + (i & 0x3) + 16};
       }},
      {"m16n8k32",
       {"s4", "u4"},
       "b",
       [](int l, int i) {
         return Coord{in_group(l) * 8 + (i & 0x7), group(l)};
       }},
      {"m16n8k32",
       {"s8", "u8", "e4m3", "e5m2"},
       "b",
       [](int l, int i) {
         return Coord{i < 4 ? in_group(l) * 4 + (i & 0x3) : in_group(l) * 4 + (i & 0x3) + 16, group(l)};
       }},
      {"m16n8k32", {"f16", "f32", "s32"}, "c", c_of_m16},
      // 9.7.14.5.11 m16n8k64
      {"m16n8k64",
       {"s4", "u4"},
       "a",
       [](int l, int i) {
         return Coord{(0 <= i && i < 8) || (16 <= i && i < 24) ? group(l) : group(l) + 8,
                      i < 16 ? in_group(l) * 8 + (i & 0x7) : in_group(l) * 8 + (i & 0x7) + 32};
       }},
      {"m16n8k64",
       {"s4", "u4"},
       "b",
       [](int l, int i) {
         return Coord{i < 8 ? in_group(l) * 8 + (i & 0x7) : in_group(l) * 8 + (i & 0x7) + 32, group(l)};
       }},
      {"m16n8k64", {"s32"}, "c", c_of_m16},
      // 9.7.14.5.12 m16n8k128
      {"m16n8k128",
       {"b1"},
       "a",
       [](int l, int i) {
         return Coord{i < 32 ? group(l) : group(l) + 8, in_group(l) * 32 + (i & 0x1F)};
       }},
      {"m16n8k128",
       {"b1"},
       "b",
       [](int l, int i) {
         return Coord{in_group(l) * 32 + i, group(l)};
       }},
      {"m16n8k128", {"s32"}, "c", c_of_m16},
      // 9.7.14.5.13 m16n8k256; the printed column of A lacks its "& 0x1F", which B has
      {"m16n8k256",
       {"b1"},
       "a",
       [](int l, int i) {
         return Coord{(0 <= i && i < 32) || (64 <= i && i < 96) ? group(l) : group(l) + 8,
                      i < 64 ? in_group(l) * 32 + (i & 0x1F) : in_group(l) * 32 + (i & 0x1F) + 128};
       }},
      {"m16n8k256",
       {"b1"},
       "b",
       [](int l, int i) {
         return Coord{i < 32 ? in_group(l) * 32 + (i & 0x1F) : in_group(l) * 32 + (i & 0x1F) + 128, group(l)};
       }},
      {"m16n8k256", {"s32"}, "c", c_of_m16},
  };
  return tables;
}

}  // namespace tenon::test
