// SHA-256 (FIPS 180-4), for the keys and checksums of the cubin cache. Host code.
#pragma once

#include "tenon/needs_host.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace tenon::jit {

using Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  // The bytes as they are.
  Sha256& add(std::string_view bytes) noexcept {
    length_ += bytes.size();
    while (!bytes.empty()) {
      const std::size_t room = sizeof block_ - filled_, taken = bytes.size() < room ? bytes.size() : room;
      std::memcpy(block_ + filled_, bytes.data(), taken);
      bytes.remove_prefix(taken);
      filled_ += taken;
      if (filled_ == sizeof block_) compress();
    }
    return *this;
  }
  // The bytes after their number, so that no two lists of fields have the same digest.
  Sha256& add_field(std::string_view bytes) noexcept { return add_number(bytes.size()).add(bytes); }
  Sha256& add_number(std::uint64_t number) noexcept {
    char bytes[8];
    for (char& byte : bytes) {
      byte = static_cast<char>(number & 0xff);
      number >>= 8;
    }
    return add({bytes, sizeof bytes});
  }

  // Of all that was added. Nothing can be added afterwards.
  Digest digest() noexcept {
    const std::uint64_t bits = 8 * length_;
    add({"\x80", 1});
    const char zero = 0;
    while (filled_ != sizeof block_ - 8) add({&zero, 1});
    char big_endian[8];
    for (int i = 0; i < 8; ++i) big_endian[i] = static_cast<char>(bits >> (56 - 8 * i) & 0xff);
    add({big_endian, sizeof big_endian});
    Digest digest;
    for (std::size_t i = 0; i < digest.size(); ++i)
      digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
    return digest;
  }

 private:
  // The fractional parts of the square roots (state_) and cube roots (rounds) of the first primes.
  std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  static constexpr std::uint32_t rounds[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
      0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
      0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
      0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
      0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
      0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
      0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

  static constexpr std::uint32_t rotate(std::uint32_t x, int right) noexcept {
    return x >> right | x << (32 - right);
  }
  // A round of the standard, in which the variables change roles instead of places: what it calls the new e
  // and the new a are d and h here.
  static void turn(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t& d, std::uint32_t e,
                   std::uint32_t f, std::uint32_t g, std::uint32_t& h, std::uint32_t addend) noexcept {
    const std::uint32_t first =
        h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + addend;
    d += first;
    h = first + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
  }
  void compress() noexcept {
    std::uint32_t w[64];
    for (int i = 0; i < 16; ++i) {
      w[i] = static_cast<std::uint32_t>(block_[4 * i]) << 24 |
             static_cast<std::uint32_t>(block_[4 * i + 1]) << 16 |
             static_cast<std::uint32_t>(block_[4 * i + 2]) << 8 | block_[4 * i + 3];
    }
    for (int i = 16; i < 64; ++i) {
      const std::uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
             (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    std::uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4], f = state_[5],
                  g = state_[6], h = state_[7];
    for (int i = 0; i < 64; i += 8) {
      const std::uint32_t* const r = rounds + i;
      const std::uint32_t* const v = w + i;
      turn(a, b, c, d, e, f, g, h, r[0] + v[0]);
      turn(h, a, b, c, d, e, f, g, r[1] + v[1]);
      turn(g, h, a, b, c, d, e, f, r[2] + v[2]);
      turn(f, g, h, a, b, c, d, e, r[3] + v[3]);
      turn(e, f, g, h, a, b, c, d, r[4] + v[4]);
      turn(d, e, f, g, h, a, b, c, r[5] + v[5]);
      turn(c, d, e, f, g, h, a, b, r[6] + v[6]);
      turn(b, c, d, e, f, g, h, a, r[7] + v[7]);
    }
    const std::uint32_t sums[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state_[i] += sums[i];
    filled_ = 0;
  }

  std::uint8_t block_[64];
  std::size_t filled_ = 0;
  std::uint64_t length_ = 0;
};

inline std::string hexadecimal(const Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace tenon::jit
